#pragma once

#include <stdexcept>
#include <string>

namespace eindb {

/// Bytes that are not a valid message, or not a valid one at this point. Later bytes cannot be trusted, so the
/// connection ends with this message. `sqlstate` is 08P01 (protocol violation) unless a more specific code applies.
class ProtocolError : public std::runtime_error {
 public:
  explicit ProtocolError(const std::string& message, std::string sqlstate = "08P01")
      : std::runtime_error(message), sqlstate_(std::move(sqlstate)) {}

  const std::string& sqlstate() const { return sqlstate_; }

 private:
  std::string sqlstate_;
};

}  // namespace eindb
