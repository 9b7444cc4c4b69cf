#pragma once

#include <string_view>

#include "engine/results/result.hpp"
#include "engine/sql_types/value_type.hpp"

namespace eindb {

/// What a column of such values is for front ends.
ColumnType column_type(ValueType type);
ValueType value_type(ColumnType type);
/// Of a table's column, by the type in its CREATE TABLE.
ColumnType declared_column_type(std::string_view declared);

}  // namespace eindb
