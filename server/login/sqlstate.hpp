#pragma once

#include <string_view>

#include "common/error.hpp"

namespace eindb {

/// The SQLSTATE that identifies errors of this kind to clients.
std::string_view sqlstate_of(ErrorKind kind);
/// The error's own SQLSTATE if it has one, otherwise that of its kind.
std::string_view sqlstate_of(const Error& error);

}  // namespace eindb
