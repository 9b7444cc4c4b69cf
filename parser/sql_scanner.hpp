#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/source_span.hpp"
#include "parser/token.hpp"

namespace eindb {

/// A piece of SQL, cut coarsely: just enough to see words and parentheses outside of strings and comments.
struct SqlToken {
  enum class Kind : std::uint8_t {
    End,           ///< of the text
    Word,          ///< a keyword, an unquoted name or a number
    Symbol,        ///< any other single byte
    Quoted,        ///< 'string', "name", `name`, or [name] that closes in its line
    Unterminated,  ///< a quote or /* that is not closed; the text ends with it
  };

  Kind kind = Kind::End;
  std::string_view text;
  SourceSpan span;

  bool is_word(std::string_view word) const { return kind == Kind::Word && equal_ignoring_case(text, word); }
  bool is_symbol(char symbol) const { return kind == Kind::Symbol && text.front() == symbol; }
};

/// Reads SQLite's dialect and ours alike, left to right, in time linear in the text, which may be of any bytes: it
/// never throws but for a statement that is cancelled. `text` must outlive it; a copy is a cheap way to look ahead.
class SqlScanner {
 public:
  explicit SqlScanner(std::string_view text, std::size_t offset = 0)
      : text_(text), offset_(offset), searched_from_(text.size() + 1) {}

  SqlToken next();
  /// Goes on from `offset`.
  void skip_to(std::size_t offset) { offset_ = offset; }

 private:
  void skip_space_and_line_comments();
  std::size_t line_or_bracket_end();
  SqlToken take(SqlToken::Kind kind, std::size_t end);
  SqlToken take_quoted(char close);

  std::string_view text_;
  std::size_t offset_;
  // The first ']' or end of a line from searched_from_ on.
  std::size_t searched_from_;
  std::size_t line_or_bracket_end_ = 0;
};

/// Follows statements through their tokens: where does one end? At a semicolon, but for two kinds: CREATE TRIGGER ends
/// at the semicolon of `; END ;` (so far the automaton is sqlite3_complete's), and REPEAT ... { } at the brace that
/// closes it. Braces elsewhere mean nothing, but that pairs of them inside of a loop do not close it.
class StatementEnd {
 public:
  /// Takes the next token; true if it is the one that ends the statement, after which a new one starts.
  bool ends_with(const SqlToken& token);
  /// No token of a statement has been seen since the start or the last end.
  bool at_start() const { return state_ == State::Start && loops_ == 0; }

 private:
  enum class State : std::uint8_t {
    Start,  ///< of a statement, which may be one in a loop
    Explain,
    Prepare,   ///< before AS
    Prepared,  ///< after it: a statement starts
    LoopHead,  ///< after REPEAT, before its brace
    Create,
    Plain,
    Trigger,
    TriggerSemicolon,
    TriggerEnd,
  };
  bool closes_loop(const SqlToken& token);
  State after(const SqlToken& token) const;
  static State after_first(const SqlToken& token);

  State state_ = State::Start;
  std::size_t loops_ = 0;         // whose brace is open
  std::size_t other_braces_ = 0;  // open ones in the statement inside of these loops
};

}  // namespace eindb
