#pragma once

#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// The system gives no more memory for `what`: "this statement", "my.db". Says what to do about it.
Error out_of_memory(std::string_view what);

/// The exception that is being handled, as the Error that tells a user of it: an Error is itself, a failed allocation
/// is out_of_memory(what), a thread that could not be started is Error{Io}; anything else is a bug, Error{Internal}.
/// Call it in a catch clause only. Where there is not even memory for the words it throws std::bad_alloc.
Error caught_error(std::string_view what = "this statement");

}  // namespace eindb
