#pragma once

#include <vector>

#include "storage/sqlite/sql_function.hpp"

namespace eindb {

/// PostgreSQL's functions that SQLite lacks, those among them that `engine/dialect` makes statements call (pg_divide,
/// pg_like, ...). Every session has them, since views and checks in the file call them. Thread-safe.
const std::vector<SqlFunction>& all_sql_functions();

// The functions by subject, each group in the file of its name. They have no state.
std::vector<SqlFunction> array_functions();
std::vector<SqlFunction> text_functions();
std::vector<SqlFunction> string_functions();
std::vector<SqlFunction> json_functions();
std::vector<SqlFunction> pattern_functions();
std::vector<SqlFunction> digest_functions();
std::vector<SqlFunction> format_functions();
std::vector<SqlFunction> number_functions();
std::vector<SqlFunction> moment_functions();

}  // namespace eindb
