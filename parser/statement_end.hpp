#pragma once

#include <cstddef>
#include <cstdint>

#include "parser/token.hpp"

namespace eindb {

/// Follows statements through their tokens, by kCoarseRules, to find where one ends: at a semicolon, but for two kinds:
/// CREATE TRIGGER ends at the semicolon of `; END ;` (so far the automaton is sqlite3_complete's), and REPEAT ... { }
/// at the brace that closes it. Braces elsewhere mean nothing, but that pairs of them inside of a loop do not close it.
class StatementEnd {
 public:
  /// Takes the next token; true if it is the one that ends the statement, after which a new one starts.
  bool ends_with(const Token& token);
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
  bool closes_loop(const Token& token);
  State after(const Token& token) const;
  static State after_first(const Token& token);

  State state_ = State::Start;
  std::size_t loops_ = 0;         // whose brace is open
  std::size_t other_braces_ = 0;  // open ones in the statement inside of these loops
};

}  // namespace eindb
