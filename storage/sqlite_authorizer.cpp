#include "storage/sqlite_authorizer.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "storage/sqlite_connection.hpp"

namespace eindb {
namespace {

/// Pragmas that a person may give an argument: they look at the schema, check it, or set what concerns them alone.
constexpr std::array<std::string_view, 23> kPragmasWithArgument{"analysis_limit",
                                                                "automatic_index",
                                                                "cache_size",
                                                                "case_sensitive_like",
                                                                "defer_foreign_keys",
                                                                "foreign_key_check",
                                                                "foreign_key_list",
                                                                "foreign_keys",
                                                                "function_list",
                                                                "ignore_check_constraints",
                                                                "incremental_vacuum",
                                                                "index_info",
                                                                "index_list",
                                                                "index_xinfo",
                                                                "integrity_check",
                                                                "optimize",
                                                                "quick_check",
                                                                "recursive_triggers",
                                                                "reverse_unordered_selects",
                                                                "table_info",
                                                                "table_list",
                                                                "table_xinfo",
                                                                "wal_checkpoint"};

bool is_harmless_pragma(const char* name) {
  return std::any_of(kPragmasWithArgument.begin(), kPragmasWithArgument.end(),
                     [&](std::string_view known) { return sqlite3_stricmp(name, std::string(known).c_str()) == 0; });
}

bool writes(int action) { return action == SQLITE_INSERT || action == SQLITE_UPDATE || action == SQLITE_DELETE; }

/// The actions that name a thing of the schema they create, change or drop.
bool changes_schema(int action) {
  return (action >= SQLITE_CREATE_INDEX && action <= SQLITE_CREATE_VIEW) ||
         (action >= SQLITE_DROP_INDEX && action <= SQLITE_DROP_VIEW) || action == SQLITE_CREATE_VTABLE ||
         action == SQLITE_DROP_VTABLE;
}

/// VACUUM copies every table into a database of its own, also eindb's: only these two are the user's to see.
bool is_visible_database(const char* name) {
  return name == nullptr || sqlite3_stricmp(name, "main") == 0 || sqlite3_stricmp(name, "temp") == 0;
}

/// Schemas that eindb attached are for reading. At the time of step it is VACUUM that writes a database of its own.
bool changes_attached(int action, const char* first, const char* database) {
  if (action == SQLITE_ALTER_TABLE) return !is_visible_database(first);
  return (writes(action) || changes_schema(action)) && !is_visible_database(database);
}

/// SQLite's arguments differ by action: `first` is the thing changed, `second` the table it is on; an ALTER TABLE has
/// the database first and the table second. A trigger that came with a file may be dropped from eindb's tables.
bool changes_reserved(int action, const char* first, const char* second, const char* database) {
  if (action == SQLITE_ALTER_TABLE) return is_reserved_name(second) && is_visible_database(first);
  if (!is_visible_database(database)) return false;
  if (writes(action) || action == SQLITE_DROP_TRIGGER || action == SQLITE_DROP_TEMP_TRIGGER)
    return is_reserved_name(first);
  return changes_schema(action) && (is_reserved_name(first) || is_reserved_name(second));
}

/// eindb_users and eindb_secrets: what passwords are checked against. Where SQLite has sqlite_dbpage, the pages of the
/// file, it shows them too.
bool is_secret(const char* table) {
  return sqlite3_stricmp(table, "eindb_users") == 0 || sqlite3_stricmp(table, "eindb_secrets") == 0 ||
         sqlite3_stricmp(table, "sqlite_dbpage") == 0;
}

}  // namespace

bool is_reserved_name(const char* name) { return name != nullptr && sqlite3_strnicmp(name, "eindb_", 6) == 0; }

void SqliteAuthorizer::install(SqliteConnection& connection) {
  sqlite3_set_authorizer(connection.handle(), &SqliteAuthorizer::callback, &connection);
}

int SqliteAuthorizer::callback(void* connection, int action, const char* first, const char* second,
                               const char* database, const char* trigger) noexcept {
  auto& self = *static_cast<SqliteConnection*>(connection);
  try {
    if (self.origin_ == SqliteConnection::Origin::Eindb) return decide_for_eindb(self, action, trigger);
    return decide_for_user(self, action, first, second, database);
  } catch (...) {
    return SQLITE_DENY;  // no memory for the message
  }
}

int SqliteAuthorizer::decide_for_eindb(SqliteConnection& connection, int action, const char* trigger) {
  if (trigger == nullptr || !writes(action)) return SQLITE_OK;
  return deny(connection, "the database has a trigger on the tables of eindb", "DROP TRIGGER removes it");
}

int SqliteAuthorizer::decide_for_user(SqliteConnection& connection, int action, const char* first, const char* second,
                                      const char* database) {
  if (changes_reserved(action, first, second, database)) {
    return deny(connection, "tables named eindb_* belong to eindb and are read-only for SQL",
                "use CREATE TENSOR, ALTER TENSOR, DROP TENSOR, INSERT INTO TENSOR and COPY, or another name");
  }
  // Also at the time of step: a statement is compiled again there, and the tables of extensions compile their own.
  if (action == SQLITE_READ && is_secret(first) && !connection.vacuums_)
    return deny(connection, "what passwords are checked against cannot be read", "SHOW USERS lists the users");
  const bool compiles = connection.origin_ == SqliteConnection::Origin::UserPrepare;
  if (compiles && (action == SQLITE_DETACH || changes_attached(action, first, database)))
    return deny(connection, "the schemas beside the database's own are read-only", "");
  if (action == SQLITE_ALTER_TABLE) connection.altered_table_ = true;
  if (action == SQLITE_SAVEPOINT && first != nullptr && std::strcmp(first, "ROLLBACK") == 0) ++connection.rollbacks_;

  // ATTACH is compiled in prepare; at the time of step it comes from VACUUM alone, which copies every table.
  if (action == SQLITE_ATTACH && connection.origin_ == SqliteConnection::Origin::UserStep) connection.vacuums_ = true;
  if (action == SQLITE_ATTACH && compiles)
    return deny(connection, "ATTACH is not allowed: a session works on one database", "open the other file by itself");
  if (action == SQLITE_PRAGMA && second != nullptr && !is_harmless_pragma(first))
    return deny(connection, "this pragma could harm the database and cannot be set", "");
  if (action == SQLITE_FUNCTION && second != nullptr && sqlite3_stricmp(second, "load_extension") == 0)
    return deny(connection, "extensions cannot be loaded", "");
  return SQLITE_OK;
}

int SqliteAuthorizer::deny(SqliteConnection& connection, const char* reason, const char* hint) {
  connection.denial_ = reason;
  connection.denial_hint_ = hint;
  return SQLITE_DENY;
}

}  // namespace eindb
