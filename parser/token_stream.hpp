#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "parser/ast.hpp"
#include "parser/enclosing_loops.hpp"
#include "parser/token_value.hpp"
#include "parser/tokenizer.hpp"

namespace eindb {

/// The tokens of a statement for parsers: peek at the next one, accept it, or require it. Offsets and spans refer to
/// the statement's text, wherever reading started. All failures are Error{Syntax} at the next token, worded "expected
/// WHAT, found TOKEN", or just "expected WHAT" after conceal().
///
/// Tokens are read lazily, and copying the stream is a cheap way to look ahead. `text`, and `loops`, the enclosing
/// loops, must outlive it.
class TokenStream {
 public:
  explicit TokenStream(std::string_view text, std::size_t offset = 0, const EnclosingLoops* loops = nullptr)
      : text_(text), tokenizer_(text, offset, kEindbRules), last_end_(offset), loops_(loops) {}

  std::string_view text() const { return text_; }
  /// Null outside of loops.
  const EnclosingLoops* loops() const { return loops_; }
  const Token& peek();
  Token take();
  /// Continues at `offset`; the caller has read the text before it.
  void skip_to(std::size_t offset);

  /// The begin of the next token, and the end of the last one taken.
  std::size_t begin() { return peek().span.begin; }
  std::size_t last_end() const { return last_end_; }
  /// The span from `begin` to the end of the last token taken.
  SourceSpan span_from(std::size_t begin) const { return {begin, last_end_}; }

  bool at(Token::Kind kind) { return peek().kind == kind; }
  bool at_symbol(std::string_view symbol) { return peek().is_symbol(symbol); }
  /// Whether the next token is this unquoted word, in any case.
  bool at_word(std::string_view word);
  bool at_name() { return peek().is_name(); }

  bool accept_symbol(std::string_view symbol);
  bool accept_word(std::string_view word);
  /// Takes the symbol, or fails with "expected ']' WHERE WHOSE, found ...".
  void expect_symbol(std::string_view symbol, std::string_view where, std::string_view whose = {});
  /// Takes the word, or fails likewise; the hint suggests it if the token is a misspelling.
  void expect_word(std::string_view word, std::string_view where);
  /// Takes one of the words and returns its index, or fails with "expected WHAT, found ...".
  std::size_t expect_one_of(std::initializer_list<std::string_view> words, std::string_view what);
  /// Takes a name, quoted or not.
  ast::Identifier expect_name(std::string_view what);
  /// Takes the name of a tensor, which may begin with its schema: temp.X, or other.X in the database that is attached
  /// as other. Its text is then that of both with a point between; PostgreSQL's names of schemas, public and pg_temp,
  /// become SQLite's.
  ast::Identifier expect_tensor(std::string_view what);
  /// Takes the rest of such a name, if a point and another name follow. A call, as np.exp(x), is none.
  ast::Identifier qualified(ast::Identifier name);
  /// Takes the name of a label; the variable of a loop is not allowed.
  ast::Identifier expect_label(std::string_view what);
  /// Whether the next token is the variable of an enclosing loop.
  bool at_loop_variable();
  std::string expect_string(std::string_view what, std::string_view hint);

  /// From now on messages do not show tokens, which may be a password.
  void conceal() { concealed_ = true; }
  /// From now on braces are allowed symbols.
  void allow_braces() { extra_symbols_ = "{}"; }
  /// Allows these characters instead of the ones before, which it returns, from the next token that nobody has looked
  /// at.
  std::string_view allow_symbols(std::string_view symbols) { return std::exchange(extra_symbols_, symbols); }

  [[noreturn]] void fail_expected(std::string_view what, std::string hint = {});

 private:
  Token next_token();

  std::string_view text_;
  Tokenizer tokenizer_;
  std::optional<Token> next_;
  std::size_t last_end_;
  const EnclosingLoops* loops_;
  bool concealed_ = false;
  std::string_view extra_symbols_;  // beside those of every statement
};

/// The schema of SQLite, main or temp, that has this name there or in PostgreSQL; empty if there is none.
std::string_view schema_of(std::string_view name);

/// "did you mean TENSOR?" if `found` is a misspelling of one of `words`; else empty.
std::string nearest_word_hint(std::string_view found, std::initializer_list<std::string_view> words);

/// A token for messages: 'X', the string 'abc', the end of the statement.
std::string describe(const Token& token);

}  // namespace eindb
