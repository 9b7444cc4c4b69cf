#pragma once

#include <cstddef>
#include <cstdint>

#include "parser/token.hpp"

namespace eindb {

/// Follows the tokens of statements, by kCoarseRules, to find their ends. A statement ends at a semicolon, with two
/// exceptions: CREATE TRIGGER ends at the semicolon of `; END ;` (the automaton is sqlite3_complete's), and REPEAT ...
/// { } at its closing brace. Other braces have no meaning, except that matched pairs inside a loop do not close it.
class StatementEnd {
 public:
  /// Takes the next token; true if it ends the statement, so that a new one starts.
  bool ends_with(const Token& token);
  /// Whether no token has been taken since the start or the end of the last statement.
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
  bool closes_loop(const Token& token);
  State after(const Token& token) const;
  static State after_first(const Token& token);

  State state_ = State::Start;
  std::size_t loops_ = 0;         // loops whose brace is open
  std::size_t other_braces_ = 0;  // open braces of the statement inside these loops
};

}  // namespace eindb
