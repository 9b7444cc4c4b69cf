#pragma once

#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// The SQLSTATE by which clients tell errors of this kind apart.
std::string_view sqlstate_of(ErrorKind kind);

}  // namespace eindb
