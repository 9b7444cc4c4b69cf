#include "server/pg_catalog/pg_system_tables.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace eindb {
namespace {

struct SystemTable {
  std::string_view name;
  std::int32_t oid;
};

/// PostgreSQL's own, in alphabetical order.
constexpr std::array kSystemTables{
    SystemTable{"pg_aggregate", 2600},
    SystemTable{"pg_am", 2601},
    SystemTable{"pg_amop", 2602},
    SystemTable{"pg_amproc", 2603},
    SystemTable{"pg_attrdef", 2604},
    SystemTable{"pg_attribute", 1249},
    SystemTable{"pg_auth_members", 1261},
    SystemTable{"pg_authid", 1260},
    SystemTable{"pg_cast", 2605},
    SystemTable{"pg_class", 1259},
    SystemTable{"pg_collation", 3456},
    SystemTable{"pg_constraint", 2606},
    SystemTable{"pg_conversion", 2607},
    SystemTable{"pg_database", 1262},
    SystemTable{"pg_db_role_setting", 2964},
    SystemTable{"pg_default_acl", 826},
    SystemTable{"pg_depend", 2608},
    SystemTable{"pg_description", 2609},
    SystemTable{"pg_enum", 3501},
    SystemTable{"pg_event_trigger", 3466},
    SystemTable{"pg_extension", 3079},
    SystemTable{"pg_foreign_data_wrapper", 2328},
    SystemTable{"pg_foreign_server", 1417},
    SystemTable{"pg_foreign_table", 3118},
    SystemTable{"pg_index", 2610},
    SystemTable{"pg_inherits", 2611},
    SystemTable{"pg_init_privs", 3394},
    SystemTable{"pg_language", 2612},
    SystemTable{"pg_largeobject", 2613},
    SystemTable{"pg_largeobject_metadata", 2995},
    SystemTable{"pg_namespace", 2615},
    SystemTable{"pg_opclass", 2616},
    SystemTable{"pg_operator", 2617},
    SystemTable{"pg_opfamily", 2753},
    SystemTable{"pg_parameter_acl", 6243},
    SystemTable{"pg_partitioned_table", 3350},
    SystemTable{"pg_policy", 3256},
    SystemTable{"pg_proc", 1255},
    SystemTable{"pg_publication", 6104},
    SystemTable{"pg_publication_namespace", 6237},
    SystemTable{"pg_publication_rel", 6106},
    SystemTable{"pg_range", 3541},
    SystemTable{"pg_replication_origin", 6000},
    SystemTable{"pg_rewrite", 2618},
    SystemTable{"pg_seclabel", 3596},
    SystemTable{"pg_sequence", 2224},
    SystemTable{"pg_shdepend", 1214},
    SystemTable{"pg_shdescription", 2396},
    SystemTable{"pg_shseclabel", 3592},
    SystemTable{"pg_statistic", 2619},
    SystemTable{"pg_statistic_ext", 3381},
    SystemTable{"pg_statistic_ext_data", 3429},
    SystemTable{"pg_subscription", 6100},
    SystemTable{"pg_subscription_rel", 6102},
    SystemTable{"pg_tablespace", 1213},
    SystemTable{"pg_transform", 3576},
    SystemTable{"pg_trigger", 2620},
    SystemTable{"pg_ts_config", 3602},
    SystemTable{"pg_ts_config_map", 3603},
    SystemTable{"pg_ts_dict", 3600},
    SystemTable{"pg_ts_parser", 3601},
    SystemTable{"pg_ts_template", 3764},
    SystemTable{"pg_type", 1247},
    SystemTable{"pg_user_mapping", 1418},
};

std::int32_t oid_of(std::string_view table) {
  const auto* const found =
      std::lower_bound(kSystemTables.begin(), kSystemTables.end(), table,
                       [](const SystemTable& each, std::string_view name) { return each.name < name; });
  return found == kSystemTables.end() || found->name != table ? 0 : found->oid;
}

}  // namespace

std::string with_system_columns(std::string_view script) {
  constexpr std::string_view kBegin = "CREATE TABLE IF NOT EXISTS pg_catalog.";
  constexpr std::string_view kEnd = ");\n";
  constexpr std::string_view kKey = ", PRIMARY KEY (";
  std::string out;
  for (auto end = script.find(kEnd); end != std::string_view::npos; end = script.find(kEnd)) {
    const auto name = script.find(kBegin) + kBegin.size();
    const auto table = script.substr(name, script.find('(', name) - name);
    const auto key = script.substr(0, end).find(kKey);
    const auto columns = key == std::string_view::npos ? end : key;
    out += script.substr(0, columns);
    out += ", xmin int AS (1), tableoid oid AS (" + std::to_string(oid_of(table)) + ")";
    out += script.substr(columns, end + kEnd.size() - columns);
    script.remove_prefix(end + kEnd.size());
  }
  return out += script;
}

std::string list_of_system_tables() {
  std::string out =
      "CREATE TABLE IF NOT EXISTS pg_catalog.eindb_system_table(oid INTEGER PRIMARY KEY, name text);\n"
      "INSERT OR IGNORE INTO pg_catalog.eindb_system_table VALUES ";
  for (const auto& [name, oid] : kSystemTables)
    out += (name == kSystemTables.front().name ? "(" : ", (") + std::to_string(oid) + ", '" + std::string(name) + "')";
  return out + ";\n";
}

}  // namespace eindb
