#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/letter_case.hpp"

namespace eindb {

/// A piece of a statement as PostgreSQL cuts it.
struct DialectToken {
  enum class Kind : std::uint8_t {
    End,
    Unterminated,   ///< a quote or comment that is not closed: nothing follows
    Word,           ///< an unquoted name or a keyword
    QuotedName,     ///< "name"
    String,         ///< 'text', also B'..' and X'..'
    EscapeString,   ///< E'text\n'
    UnicodeString,  ///< U&'d\0061t'
    DollarString,   ///< $tag$text$tag$
    Number,
    Parameter,      ///< $1
    Operator,       ///< the longest run of operator characters: <=, !~*, ::
    Symbol,         ///< ( ) [ ] , ; . and any other byte
    NestedComment,  ///< a comment with another inside, which SQLite would end at the first */; others are no tokens
  };

  Kind kind = Kind::End;
  std::string_view text;  ///< quotes included; lives as long as the statement
  std::size_t begin = 0;

  std::size_t end() const { return begin + text.size(); }
  bool is(Kind wanted) const { return kind == wanted; }
  bool is_word(std::string_view word) const { return kind == Kind::Word && equal_ignoring_case(text, word); }
  bool is_symbol(char symbol) const { return kind == Kind::Symbol && text.front() == symbol; }
  bool is_operator(std::string_view symbols) const { return kind == Kind::Operator && text == symbols; }
  bool is_name() const { return kind == Kind::Word || kind == Kind::QuotedName; }
  /// The name, as a word in any case or in quotes.
  bool is_name_of(std::string_view name) const {
    return is_word(name) || (kind == Kind::QuotedName && text.substr(1, text.size() - 2) == name);
  }
  /// A literal that is a string in any of its forms.
  bool is_string() const { return kind >= Kind::String && kind <= Kind::DollarString; }
};

/// Cuts a statement into tokens, left to right, in linear time. Never throws; the text may be of any bytes, and must
/// outlive the lexer and its tokens.
class DialectLexer {
 public:
  explicit DialectLexer(std::string_view text) : text_(text) {}
  DialectToken next();

 private:
  using Kind = DialectToken::Kind;

  DialectToken token_at(std::size_t begin);
  DialectToken take(Kind kind, std::size_t begin, std::size_t end);
  DialectToken take_quoted(Kind kind, std::size_t begin, std::size_t open);
  DialectToken take_escaped(std::size_t begin);
  DialectToken take_dollar(std::size_t begin);
  DialectToken take_number(std::size_t begin);
  DialectToken take_operator(std::size_t begin);
  DialectToken take_word(std::size_t begin);
  /// Behind the comment; its depth goes to `deepest`. The text's end and 0 if it is not closed.
  std::size_t comment_end(std::size_t begin, std::size_t& deepest) const;
  char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  std::string_view text_;
  std::size_t offset_ = 0;
};

/// What a string literal of any form stands for. E'..' and U&'..' with escapes that are none keep them as they are.
std::string string_value(const DialectToken& token);
/// 'text' with quotes doubled.
std::string quote_string(std::string_view text);

}  // namespace eindb
