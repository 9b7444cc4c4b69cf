#pragma once

#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// The SQLSTATE by which clients tell errors of this kind apart.
std::string_view sqlstate_of(ErrorKind kind);
/// That of its own, if it has one; otherwise that of its kind.
std::string_view sqlstate_of(const Error& error);

}  // namespace eindb
