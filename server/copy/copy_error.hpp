#pragma once

#include <string>
#include <utility>

#include "common/coded_error.hpp"
#include "common/error.hpp"

namespace eindb {

/// An Error about a place in the rows that a client sends. `context` names the place as PostgreSQL does: `COPY t, line
/// 3, column x: "abc"`. Corrupt: the rows violate the format (SQLSTATE 22P04).
class CopyError : public Error {
 public:
  CopyError(const Error& cause, std::string context)
      : Error(cause.kind(), cause.message(), std::nullopt, cause.hint()), context_(std::move(context)) {
    if (const auto* coded = dynamic_cast<const CodedError*>(&cause)) sqlstate_ = coded->sqlstate();
    else if (cause.kind() == ErrorKind::Corrupt) sqlstate_ = "22P04";
  }

  const std::string& context() const { return context_; }
  /// Empty: the default for the kind.
  const std::string& sqlstate() const { return sqlstate_; }

 private:
  std::string context_;
  std::string sqlstate_;
};

}  // namespace eindb
