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

/// What the inference makes nothing of. Caught where it begins.
struct UnknownSql {};

/// A word as it is, a name in quotes or a string without them.
inline std::string name_of(const Token& token) {
  return token.is(Token::Kind::Word) ? std::string(token.text) : unquote(token);
}

/// A place in the tokens of a statement. Each look costs a little of what the whole inference may take, as parts are
/// read again for queries that name themselves.
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
  /// A name, quoted or not; SQLite takes strings for names, too.
  std::string expect_name() {
    if (!peek().is_name() && !peek().is(Token::Kind::String)) throw UnknownSql();
    return name_of(take());
  }
  bool at_end() const { return peek().is(Token::Kind::End) || at_symbol(";"); }

  /// From behind a "(" to behind its ")".
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
