#pragma once

#include <cstdint>
#include <optional>

#include "engine/session_state.hpp"
#include "parser/loop_variable.hpp"

namespace eindb {

/// While a loop runs: only the outermost one says how far it is, and statements in it are not told to the user.
class LoopScope {
 public:
  explicit LoopScope(SessionState& session) : session_(session) { ++session_.loop_depth; }
  ~LoopScope() { --session_.loop_depth; }
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;

 private:
  SessionState& session_;
};

/// While a round of a loop runs: its number is the value of the loop's variable, if that has one, in SQL as :name and
/// in queries as one more parameter.
class LoopRound {
 public:
  LoopRound(SessionState& session, const std::optional<ast::Identifier>& name, std::int64_t number)
      : session_(session) {
    if (!name) return;
    session_.parameters.emplace_back(number);
    session_.loop_variables.push_back({name->text, number});
    variable_ = LoopVariable{.name = *name, .value = number, .parameter = session_.parameters.size()};
  }
  ~LoopRound() {
    if (!variable_) return;
    session_.parameters.pop_back();
    session_.loop_variables.pop_back();
  }
  LoopRound(const LoopRound&) = delete;
  LoopRound& operator=(const LoopRound&) = delete;

  const std::optional<LoopVariable>& variable() const { return variable_; }

 private:
  SessionState& session_;
  std::optional<LoopVariable> variable_;
};

}  // namespace eindb
