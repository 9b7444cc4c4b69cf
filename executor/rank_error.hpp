#pragma once

#include <exception>
#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// An error as reported to other ranks: same kind and hint, with the message prefixed by `rank`, the name of its rank.
Error error_of_rank(std::string_view rank, const std::exception_ptr& error);

}  // namespace eindb
