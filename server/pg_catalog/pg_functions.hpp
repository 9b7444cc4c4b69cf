#pragma once

#include <memory>
#include <vector>

#include "engine/sql/sql_function.hpp"
#include "server/pg_catalog/pg_catalog.hpp"

namespace eindb {

/// PostgreSQL's functions that SQLite lacks and clients use, and those that translate_dialect writes (pg_array, ...).
/// They tell of `client` as it is when they are called.
std::vector<SqlFunction> pg_functions(const std::shared_ptr<const ClientIdentity>& client);

// Its parts, each in the file of its name.
std::vector<SqlFunction> pg_array_functions();
std::vector<SqlFunction> pg_text_functions();
std::vector<SqlFunction> pg_system_functions(const std::shared_ptr<const ClientIdentity>& client);
/// Those that look into the tables of pg_catalog and the schema of the database.
std::vector<SqlFunction> pg_catalog_queries();

}  // namespace eindb
