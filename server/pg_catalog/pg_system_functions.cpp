// Functions about the server, the client and the client's permissions.
#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/timestamp.hpp"
#include "server/pg_catalog/pg_functions.hpp"
#include "server/values/declared_type.hpp"

namespace eindb {
namespace {

using Identity = std::shared_ptr<const ClientIdentity>;

SqliteValue null_value(PgValues) { return kNull; }
SqliteValue true_value(PgValues) { return truth_value(true); }
SqliteValue false_value(PgValues) { return truth_value(false); }
SqliteValue zero(PgValues) { return integer_value(0); }
SqliteValue first_argument(PgValues values) { return values.empty() ? kNull : values[0]; }
SqliteValue type_oid(PgValues values) {
  return integer_value(static_cast<std::int32_t>(declared_data_type(text_of(values[0]))));
}
SqliteValue now(PgValues) { return timestamp_text(std::chrono::system_clock::now()); }

SqliteValue encoding_name(PgValues values) {
  constexpr std::int64_t kUtf8 = 6;
  return std::string(integer_of(values[0]) == kUtf8 ? "UTF8" : "");
}

SqliteValue version(PgValues) { return std::string("PostgreSQL 15.0 (eindb)"); }
SqliteValue current_schema(PgValues) { return std::string("public"); }
SqliteValue current_schemas(PgValues values) {
  return std::string(is_null(values[0]) || integer_of(values[0]) == 0 ? "{public}" : "{pg_catalog,public}");
}

/// The rights that a list of grants is compared with.
SqliteValue no_rights(PgValues) { return std::string("{}"); }

SqliteValue encoding(PgValues) { return std::string("UTF8"); }
SqliteValue encoding_number(PgValues values) {
  const auto name = to_lower(text_of(values[0]));
  return integer_value(name == "utf8" || name == "utf-8" || name == "unicode" ? 6 : -1);
}

constexpr std::array kSystemFunctions{
    PgFunction{"eindb_type_oid", 1, "INTEGER", &type_oid},
    PgFunction{"acldefault", 2, "TEXT", &no_rights},
    PgFunction{"current_schema", 0, "TEXT", &current_schema},
    PgFunction{"current_schemas", 1, "TEXT", &current_schemas},
    PgFunction{"getdatabaseencoding", 0, "TEXT", &encoding},
    PgFunction{"has_database_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"has_foreign_data_wrapper_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"has_function_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"has_language_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"has_schema_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"has_sequence_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"has_server_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"has_tablespace_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"has_type_privilege", -1, "BOOLEAN", &true_value},
    PgFunction{"inet_client_addr", 0, "", &null_value},
    PgFunction{"inet_client_port", 0, "", &null_value},
    PgFunction{"inet_server_addr", 0, "", &null_value},
    PgFunction{"inet_server_port", 0, "", &null_value},
    PgFunction{"pg_advisory_lock", -1, "", &null_value},
    PgFunction{"pg_advisory_unlock", -1, "BOOLEAN", &true_value},
    PgFunction{"pg_advisory_unlock_all", 0, "", &null_value},
    PgFunction{"pg_char_to_encoding", 1, "INTEGER", &encoding_number},
    PgFunction{"pg_collation_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_conversion_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_encoding_to_char", 1, "TEXT", &encoding_name},
    PgFunction{"pg_function_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_get_expr", -1, "TEXT", &first_argument},
    PgFunction{"pg_get_function_sqlbody", 1, "", &null_value},
    PgFunction{"pg_get_partkeydef", 1, "", &null_value},
    PgFunction{"pg_get_ruledef", -1, "", &null_value},
    PgFunction{"pg_get_serial_sequence", 2, "", &null_value},
    PgFunction{"pg_get_statisticsobjdef_columns", 1, "", &null_value},
    PgFunction{"pg_has_role", -1, "BOOLEAN", &true_value},
    PgFunction{"pg_is_in_recovery", 0, "BOOLEAN", &false_value},
    PgFunction{"pg_is_other_temp_schema", 1, "BOOLEAN", &false_value},
    PgFunction{"pg_my_temp_schema", 0, "INTEGER", &zero},
    PgFunction{"pg_opclass_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_opfamily_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_operator_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_relation_is_publishable", 1, "BOOLEAN", &false_value},
    PgFunction{"pg_stat_get_numscans", 1, "INTEGER", &zero},
    PgFunction{"pg_statistics_obj_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_table_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_tablespace_location", 1, "", &null_value},
    PgFunction{"pg_try_advisory_lock", -1, "BOOLEAN", &true_value},
    PgFunction{"pg_ts_config_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_ts_dict_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_ts_parser_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_ts_template_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"pg_type_is_visible", 1, "BOOLEAN", &true_value},
    PgFunction{"row_security_active", 1, "BOOLEAN", &false_value},
    PgFunction{"shobj_description", 2, "", &null_value},
    PgFunction{"version", 0, "TEXT", &version},
};

constexpr std::array kVolatileFunctions{
    PgFunction{"pg_conf_load_time", 0, "TEXT", &now},
    PgFunction{"pg_postmaster_start_time", 0, "TEXT", &now},
};

/// Settings that clients query but that the server's own parameters do not include.
const std::map<std::string, std::string>& default_settings() {
  static const std::map<std::string, std::string> kSettings{{"client_encoding", "UTF8"},
                                                            {"datestyle", "ISO, MDY"},
                                                            {"default_transaction_isolation", "serializable"},
                                                            {"default_transaction_read_only", "off"},
                                                            {"extra_float_digits", "1"},
                                                            {"integer_datetimes", "on"},
                                                            {"intervalstyle", "postgres"},
                                                            {"is_superuser", "off"},
                                                            {"jit", "off"},
                                                            {"max_identifier_length", "63"},
                                                            {"max_index_keys", "32"},
                                                            {"search_path", "\"$user\", public"},
                                                            {"server_encoding", "UTF8"},
                                                            {"server_version", "15.0"},
                                                            {"server_version_num", "150000"},
                                                            {"standard_conforming_strings", "on"},
                                                            {"timezone", "UTC"},
                                                            {"transaction_isolation", "serializable"},
                                                            {"transaction_read_only", "off"}};
  return kSettings;
}

/// Implements current_setting(name [, missing_ok]).
SqliteValue current_setting(const ClientIdentity& client, PgValues values) {
  if (values.empty() || is_null(values[0])) return kNull;
  const auto name = to_lower(text_of(values[0]));
  for (const auto* settings : {&client.settings, &default_settings()})
    if (const auto found = settings->find(name); found != settings->end()) return found->second;
  if (values.size() > 1 && integer_of(values[1]) != 0) return kNull;
  throw CodedError("42704", ErrorKind::UnknownName, "unrecognized configuration parameter \"" + name + "\"");
}

SqliteValue all_settings(const ClientIdentity& client) {
  auto all = client.settings;
  all.insert(default_settings().begin(), default_settings().end());
  // The names that pg_settings has with capital letters.
  for (const char* name : {"DateStyle", "IntervalStyle", "TimeZone"})
    if (auto found = all.extract(to_lower(name))) {
      found.key() = name;
      all.insert(std::move(found));
    }
  return nlohmann::json(all).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Adds the functions about the client.
void add_identity_functions(std::vector<SqlFunction>& functions, const Identity& client) {
  const auto add = [&](const char* name, int arguments, const char* result, SqlFunction::Body body) {
    functions.push_back(
        {.name = name, .arguments = arguments, .body = std::move(body), .deterministic = false, .result = result});
  };
  for (const char* name : {"current_user", "session_user", "current_role"})
    add(name, 0, "TEXT", [client](PgValues) -> SqliteValue { return client->user; });
  for (const char* name : {"current_database", "current_catalog"})
    add(name, 0, "TEXT", [client](PgValues) -> SqliteValue { return client->database; });
  add("pg_backend_pid", 0, "INTEGER", [client](PgValues) -> SqliteValue { return std::int64_t{client->process_id}; });
  add("current_setting", -1, "TEXT", [client](PgValues values) { return current_setting(*client, values); });
  add("pg_settings_json", 0, "TEXT", [client](PgValues) { return all_settings(*client); });
  for (const char* name : {"txid_current", "pg_current_xact_id"})
    add(name, 0, "INTEGER", [client](PgValues) -> SqliteValue { return std::int64_t{client->process_id}; });
}

}  // namespace

std::vector<SqlFunction> pg_system_functions(const std::shared_ptr<const ClientIdentity>& client) {
  auto functions = sql_functions(kSystemFunctions, true);
  for (auto& function : sql_functions(kVolatileFunctions, false)) functions.push_back(std::move(function));
  add_identity_functions(functions, client);
  return functions;
}

}  // namespace eindb
