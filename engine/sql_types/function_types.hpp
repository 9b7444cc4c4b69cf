#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/sql_types/value_type.hpp"

namespace eindb {

/// The result type of one of SQLite's built-in functions (scalar, aggregate or window). nullopt if it is no such
/// function.
std::optional<ValueType> function_type(std::string_view name, std::span<const ValueType> arguments);

}  // namespace eindb
