#pragma once

#include <string_view>

#include "engine/results/result.hpp"
#include "server/values/data_type.hpp"

namespace eindb {

/// What a column of SQL's tables is for clients, by the type in its CREATE TABLE: as the engine has it, but for the
/// types of pg_catalog's own tables. Text where that says nothing.
DataType declared_data_type(std::string_view declared);

/// What a column of results is for clients, but for complex numbers, which are two.
DataType column_data_type(const Column& column);

}  // namespace eindb
