// Functions that read the database, each implemented by a query.
#include "server/pg_catalog/pg_functions.hpp"

namespace eindb {
namespace {

struct QueryFunction {
  const char* name;
  int arguments;
  const char* result;  // type of the result as in CREATE TABLE; empty: it varies
  const char* sql;
};

constexpr const char* kIndexDefinition =
    "SELECT CASE WHEN coalesce(?2, 0) = 0 THEN (SELECT definition FROM pg_catalog.pg_index WHERE indexrelid = ?1)"
    " ELSE (SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = ?1 AND attnum = ?2) END";
constexpr const char* kConstraintDefinition = "SELECT definition FROM pg_catalog.pg_constraint WHERE oid = ?1";
constexpr const char* kViewDefinition = "SELECT definition FROM pg_catalog.pg_class WHERE oid = CAST(?1 AS INTEGER)";
constexpr const char* kFunctionDefinition =
    "SELECT 'CREATE OR REPLACE MACRO ' || quote_ident(proname) || prosrc FROM pg_catalog.pg_proc"
    " WHERE oid = CAST(?1 AS INTEGER)";
constexpr const char* kTriggerDefinition =
    "SELECT definition FROM pg_catalog.pg_trigger WHERE oid = CAST(?1 AS INTEGER)";
constexpr const char* kUserName =
    "SELECT coalesce((SELECT rolname FROM pg_catalog.pg_roles WHERE oid = ?1),"
    " 'unknown (OID=' || ?1 || ')')";
/// The size of a tensor by its extents, of a table by its pages.
constexpr const char* kSize =
    "SELECT coalesce(c.dense_bytes, (SELECT pgsize FROM dbstat WHERE schema = 'main' AND aggregate = 1 AND"
    " name = c.relname), 0) FROM pg_catalog.pg_class c WHERE c.oid = CAST(?1 AS INTEGER)";
constexpr const char* kFormatType =
    "SELECT CASE WHEN ?1 IS NOT NULL THEN coalesce((SELECT sqlname FROM pg_catalog.pg_type WHERE oid = ?1), 'unknown "
    "type') || CASE WHEN coalesce(?2, -1) < 0 THEN '' WHEN ?1 IN (1042, 1043) THEN '(' || (?2 - 4) || ')'"
    " WHEN ?1 = 1700 THEN '(' || ((?2 - 4) >> 16) || ',' || ((?2 - 4) & 65535) || ')' ELSE '' END END";
/// Conversions between a name, which may be quoted and have a schema, and its object id.
constexpr const char* kFoundClass =
    "SELECT oid FROM pg_catalog.pg_class WHERE relname = pg_plain_name(?1) COLLATE NOCASE ORDER BY relnamespace DESC"
    " LIMIT 1";
/// The views of pg_catalog have no rows in pg_class.
constexpr const char* kClass =
    "SELECT CASE WHEN typeof(?1) = 'text' AND ?1 NOT GLOB '*[^0-9]*' THEN CAST(?1 AS INTEGER)"
    " WHEN typeof(?1) = 'text' THEN coalesce((SELECT oid FROM pg_catalog.pg_class WHERE relname = pg_plain_name(?1)"
    " COLLATE NOCASE ORDER BY relnamespace DESC LIMIT 1), (SELECT 12000 + rowid FROM pg_catalog.sqlite_schema"
    " WHERE name = pg_plain_name(?1) OR name = 'information_schema_' || pg_plain_name(?1) LIMIT 1),"
    " eindb_no_relation(?1))"
    " ELSE coalesce((SELECT quote_ident(relname) FROM pg_catalog.pg_class WHERE oid = ?1), CAST(?1 AS TEXT)) END";
constexpr const char* kType =
    "SELECT CASE WHEN typeof(?1) = 'text' AND ?1 NOT GLOB '*[^0-9]*' THEN CAST(?1 AS INTEGER)"
    " WHEN typeof(?1) = 'text' THEN (SELECT oid FROM pg_catalog.pg_type WHERE typname = pg_plain_name(?1)"
    " OR sqlname = pg_plain_name(?1) LIMIT 1)"
    " ELSE coalesce((SELECT sqlname FROM pg_catalog.pg_type WHERE oid = ?1), CAST(?1 AS TEXT)) END";
/// Functions of PostgreSQL itself have no object ids here: their names stay names.
constexpr const char* kProcedure =
    "SELECT CASE WHEN typeof(?1) = 'text' THEN coalesce("
    "(SELECT oid FROM pg_catalog.pg_proc WHERE proname = pg_plain_name(?1) COLLATE NOCASE),"
    " CASE WHEN ?1 LIKE 'pg_catalog.%' THEN substr(?1, 12) ELSE ?1 END)"
    " ELSE coalesce((SELECT quote_ident(proname) FROM pg_catalog.pg_proc WHERE oid = ?1), CAST(?1 AS TEXT)) END";
constexpr const char* kNamespace =
    "SELECT CASE WHEN typeof(?1) = 'text' THEN (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = ?1)"
    " ELSE (SELECT nspname FROM pg_catalog.pg_namespace WHERE oid = ?1) END";
constexpr const char* kRole =
    "SELECT CASE WHEN typeof(?1) = 'text' THEN (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = ?1)"
    " ELSE (SELECT rolname FROM pg_catalog.pg_roles WHERE oid = ?1) END";

// The contents of the tables of pg_catalog. A database without tensors has no such tables, which gives NULL. Temporary
// tensors have numbers behind those of the database, and a schema of their own.
constexpr const char* kOwnTensors =
    "SELECT json_group_array(json_object('id', tensor_id, 'name', name, 'dtype', dtype, 'namespace', 2200))"
    " FROM main.eindb_tensors WHERE name NOT LIKE 'eindb\\_%' ESCAPE '\\'";
constexpr const char* kTemporaryTensors =
    "SELECT json_group_array(json_object('id', 67108864 + tensor_id, 'name', name, 'dtype', dtype, 'namespace', 2201))"
    " FROM temp.eindb_tensors WHERE name NOT LIKE 'eindb\\_%' ESCAPE '\\'";
constexpr const char* kOwnDimensions =
    "SELECT json_group_array(json_object('id', tensor_id, 'position', position, 'label', label, 'extent', extent,"
    " 'parts', parts))"
    " FROM main.eindb_dimensions";
constexpr const char* kTemporaryDimensions =
    "SELECT json_group_array(json_object('id', 67108864 + tensor_id, 'position', position, 'label', label,"
    " 'extent', extent, 'parts', parts))"
    " FROM temp.eindb_dimensions";
// The dimensions whose indices have names, which are texts.
constexpr const char* kOwnAxes =
    "SELECT json_group_array(json_object('id', tensor_id, 'position', position)) FROM main.eindb_axes";
constexpr const char* kTemporaryAxes =
    "SELECT json_group_array(json_object('id', 67108864 + tensor_id, 'position', position)) FROM temp.eindb_axes";
constexpr const char* kAxes =
    "SELECT json_group_array(json(value)) FROM (SELECT value FROM json_each(eindb_own_axes())"
    " UNION ALL SELECT value FROM json_each(eindb_temporary_axes()))";
// With the type of the values, which is INT64 or FLOAT32 for narrow types (tensor/stored_type).
constexpr const char* kTensors =
    "SELECT json_group_array(json_set(value, '$.values', CASE WHEN dtype LIKE '%INT%' OR dtype = 'BOOL' THEN 'INT64'"
    " WHEN dtype IN ('FLOAT64', 'COMPLEX64', 'COMPLEX128') THEN dtype ELSE 'FLOAT32' END))"
    " FROM (SELECT value, json_extract(value, '$.dtype') AS dtype FROM (SELECT value FROM "
    "json_each(eindb_own_tensors())"
    " UNION ALL SELECT value FROM json_each(eindb_temporary_tensors())))";
constexpr const char* kDimensions =
    "SELECT json_group_array(json(value)) FROM (SELECT value FROM json_each(eindb_own_dimensions())"
    " UNION ALL SELECT value FROM json_each(eindb_temporary_dimensions()))";
constexpr const char* kComments =
    "SELECT json_group_array(json_object('object', object, 'column', \"column\", 'text', text)) FROM "
    "main.eindb_comments";
constexpr const char* kColumnComment =
    "SELECT description FROM pg_catalog.pg_description WHERE objoid = CAST(?1 AS INTEGER) AND objsubid = ?2";
constexpr const char* kObjectComment =
    "SELECT description FROM pg_catalog.pg_description WHERE objoid = CAST(?1 AS INTEGER) AND objsubid = 0"
    " AND coalesce(?2, 'pg_class') = 'pg_class'";
constexpr const char* kMacros =
    "SELECT json_group_array(json_object('id', rowid, 'name', name, 'definition', definition)) FROM main.eindb_macros"
    " WHERE definition NOT LIKE 'AGGREGATE %'";
constexpr const char* kColumns =
    "SELECT json_group_array(json_object('cid', cid, 'name', name, 'type', type, 'notnull', \"notnull\","
    " 'default', dflt_value, 'pk', pk, 'generated', hidden > 1)) FROM pragma_table_xinfo(?1, 'main')"
    " WHERE hidden <> 1";

/// The rights of users: a user who is RESTRICTED has those that were granted, others those of their role. Without users
/// everybody may do everything.
constexpr const char* kGrants =
    "SELECT json_group_array(json_object('object', object, 'grantee', grantee, 'rights', rights))"
    " FROM (SELECT * FROM main.eindb_grants ORDER BY object, grantee)";
constexpr const char* kRights = "SELECT rights FROM main.eindb_grants WHERE grantee = ?1 AND object = ?2";
constexpr const char* kRoleOfUser = "SELECT role FROM main.eindb_users WHERE name = ?1 COLLATE NOCASE";
constexpr const char* kMayUse =
    "SELECT CASE WHEN ?1 IS NOT NULL AND ?2 IS NOT NULL AND ?3 IS NOT NULL THEN (SELECT EXISTS ("
    "SELECT 1 FROM json_each('[\"' || replace(upper(?3), ',', '\",\"') || '\"]') p WHERE"
    " CASE coalesce(eindb_role_of(u.name), 'admin') WHEN 'restricted' THEN"
    " CASE WHEN c.relnamespace = 2200 THEN coalesce(eindb_rights(u.name, c.relname), 0) ELSE 1 END"
    " & CASE trim(p.value) WHEN 'SELECT' THEN 1 WHEN 'INSERT' THEN 2 WHEN 'UPDATE' THEN 4 WHEN 'DELETE' THEN 8 ELSE 0 "
    "END"
    " WHEN 'read only' THEN trim(p.value) = 'SELECT' ELSE 1 END)"
    " FROM (SELECT CASE typeof(?1) WHEN 'text' THEN ?1 ELSE pg_get_userbyid(?1) END AS name) u"
    " LEFT JOIN pg_catalog.pg_class c ON c.oid = CASE typeof(?2) WHEN 'text' THEN regclass(?2) ELSE ?2 END) END";

constexpr QueryFunction kQueries[] = {
    {"col_description", 2, "TEXT", kColumnComment},
    {"eindb_columns", 1, "TEXT", kColumns},
    {"eindb_grants", 0, "TEXT", kGrants},
    {"eindb_rights", 2, "INTEGER", kRights},
    {"eindb_role_of", 1, "TEXT", kRoleOfUser},
    {"has_any_column_privilege", 2, "BOOLEAN", "SELECT has_table_privilege(current_user(), ?1, ?2)"},
    {"has_any_column_privilege", 3, "BOOLEAN", kMayUse},
    {"has_column_privilege", 3, "BOOLEAN", "SELECT has_table_privilege(current_user(), ?1, ?3)"},
    {"has_column_privilege", 4, "BOOLEAN", "SELECT has_table_privilege(?1, ?2, ?4)"},
    {"has_table_privilege", 2, "BOOLEAN", "SELECT has_table_privilege(current_user(), ?1, ?2)"},
    {"has_table_privilege", 3, "BOOLEAN", kMayUse},
    {"eindb_comments", 0, "TEXT", kComments},
    {"eindb_axes", 0, "TEXT", kAxes},
    {"eindb_dimensions", 0, "TEXT", kDimensions},
    {"eindb_own_axes", 0, "TEXT", kOwnAxes},
    {"eindb_temporary_axes", 0, "TEXT", kTemporaryAxes},
    {"eindb_own_dimensions", 0, "TEXT", kOwnDimensions},
    {"eindb_own_tensors", 0, "TEXT", kOwnTensors},
    {"eindb_temporary_dimensions", 0, "TEXT", kTemporaryDimensions},
    {"eindb_temporary_tensors", 0, "TEXT", kTemporaryTensors},
    {"eindb_macros", 0, "TEXT", kMacros},
    {"eindb_tensors", 0, "TEXT", kTensors},
    {"format_type", 2, "TEXT", kFormatType},
    {"obj_description", 1, "TEXT", kObjectComment},
    {"obj_description", 2, "TEXT", kObjectComment},
    {"pg_get_constraintdef", 1, "TEXT", kConstraintDefinition},
    {"pg_get_constraintdef", 2, "TEXT", kConstraintDefinition},
    {"pg_get_function_arguments", 1, "TEXT", "SELECT arguments FROM pg_catalog.pg_proc WHERE oid = ?1"},
    {"pg_get_function_identity_arguments", 1, "TEXT", "SELECT arguments FROM pg_catalog.pg_proc WHERE oid = ?1"},
    {"pg_get_function_result", 1, "TEXT", "SELECT 'float8' FROM pg_catalog.pg_proc WHERE oid = ?1"},
    {"pg_get_functiondef", 1, "TEXT", kFunctionDefinition},
    {"pg_get_indexdef", 1, "TEXT", "SELECT definition FROM pg_catalog.pg_index WHERE indexrelid = ?1"},
    {"pg_get_indexdef", 3, "TEXT", kIndexDefinition},
    {"pg_get_triggerdef", 1, "TEXT", kTriggerDefinition},
    {"pg_get_triggerdef", 2, "TEXT", kTriggerDefinition},
    {"pg_get_userbyid", 1, "TEXT", kUserName},
    {"pg_get_viewdef", 1, "TEXT", kViewDefinition},
    {"pg_get_viewdef", 2, "TEXT", kViewDefinition},
    {"pg_indexes_size", 1, "INTEGER", "SELECT 0"},
    {"pg_database_size", 1, "INTEGER", "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"},
    {"pg_tablespace_size", 1, "INTEGER", "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"},
    {"pg_relation_size", 1, "INTEGER", kSize},
    {"pg_relation_size", 2, "INTEGER", kSize},
    {"pg_table_size", 1, "INTEGER", kSize},
    {"pg_total_relation_size", 1, "INTEGER", kSize},
    {"regclass", 1, "", kClass},
    {"regnamespace", 1, "", kNamespace},
    {"regcollation", 1, "", "SELECT ?1"},
    {"regconfig", 1, "", "SELECT ?1"},
    {"regdictionary", 1, "", "SELECT ?1"},
    {"regoper", 1, "", "SELECT ?1"},
    {"regoperator", 1, "", "SELECT ?1"},
    {"regproc", 1, "", kProcedure},
    {"regprocedure", 1, "", kProcedure},
    {"regrole", 1, "", kRole},
    {"regtype", 1, "", kType},
    {"to_regclass", 1, "", kFoundClass},
    {"to_regtype", 1, "", kType},
};

}  // namespace

std::vector<SqlFunction> pg_catalog_queries() {
  std::vector<SqlFunction> functions;
  for (const auto& [name, arguments, result, sql] : kQueries)
    functions.push_back({.name = name,
                         .arguments = arguments,
                         .body = SqlFunction::Query{sql},
                         .deterministic = false,
                         .result = result});
  return functions;
}

}  // namespace eindb
