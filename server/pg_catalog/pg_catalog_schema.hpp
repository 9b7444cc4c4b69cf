#pragma once

namespace eindb {

// The SQL that creates and fills pg_catalog, to be run in this order; running it again refills the tables.
/// Without the columns that every table has: system_tables adds them.
extern const char* const kPgCatalogTables;
extern const char* const kPgCatalogViews;
extern const char* const kInformationSchema;
extern const char* const kPgCatalogConstants;
/// Fills the tables from the database, by the functions of pg_catalog_queries.
extern const char* const kPgCatalogContents;
/// Adds the keys of tensors, and the queries of views.
extern const char* const kPgCatalogTensorKeys;

}  // namespace eindb
