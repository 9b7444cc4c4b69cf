#pragma once

#include <memory>
#include <vector>

#include "engine/sql/sql_function.hpp"
#include "server/pg_catalog/pg_catalog.hpp"

namespace eindb {

/// PostgreSQL's functions that tell of the client, of pg_catalog and of the schema. They read `client` at each call.
/// The functions without state are in engine/sql_functions.
std::vector<SqlFunction> pg_functions(const std::shared_ptr<const ClientIdentity>& client);

// The functions by subject, each group in the file of its name.
std::vector<SqlFunction> pg_system_functions(const std::shared_ptr<const ClientIdentity>& client);
/// Functions that read the texts of CREATE TABLE.
std::vector<SqlFunction> pg_schema_functions();
/// Functions that read the tables of pg_catalog and the schema of the database.
std::vector<SqlFunction> pg_catalog_queries();

}  // namespace eindb
