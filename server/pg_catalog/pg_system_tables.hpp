#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// The script, of CREATE TABLE statements that each end a line, with the columns that PostgreSQL gives every table:
/// xmin, which is the same everywhere, and tableoid.
std::string with_system_columns(std::string_view script);

/// SQL that fills the table eindb_system_table(oid, name) with the tables of pg_catalog as PostgreSQL numbers them.
std::string list_of_system_tables();

}  // namespace eindb
