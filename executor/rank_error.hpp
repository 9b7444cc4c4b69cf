#pragma once

#include <exception>
#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// What another rank is told of an error: kind and hint stay, and the message begins with `rank`, its name.
Error error_of_rank(std::string_view rank, const std::exception_ptr& error);

}  // namespace eindb
