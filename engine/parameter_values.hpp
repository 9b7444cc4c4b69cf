#pragma once

#include <utility>
#include <vector>

#include "engine/session_state.hpp"

namespace eindb {

/// Sets the values of $1, $2, ... while a statement runs.
class ParameterValues {
 public:
  ParameterValues(SessionState& session, std::vector<ParameterValue> values)
      : session_(session), saved_(std::exchange(session.parameters, std::move(values))) {}
  ~ParameterValues() { session_.parameters = std::move(saved_); }
  ParameterValues(const ParameterValues&) = delete;
  ParameterValues& operator=(const ParameterValues&) = delete;

 private:
  SessionState& session_;
  std::vector<ParameterValue> saved_;
};

}  // namespace eindb
