#pragma once

#include "storage/sqlite/sqlite_statement.hpp"

struct sqlite3_context;
struct sqlite3_value;

namespace eindb {

/// An argument that SQLite hands to a function. std::bad_alloc if SQLite lacks memory.
SqliteValue value_of(sqlite3_value* value);
/// Gives SQLite the result of a function.
void set_result(sqlite3_context* context, const SqliteValue& value);

}  // namespace eindb
