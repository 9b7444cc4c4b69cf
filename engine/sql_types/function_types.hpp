#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/sql_types/value_type.hpp"

namespace eindb {

/// The result type of one of SQLite's built-in functions (scalar, aggregate or window). nullopt if it is no such
/// function.
std::optional<ValueType> function_type(std::string_view name, std::span<const ValueType> arguments);
/// Whether one of them takes numbers, so that it reads a text as one: SUM, ABS, MAX (which orders its arguments).
bool takes_numbers(std::string_view name);
/// Whether one of them returns one of its arguments: COALESCE.
bool gives_argument(std::string_view name);

}  // namespace eindb
