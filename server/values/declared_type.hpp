#pragma once

#include <string_view>

#include "engine/results/result.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// The client's type for a column of SQL's tables, from the type in its CREATE TABLE: the engine's type, with
/// additional types for pg_catalog's tables. Text if there is no type.
DataType declared_data_type(std::string_view declared);

/// The client's type for a column of results, except complex numbers, which are two columns.
DataType column_data_type(const Column& column);

}  // namespace eindb
