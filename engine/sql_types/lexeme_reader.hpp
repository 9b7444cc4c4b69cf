#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sql_types/sql_lexeme.hpp"

namespace eindb {

/// What the inference makes nothing of. Caught where it begins.
struct UnknownSql {};

/// A place in the lexemes of a statement. Each look costs a little of what the whole inference may take, as parts are
/// read again for queries that name themselves.
class LexemeReader {
 public:
  explicit LexemeReader(const std::vector<SqlLexeme>& lexemes)
      : lexemes_(lexemes), looks_left_(kLooks * lexemes.size() + kLooks) {}

  std::size_t at() const { return at_; }
  void go_to(std::size_t place) { at_ = place; }

  const SqlLexeme& peek(std::size_t ahead = 0) const { return lexemes_[std::min(at_ + ahead, lexemes_.size() - 1)]; }
  const SqlLexeme& take() {
    if (looks_left_-- == 0) throw UnknownSql();
    const auto& lexeme = peek();
    at_ = std::min(at_ + 1, lexemes_.size() - 1);
    return lexeme;
  }

  bool at_word(std::string_view word, std::size_t ahead = 0) const { return peek(ahead).is_word(word); }
  bool at_any(std::initializer_list<std::string_view> words) const {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return at_word(word); });
  }
  bool at_operator(std::string_view op, std::size_t ahead = 0) const { return peek(ahead).is_operator(op); }

  bool accept_word(std::string_view word) { return at_word(word) && (take(), true); }
  bool accept_operator(std::string_view op) { return at_operator(op) && (take(), true); }
  void expect_word(std::string_view word) {
    if (!accept_word(word)) throw UnknownSql();
  }
  void expect_operator(std::string_view op) {
    if (!accept_operator(op)) throw UnknownSql();
  }
  /// A name, quoted or not; SQLite takes strings for names, too.
  std::string expect_name() {
    if (!peek().is(SqlLexeme::Kind::Word) && !peek().is(SqlLexeme::Kind::Name) && !peek().is(SqlLexeme::Kind::String))
      throw UnknownSql();
    return take().text;
  }
  bool at_end() const { return peek().is(SqlLexeme::Kind::End) || at_operator(";"); }

  /// From behind a "(" to behind its ")".
  void skip_parentheses() {
    for (int depth = 1; depth > 0;) {
      if (at_end()) throw UnknownSql();
      const auto& lexeme = take();
      if (lexeme.is_operator("(")) ++depth;
      if (lexeme.is_operator(")")) --depth;
    }
  }

 private:
  static constexpr std::size_t kLooks = 64;

  const std::vector<SqlLexeme>& lexemes_;
  std::size_t at_ = 0;
  std::size_t looks_left_;
};

}  // namespace eindb
