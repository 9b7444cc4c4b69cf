#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parser/lexical_rules.hpp"
#include "parser/token.hpp"

namespace eindb {

/// Cuts a statement into tokens, one at a time and left to right, by the rules of a language; space and comments lie
/// between them. It is the only tokenizer of statements: the parsers (through TokenStream), the splitter of scripts,
/// the inference of SQL's types, and the server's readers of PostgreSQL's dialect differ in their LexicalRules.
///
/// The text may be of any bytes, but for rules with unicode_names, which take UTF-8. It takes time linear in the text
/// and never throws but for a statement that is cancelled: a token that cannot be read is Unterminated or Malformed.
/// `text` must outlive the tokenizer and its tokens. A copy is a cheap way to look ahead.
class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text, std::size_t offset = 0, const LexicalRules& rules = kCoarseRules)
      : text_(text), rules_(&rules), offset_(offset), searched_from_(text.size() + 1) {}
  Tokenizer(std::string_view text, const LexicalRules& rules) : Tokenizer(text, 0, rules) {}

  /// At the end of the text End, again and again.
  Token next();
  /// Goes on from `offset`.
  void skip_to(std::size_t offset) { offset_ = offset; }

 private:
  using Kind = Token::Kind;

  Token token_at(std::size_t begin);
  void skip_space_and_line_comments();
  Token take(Kind kind, std::size_t end);
  /// `open` is where the opening quote is, behind the prefix of a string.
  Token take_quoted(Kind kind, std::size_t open);
  Token take_escaped();
  Token take_string_with_prefix();
  Token take_dollar();
  Token take_number();
  Token take_operator();
  /// Behind the comment at the next token, and how deep comments nest in it: the text's end and 0 if it is not closed.
  struct Comment {
    std::size_t end;
    std::size_t depth;
  };
  Comment comment() const;
  std::size_t bracketed_name_end();
  /// Where the word that begins at `begin` ends; `begin` if no word does.
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
  // The first ']' or end of a line from searched_from_ on. Brackets that do not close share it, so that the text is
  // searched once.
  std::size_t searched_from_;
  std::size_t line_or_bracket_end_ = 0;
};

/// All tokens of a text; the last one is End, or Unterminated, where the text cannot be cut further.
std::vector<Token> tokens_of(std::string_view text, const LexicalRules& rules);

/// How many bytes from `begin` on are a number of Numbers::Exact: digits with a point, and an exponent with digits.
std::size_t exact_number_length(std::string_view text, std::size_t begin);

}  // namespace eindb
