#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.hpp"
#include "parser/token.hpp"
#include "parser/token_value.hpp"

namespace eindb {

/// Thrown for SQL that the inference does not understand; caught by infer_types.
struct UnknownSql {};

/// The text of a word, or of a quoted name or string without its quotes.
inline std::string name_of(const Token& token) {
  return token.is(Token::Kind::Word) ? std::string(token.text) : unquote(token);
}

/// A position in the tokens of a statement. take() fails after a bounded number of calls, since queries that name
/// themselves are read repeatedly.
class SqlReader {
 public:
  explicit SqlReader(const std::vector<Token>& tokens) : tokens_(tokens), looks_left_(kLooks * tokens.size() + kLooks) {
    CHECK(!tokens.empty() && tokens.back().is(Token::Kind::End), "tokens have an end");
  }

  std::size_t at() const { return at_; }
  void go_to(std::size_t place) {
    DCHECK(place < tokens_.size(), "a reader goes to a token");
    at_ = place;
  }

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() {
    if (looks_left_-- == 0) throw UnknownSql();
    const auto& token = peek();
    at_ = std::min(at_ + 1, tokens_.size() - 1);
    return token;
  }

  bool at_word(std::string_view word, std::size_t ahead = 0) const { return peek(ahead).is_word(word); }
  bool at_any(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return at_word(word); });
  }
  bool at_symbol(std::string_view symbol, std::size_t ahead = 0) const { return peek(ahead).is_symbol(symbol); }

  bool accept_word(std::string_view word) { return at_word(word) && (take(), true); }
  bool accept_symbol(std::string_view symbol) { return at_symbol(symbol) && (take(), true); }
  void expect_word(std::string_view word) {
    if (!accept_word(word)) throw UnknownSql();
  }
  void expect_symbol(std::string_view symbol) {
    if (!accept_symbol(symbol)) throw UnknownSql();
  }
  /// A name, quoted or not. SQLite also accepts strings as names.
  std::string expect_name() {
    if (!peek().is_name() && !peek().is(Token::Kind::String)) throw UnknownSql();
    return name_of(take());
  }
  bool at_end() const { return peek().is(Token::Kind::End) || at_symbol(";"); }

  /// Moves from after a "(" to after the matching ")".
  void skip_parentheses() {
    for (int depth = 1; depth > 0;) {
      if (at_end()) throw UnknownSql();
      const auto& token = take();
      if (token.is_symbol("(")) ++depth;
      if (token.is_symbol(")")) --depth;
    }
  }

 private:
  static constexpr std::size_t kLooks = 64;

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
  std::size_t looks_left_;
};

}  // namespace eindb
