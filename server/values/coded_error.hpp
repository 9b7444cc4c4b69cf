#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "common/error.hpp"

namespace eindb {

/// out_of_memory: a memory limit shared by clients or sessions is exceeded.
inline constexpr std::string_view kOutOfMemory = "53200";

/// An error with a SQLSTATE of its own in place of the default for its kind.
class CodedError : public Error {
 public:
  CodedError(std::string_view sqlstate, ErrorKind kind, std::string message, std::string hint = {})
      : Error(kind, std::move(message), std::nullopt, std::move(hint)), sqlstate_(sqlstate) {}
  const std::string& sqlstate() const { return sqlstate_; }

 private:
  std::string sqlstate_;
};

}  // namespace eindb
