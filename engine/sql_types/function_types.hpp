#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/sql_types/value_type.hpp"

namespace eindb {

/// What one of SQLite's own functions gives, of any kind: scalar, aggregate or window. nullopt if it is none of them.
std::optional<ValueType> function_type(std::string_view name, std::span<const ValueType> arguments);

}  // namespace eindb
