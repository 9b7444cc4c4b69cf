#include "parser/statement_end.hpp"

namespace eindb {

bool StatementEnd::ends_with(const Token& token) {
  const bool inside_trigger = state_ == State::Trigger || state_ == State::TriggerSemicolon;
  if ((token.is_symbol(';') && !inside_trigger) || closes_loop(token)) {
    state_ = State::Start;
    other_braces_ = 0;
    return loops_ == 0;
  }
  state_ = after(token);
  return false;
}

// Tracks the braces; true if the token closes the outermost loop.
bool StatementEnd::closes_loop(const Token& token) {
  if (token.is_symbol('{') && state_ == State::LoopHead) ++loops_;
  else if (token.is_symbol('{') && loops_ > 0) ++other_braces_;
  if (!token.is_symbol('}') || loops_ == 0) return false;
  const bool closes = other_braces_ == 0;
  --(closes ? loops_ : other_braces_);
  return closes;
}

StatementEnd::State StatementEnd::after_first(const Token& token) {
  if (token.is_word("EXPLAIN")) return State::Explain;
  if (token.is_word("PREPARE")) return State::Prepare;
  if (token.is_word("REPEAT")) return State::LoopHead;
  return token.is_word("CREATE") ? State::Create : State::Plain;
}

StatementEnd::State StatementEnd::after(const Token& token) const {
  switch (state_) {
    case State::Start:
    case State::Prepared: return after_first(token);
    case State::Explain:  // EXPLAIN [QUERY PLAN] CREATE ...
      if (token.is_word("QUERY") || token.is_word("PLAN")) return State::Explain;
      return token.is_word("CREATE") ? State::Create : State::Plain;
    case State::Prepare: return token.is_word("AS") ? State::Prepared : State::Prepare;
    case State::LoopHead: return token.is_symbol('{') ? State::Start : State::LoopHead;
    case State::Create:
      if (token.is_word("TEMP") || token.is_word("TEMPORARY")) return State::Create;
      return token.is_word("TRIGGER") ? State::Trigger : State::Plain;
    case State::Plain: return State::Plain;
    case State::Trigger:
    case State::TriggerSemicolon:
    case State::TriggerEnd:
      if (token.is_symbol(';')) return State::TriggerSemicolon;
      return state_ == State::TriggerSemicolon && token.is_word("END") ? State::TriggerEnd : State::Trigger;
  }
  return state_;
}

}  // namespace eindb
