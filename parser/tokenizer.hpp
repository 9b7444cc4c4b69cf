#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parser/lexical_rules.hpp"
#include "parser/token.hpp"

namespace eindb {

/// Cuts a statement into tokens from left to right, by the rules of a language; spaces and comments separate them. It
/// is the only tokenizer of statements: the parsers (through TokenStream), the splitter of scripts, the inference of
/// SQL's types, and the server's readers of PostgreSQL's dialect use it with different LexicalRules.
///
/// The text may have any bytes, except that rules with unicode_names require UTF-8. Takes time linear in the text.
/// Throws only if the statement is cancelled; an unreadable token is Unterminated or Malformed. `text` must outlive the
/// tokenizer and its tokens. Copying it is a cheap way to look ahead.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text, std::size_t offset = 0, const LexicalRules& rules = kCoarseRules)
      : text_(text), rules_(&rules), offset_(offset), searched_from_(text.size() + 1) {}
  Tokenizer(std::string_view text, const LexicalRules& rules) : Tokenizer(text, 0, rules) {}

  /// At the end of the text returns End, repeatedly.
  Token next();
  /// Continues at `offset`.
  void skip_to(std::size_t offset) { offset_ = offset; }

 private:
  using Kind = Token::Kind;

  Token token_at(std::size_t begin);
  void skip_space_and_line_comments();
  Token take(Kind kind, std::size_t end);
  /// `open` is the offset of the opening quote, after a prefix.
  Token take_quoted(Kind kind, std::size_t open);
  Token take_escaped();
  Token take_string_with_prefix();
  Token take_dollar();
  Token take_number();
  Token take_operator();
  /// The end of the comment at the next token, and its nesting depth; the end of the text and 0 if it is not closed.
  struct Comment {
    std::size_t end;
    std::size_t depth;
  };
  Comment comment() const;
  std::size_t bracketed_name_end();
  /// The end of the word that begins at `begin`; `begin` if there is none.
  std::size_t word_end(std::size_t begin) const;
  std::size_t continued_word_end(std::size_t begin) const;
  bool starts_number(std::size_t begin) const;
  bool has_prefix(char upper) const { return rules_->prefixes.find(upper) != std::string_view::npos; }
  char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }
  std::string_view two_at(std::size_t offset) const {
    return offset < text_.size() ? text_.substr(offset, 2) : std::string_view();
  }

  std::string_view text_;
  const LexicalRules* rules_;
  std::size_t offset_;
  // The first ']' or line end from searched_from_ on. Unclosed brackets share it, so that the text is searched once.
  std::size_t searched_from_;
  std::size_t line_or_bracket_end_ = 0;
};

/// All tokens of a text. The last one is End, or Unterminated if the rest cannot be read.
std::vector<Token> tokens_of(std::string_view text, const LexicalRules& rules);

/// The number of bytes from `begin` on that form a number of Numbers::Exact: digits with a point, and an exponent with
/// digits.
std::size_t exact_number_length(std::string_view text, std::size_t begin);

}  // namespace eindb
