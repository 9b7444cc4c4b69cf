#pragma once

#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// The error for a failed allocation; `what` names the work: "this statement", "my.db". It suggests a remedy.
Error out_of_memory(std::string_view what);

/// The exception being handled, converted to an Error: an Error is returned unchanged, a failed allocation is
/// out_of_memory(what), a thread that could not be started is Error{Io}, and anything else is a bug, Error{Internal}.
/// Call it only in a catch clause. Throws std::bad_alloc if there is no memory even for the message.
Error caught_error(std::string_view what = "this statement");

}  // namespace eindb
