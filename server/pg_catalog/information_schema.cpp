// More views of information_schema as in PostgreSQL 15, over the tables of pg_catalog.
#include "server/pg_catalog/pg_catalog_schema.hpp"

namespace eindb {

const char* const kInformationSchema = R"sql(
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_referential_constraints AS
  SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
    current_database() AS unique_constraint_catalog, n.nspname AS unique_constraint_schema,
    u.conname AS unique_constraint_name, 'NONE' AS match_option,
    CASE k.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
      WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END AS update_rule,
    CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
      WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END AS delete_rule
  FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
    LEFT JOIN pg_constraint u ON u.conindid = k.conindid AND u.contype IN ('p', 'u') WHERE k.contype = 'f';
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_constraint_column_usage AS
  SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
    a.attname AS column_name, current_database() AS constraint_catalog, n.nspname AS constraint_schema,
    k.conname AS constraint_name
  FROM pg_constraint k JOIN pg_class c ON c.oid = CASE k.contype WHEN 'f' THEN k.confrelid ELSE k.conrelid END
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN json_each(pg_array_json(CASE k.contype WHEN 'f' THEN k.confkey ELSE k.conkey END)) e
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = e.value;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_constraint_table_usage AS
  SELECT DISTINCT table_catalog, table_schema, table_name, constraint_catalog, constraint_schema, constraint_name
  FROM information_schema_constraint_column_usage;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_triggers AS
  SELECT current_database() AS trigger_catalog, n.nspname AS trigger_schema, t.tgname AS trigger_name,
    NULL AS event_manipulation, current_database() AS event_object_catalog, n.nspname AS event_object_schema,
    c.relname AS event_object_table, NULL AS action_order, NULL AS action_condition, t.definition AS action_statement,
    'ROW' AS action_orientation, NULL AS action_timing, NULL AS created
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_enabled_roles AS SELECT rolname AS role_name FROM pg_roles;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_information_schema_catalog_name AS
  SELECT current_database() AS catalog_name;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_check_constraints AS
  SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
    k.conbin AS check_clause FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE k.contype = 'c';
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_character_sets AS
  SELECT NULL AS character_set_catalog, NULL AS character_set_schema, 'UTF8' AS character_set_name,
    'UCS' AS character_repertoire, 'UTF8' AS form_of_use, current_database() AS default_collate_catalog,
    'pg_catalog' AS default_collate_schema, 'C' AS default_collate_name;
-- What a database of eindb never has.
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_applicable_roles AS
  SELECT '' AS grantee, '' AS role_name, 'NO' AS is_grantable WHERE 0;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_user_defined_types AS
  SELECT current_database() AS user_defined_type_catalog, 'public' AS user_defined_type_schema,
    '' AS user_defined_type_name WHERE 0;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_foreign_tables AS
  SELECT current_database() AS foreign_table_catalog, 'public' AS foreign_table_schema, '' AS foreign_table_name,
    '' AS foreign_server_catalog, '' AS foreign_server_name WHERE 0;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_sequences AS
  SELECT current_database() AS sequence_catalog, 'public' AS sequence_schema, '' AS sequence_name,
    'bigint' AS data_type, 64 AS numeric_precision, 2 AS numeric_precision_radix, 0 AS numeric_scale,
    '1' AS start_value, '1' AS minimum_value, '9223372036854775807' AS maximum_value, '1' AS increment,
    'NO' AS cycle_option WHERE 0;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_domains AS
  SELECT current_database() AS domain_catalog, 'public' AS domain_schema, '' AS domain_name, '' AS data_type WHERE 0;
CREATE VIEW IF NOT EXISTS pg_catalog.information_schema_parameters AS
  SELECT current_database() AS specific_catalog, 'public' AS specific_schema, '' AS specific_name,
    1 AS ordinal_position, 'IN' AS parameter_mode, '' AS parameter_name, '' AS data_type WHERE 0;
)sql";

}  // namespace eindb
