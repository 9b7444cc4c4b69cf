#pragma once

#include <optional>
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
  CodedError(std::string_view sqlstate, ErrorKind kind, std::string message, std::string hint = {},
             std::optional<SourceSpan> span = std::nullopt)
      : Error(kind, std::move(message), span, std::move(hint)), sqlstate_(sqlstate) {}
  const std::string& sqlstate() const { return sqlstate_; }

 private:
  std::string sqlstate_;
};

/// Throws the error with another place and hint; it keeps its SQLSTATE if it has one.
[[noreturn]] inline void throw_at(const Error& error, std::optional<SourceSpan> span, std::string hint) {
  if (const auto* coded = dynamic_cast<const CodedError*>(&error))
    throw CodedError(coded->sqlstate(), error.kind(), error.message(), std::move(hint), span);
  throw Error(error.kind(), error.message(), span, std::move(hint));
}

}  // namespace eindb
