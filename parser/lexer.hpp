#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "parser/token.hpp"

namespace eindb {

/// Cuts a statement into tokens, one at a time and left to right; space and comments lie between them. It looks no
/// further than it is asked, so what follows (SQL, in `CREATE TENSOR X (...) AS SELECT ...`) need not be ours.
/// A copy is a cheap way to look ahead. `text` must be valid UTF-8 and outlive the lexer.
class Lexer {
 public:
  explicit Lexer(std::string_view text, std::size_t offset = 0) : text_(text), offset_(offset) {}

  /// From here on braces are symbols: in the head of a loop. Elsewhere no token has them.
  void allow_braces() { braces_ = true; }

  /// The next token. A semicolon, like the end of the text, gives End, again and again. Throws Error{Syntax} for a
  /// character that no token has, an unterminated string, name or comment, and a malformed number.
  Token next();

 private:
  void skip_space_and_comments();
  Token take(Token::Kind kind, std::size_t length);
  Token take_quoted(Token::Kind kind, char quote);
  Token take_number();
  Token take_parameter();
  std::size_t word_length(std::size_t offset) const;
  std::size_t digits_length(std::size_t offset) const;
  char at(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\0'; }

  std::string_view text_;
  std::size_t offset_;
  bool braces_ = false;
};

/// The value of a String or QuotedWord: without its quotes, doubled quotes made single.
std::string unquote(const Token& token);

/// The value of an Integer or Real token: an integer if it is written as one and fits 64 bits. Throws Error{Syntax} for
/// a number beyond FLOAT64; one too small for it is 0.
std::variant<std::int64_t, double> number_value(const Token& token);

}  // namespace eindb
