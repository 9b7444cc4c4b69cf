#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/sessions/client_limits.hpp"
#include "server/values/result_format.hpp"

namespace eindb {

/// The parameters that PostgreSQL's clients set and ask for, as client_encoding and DateStyle, those that say how the
/// server answers, and how long the client may be idle: of one client, by SET, SHOW and the messages of the start.
/// Names have no case. What eindb always does has one value, and is refused another. Not thread-safe.
class ClientParameters {
 public:
  /// A parameter and its value as it is shown.
  using Entry = std::pair<std::string, std::string>;

  /// `idle`: what idle_session_timeout and idle_in_transaction_session_timeout are by default.
  explicit ClientParameters(IdleTimes idle = {}) : default_idle_(idle), idle_(idle) {}

  /// Whether there is one of this name: settings of eindb's own have other names.
  static bool knows(std::string_view name);
  /// Error{Value} for a value that cannot be. True if clients are told of the change (ParameterStatus).
  bool set(std::string_view name, std::string_view value);
  bool reset(std::string_view name);
  void reset_all();
  /// The value; the parameter is known.
  std::string show(std::string_view name) const;
  /// How clients want tensors: that of the name result_format.
  ResultFormat result_format() const;
  /// Whether clients want to be told how far long statements are.
  bool progress_notices() const;
  /// All, by name in lower case.
  std::map<std::string, std::string> all() const;
  /// By idle_session_timeout and idle_in_transaction_session_timeout.
  const IdleTimes& idle() const { return idle_; }
  /// Those that clients are told of when the session begins, and how they are written.
  std::vector<Entry> reported() const;

 private:
  std::map<std::string, std::string, std::less<>>
      values_;  // by name in lower case; those with another than the default, but for times
  IdleTimes default_idle_;
  IdleTimes idle_;
};

}  // namespace eindb
