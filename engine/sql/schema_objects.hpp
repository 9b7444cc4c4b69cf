#pragma once

#include <string>
#include <string_view>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {

/// "table" or "view"; empty if the schema of SQLite has neither of this name, which may have any case.
std::string kind_of_object(std::string_view schema, std::string_view name, SqliteConnection& connection);

}  // namespace eindb
