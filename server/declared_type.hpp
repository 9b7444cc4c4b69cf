#pragma once

#include <string_view>

#include "server/data_type.hpp"

namespace eindb {

/// What a column of SQL's tables is for clients, by the type in its CREATE TABLE (Column::declared_type): as SQLite
/// decides on affinities, so INT8 for all that has INT in it, and Text where it says nothing.
DataType declared_data_type(std::string_view declared);

}  // namespace eindb
