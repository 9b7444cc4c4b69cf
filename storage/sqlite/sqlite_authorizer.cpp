#include "storage/sqlite/sqlite_authorizer.hpp"

#include <fcntl.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string_view>

#include "common/open_databases.hpp"
#include "common/poll_steps.hpp"
#include "storage/sqlite/sqlite_handle.hpp"

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

/// Pragmas of clients only tell: what they set would stay in the session, which others get next, and `database_list`
/// names the server's files.
constexpr std::array<std::string_view, 24> kPragmasOfClients{
    "application_id",   "collation_list", "compile_options", "data_version", "encoding",   "foreign_key_check",
    "foreign_key_list", "freelist_count", "function_list",   "index_info",   "index_list", "index_xinfo",
    "integrity_check",  "journal_mode",   "max_page_count",  "module_list",  "page_count", "page_size",
    "pragma_list",      "quick_check",    "schema_version",  "table_info",   "table_list", "table_xinfo"};

/// Of those, which take an argument that sets nothing.
constexpr std::array<std::string_view, 9> kArgumentsOfClients{
    "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo",
    "integrity_check",   "quick_check",      "table_info", "table_xinfo"};

/// Kinds of virtual tables that keep their contents in tables of the database. Others look elsewhere: at the bytes of
/// the file, at what the connection runs.
constexpr std::array<std::string_view, 8> kModulesOfClients{"fts3",      "fts4",  "fts4aux",   "fts5",
                                                            "fts5vocab", "rtree", "rtree_i32", "geopoly"};

/// Tables of SQLite that show how the file is laid out, and what the connection runs, for whomever.
constexpr std::array<std::string_view, 5> kTablesOfOperators{"dbstat", "sqlite_stmt", "sqlite_memstat", "bytecode",
                                                             "tables_used"};

/// Functions that take code or addresses from their arguments.
constexpr std::array<std::string_view, 2> kFunctionsOfNobody{"load_extension", "fts3_tokenizer"};

/// What SQLite does between two questions while it compiles. It looks at no progress handler there, and views and WITH
/// that name each other twice take it as many steps as they stand for SELECTs.
constexpr std::size_t kStepsPerQuestion = 2000;

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& names, const char* name) {
  return name != nullptr && std::any_of(names.begin(), names.end(), [&](std::string_view known) {
           return sqlite3_stricmp(name, std::string(known).c_str()) == 0;
         });
}

bool is_pragma_of_clients(const char* name, const char* argument) {
  return is_one_of(kPragmasOfClients, name) && (argument == nullptr || is_one_of(kArgumentsOfClients, name));
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

/// Whether tables of the module `name` would show what is_secret() hides; `for_clients`: or anything that is no table.
bool shows_bytes(const char* name, bool for_clients) {
  return for_clients ? !is_one_of(kModulesOfClients, name) : is_secret(name);
}

}  // namespace

bool is_reserved_name(const char* name) { return name != nullptr && sqlite3_strnicmp(name, "eindb_", 6) == 0; }

void SqliteAuthorizer::install(SqliteHandle& connection) {
  sqlite3_set_authorizer(connection.handle(), &SqliteAuthorizer::callback, &connection);
}

int SqliteAuthorizer::callback(void* connection, int action, const char* first, const char* second,
                               const char* database, const char* trigger) noexcept {
  auto& self = *static_cast<SqliteHandle*>(connection);
  try {
    poll_cancellation_after(kStepsPerQuestion);
  } catch (...) {
    self.callback_failure_ = std::current_exception();
    return SQLITE_DENY;
  }
  try {
    if (self.origin_ == SqliteHandle::Origin::Eindb) return decide_for_eindb(self, action, trigger);
    return decide_for_user(self, action, first, second, database);
  } catch (...) {  // no memory for the message
    self.keep_failure(std::current_exception());
    return SQLITE_DENY;
  }
}

