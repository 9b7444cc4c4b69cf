#pragma once

#include <string_view>

#include "engine/results/result.hpp"
#include "engine/sql_types/value_type.hpp"

namespace eindb {

/// Conversions between the types of SQL values and the column types of front ends.
ColumnType column_type(ValueType type);
ValueType value_type(ColumnType type);
/// The type of a table's column, from the type in its CREATE TABLE.
ColumnType declared_column_type(std::string_view declared);

}  // namespace eindb
