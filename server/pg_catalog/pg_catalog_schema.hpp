#pragma once

namespace eindb {

// The SQL that makes and fills pg_catalog, in this order; it may run again, and then fills anew.
extern const char* const kPgCatalogTables;
extern const char* const kPgCatalogViews;
extern const char* const kPgCatalogConstants;
/// From the database's tables, by the functions of pg_catalog_queries.
extern const char* const kPgCatalogContents;

}  // namespace eindb
