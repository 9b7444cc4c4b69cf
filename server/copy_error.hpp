#pragma once

#include <string>
#include <utility>

#include "common/error.hpp"

namespace eindb {

/// An Error that is about one place in the rows that a client sends; `context` says which, as PostgreSQL does:
/// `COPY t, line 3, column x: "abc"`. Corrupt: the rows have not the form that the options say (SQLSTATE 22P04).
class CopyError : public Error {
 public:
  CopyError(const Error& cause, std::string context)
      : Error(cause.kind(), cause.message(), std::nullopt, cause.hint()), context_(std::move(context)) {}

  const std::string& context() const { return context_; }

 private:
  std::string context_;
};

}  // namespace eindb
