#pragma once

#include <utility>
#include <vector>

#include "engine/session_state.hpp"

namespace eindb {

/// Sets the values of $1, $2, ... while a statement runs, which knows no variables of loops around it.
class ParameterValues {
 public:
  ParameterValues(SessionState& session, std::vector<ParameterValue> values)
      : session_(session),
        saved_(std::exchange(session.parameters, std::move(values))),
        loop_variables_(std::exchange(session.loop_variables, {})) {}
  ~ParameterValues() {
    session_.parameters = std::move(saved_);
    session_.loop_variables = std::move(loop_variables_);
  }
  ParameterValues(const ParameterValues&) = delete;
  ParameterValues& operator=(const ParameterValues&) = delete;

 private:
  SessionState& session_;
  std::vector<ParameterValue> saved_;
  std::vector<LoopVariableValue> loop_variables_;
};

}  // namespace eindb
