#pragma once

namespace eindb {

// The SQL that creates and fills pg_catalog, to be run in this order; running it again refills the tables.
extern const char* const kPgCatalogTables;
extern const char* const kPgCatalogViews;
extern const char* const kPgCatalogConstants;
/// Fills the tables from the database, by the functions of pg_catalog_queries.
extern const char* const kPgCatalogContents;

}  // namespace eindb
