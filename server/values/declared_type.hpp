#pragma once

#include <cstdint>
#include <string_view>

#include "engine/results/result.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// The client's type for a column of SQL's tables, from the type in its CREATE TABLE: dates, numeric and the like as
/// PostgreSQL has them, all integers as int8, since columns of SQLite hold 64 bits, otherwise the engine's type, with
/// additional types for pg_catalog's tables. Text if there is no type.
DataType declared_data_type(std::string_view declared);

/// The modifier of such a type for clients (atttypmod): of varchar(20), char(3) and numeric(10,2); -1 if it has none.
std::int32_t declared_modifier(std::string_view declared);
/// The characters that a value of char(n) with this modifier has; 0 for other types.
std::int64_t width_of(DataType type, std::int32_t modifier);
/// The digits after the point that the modifier of a numeric gives; -1 if it gives none.
int scale_of(std::int32_t numeric_modifier);

/// The client's type for a column of results, except complex numbers, which are two columns.
DataType column_data_type(const Column& column);

}  // namespace eindb