int SqliteAuthorizer::decide_for_eindb(SqliteHandle& connection, int action, const char* trigger) {
  if (trigger == nullptr || !writes(action)) return SQLITE_OK;
  return deny(connection, "the database has a trigger on the tables of eindb", "DROP TRIGGER removes it");
}

int SqliteAuthorizer::decide_for_user(SqliteHandle& connection, int action, const char* first, const char* second,
                                      const char* database) {
  if (changes_reserved(action, first, second, database)) {
    return deny(connection, "tables named eindb_* belong to eindb and are read-only for SQL",
                "use CREATE TENSOR, ALTER TENSOR, DROP TENSOR, INSERT INTO TENSOR and COPY, or another name");
  }
  // Also at the time of step: a statement is compiled again there, and the tables of extensions compile their own.
  if (action == SQLITE_READ && is_secret(first) && !connection.vacuums_)
    return forbid(connection, "what passwords are checked against cannot be read", "SHOW USERS lists the users");
  if (action == SQLITE_READ && connection.for_clients_ && is_one_of(kTablesOfOperators, first))
    return forbid(connection, "this table tells of the server's own work", "");
  const bool compiles = connection.origin_ == SqliteHandle::Origin::UserPrepare;
  if (compiles && (action == SQLITE_DETACH || changes_attached(action, first, database)))
    return deny(connection, "the schemas beside the database's own are read-only", "");
  if (action == SQLITE_ALTER_TABLE) connection.altered_table_ = true;
  if (action == SQLITE_SAVEPOINT && first != nullptr && std::strcmp(first, "ROLLBACK") == 0) ++connection.rollbacks_;

  if (action == SQLITE_ATTACH && compiles)
    return forbid(connection, "ATTACH is not allowed: a session works on one database",
                  "open the other file by itself");
  // At the time of step ATTACH comes from VACUUM alone, which copies every table: INTO a file, or one without a name.
  if (action == SQLITE_ATTACH && connection.for_clients_ && first != nullptr && *first != '\0')
    return forbid(connection, "VACUUM INTO would write a file of the server", "COPY writes tensors and rows");
  if (action == SQLITE_ATTACH && first != nullptr && *first != '\0' && is_of_open_database(AT_FDCWD, first))
    return forbid(connection, "VACUUM INTO would write a file of a database that is open here", "name another file");
  if (action == SQLITE_ATTACH && first != nullptr && sqlite3_strnicmp(first, "file:", 5) == 0)
    return forbid(connection, "VACUUM INTO takes a path, not a URI", "write it as './file:...'");
  if (action == SQLITE_ATTACH && connection.origin_ == SqliteHandle::Origin::UserStep) connection.vacuums_ = true;
  if (action == SQLITE_PRAGMA && second != nullptr && !is_one_of(kPragmasWithArgument, first))
    return forbid(connection, "this pragma could harm the database and cannot be set", "");
  if (action == SQLITE_PRAGMA && connection.for_clients_ && !is_pragma_of_clients(first, second))
    return forbid(connection, "this pragma is not for clients of a server", "PRAGMA table_info and the like are");
  if (action == SQLITE_CREATE_VTABLE && shows_bytes(second, connection.for_clients_))
    return forbid(connection, "virtual tables of this kind are not allowed", "use fts5, fts4 or rtree");
  if (action == SQLITE_FUNCTION && is_one_of(kFunctionsOfNobody, second))
    return forbid(connection, "extensions cannot be loaded", "");
  return SQLITE_OK;
}

int SqliteAuthorizer::forbid(SqliteHandle& connection, const char* reason, const char* hint) {
  deny(connection, reason, hint);
  connection.denial_kind_ = ErrorKind::Permission;
  return SQLITE_DENY;
}

int SqliteAuthorizer::deny(SqliteHandle& connection, const char* reason, const char* hint) {
  connection.denial_kind_ = ErrorKind::ReadOnly;
  connection.denial_ = reason;
  connection.denial_hint_ = hint;
  return SQLITE_DENY;
}

}  // namespace eindb
