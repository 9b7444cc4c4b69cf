#include "storage/sqlite/sqlite_authorizer.hpp"

#include <fcntl.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "common/open_databases.hpp"
#include "common/poll_steps.hpp"
#include "storage/sqlite/sqlite_handle.hpp"

namespace eindb {
namespace {

/// Pragmas whose argument a user may set: they inspect the schema, check it, or change settings of this session alone.
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

/// Clients may only use pragmas that query: settings would persist in a session that other clients get next.
/// `database_list` is missing, as it names the server's files.
constexpr std::array<std::string_view, 24> kPragmasOfClients{
    "application_id",   "collation_list", "compile_options", "data_version", "encoding",   "foreign_key_check",
    "foreign_key_list", "freelist_count", "function_list",   "index_info",   "index_list", "index_xinfo",
    "integrity_check",  "journal_mode",   "max_page_count",  "module_list",  "page_count", "page_size",
    "pragma_list",      "quick_check",    "schema_version",  "table_info",   "table_list", "table_xinfo"};

/// The pragmas of clients that take an argument without setting anything.
constexpr std::array<std::string_view, 9> kArgumentsOfClients{
    "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo",
    "integrity_check",   "quick_check",      "table_info", "table_xinfo"};

/// Virtual tables that keep their contents in tables of the database. Others expose the bytes of the file, or the
/// statements of the connection.
constexpr std::array<std::string_view, 8> kModulesOfClients{"fts3",      "fts4",  "fts4aux",   "fts5",
                                                            "fts5vocab", "rtree", "rtree_i32", "geopoly"};

/// SQLite tables that show the file's layout or the statements of the connection.
constexpr std::array<std::string_view, 5> kTablesOfOperators{"dbstat", "sqlite_stmt", "sqlite_memstat", "bytecode",
                                                             "tables_used"};

/// Functions that take code or addresses as arguments.
constexpr std::array<std::string_view, 2> kFunctionsOfNobody{"load_extension", "fts3_tokenizer"};

/// Number of callbacks between polls for cancellation while SQLite compiles. SQLite calls no progress handler then, and
/// views and WITH clauses that name each other twice take exponentially many steps.
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

/// Whether the action creates, changes or drops the object of the schema that it names.
bool changes_schema(int action) {
  return (action >= SQLITE_CREATE_INDEX && action <= SQLITE_CREATE_VIEW) ||
         (action >= SQLITE_DROP_INDEX && action <= SQLITE_DROP_VIEW) || action == SQLITE_CREATE_VTABLE ||
         action == SQLITE_DROP_VTABLE;
}

/// VACUUM copies every table, eindb's included, into a temporary database. A user's SQL can only name these two.
bool is_visible_database(const char* name) {
  return name == nullptr || sqlite3_stricmp(name, "main") == 0 || sqlite3_stricmp(name, "temp") == 0;
}

/// Attached schemas are read-only. At step time, writes to other databases come from VACUUM.
bool changes_attached(int action, const char* first, const char* database) {
  if (action == SQLITE_ALTER_TABLE) return !is_visible_database(first);
  return (writes(action) || changes_schema(action)) && !is_visible_database(database);
}

/// SQLite's arguments depend on the action: usually `first` is the changed object and `second` its table; for ALTER
/// TABLE `first` is the database and `second` the table. A trigger that came with a file may be dropped from eindb's
/// tables.
bool changes_reserved(int action, const char* first, const char* second, const char* database) {
  if (action == SQLITE_ALTER_TABLE) return is_reserved_name(second) && is_visible_database(first);
  if (!is_visible_database(database)) return false;
  if (writes(action) || action == SQLITE_DROP_TRIGGER || action == SQLITE_DROP_TEMP_TRIGGER)
    return is_reserved_name(first);
  return changes_schema(action) && (is_reserved_name(first) || is_reserved_name(second));
}

/// The tables for password checks, eindb_users and eindb_secrets. If SQLite has sqlite_dbpage, which shows the file's
/// pages, that too.
bool is_secret(const char* table) {
  return sqlite3_stricmp(table, "eindb_users") == 0 || sqlite3_stricmp(table, "eindb_secrets") == 0 ||
         sqlite3_stricmp(table, "sqlite_dbpage") == 0;
}

/// Whether tables of the module `name` would expose what is_secret() hides; `for_clients`: or anything beyond tables.
bool shows_bytes(const char* name, bool for_clients) {
  return for_clients ? !is_one_of(kModulesOfClients, name) : is_secret(name);
}

bool is_of_temporary_object(int action) {
  return action == SQLITE_CREATE_TEMP_INDEX || action == SQLITE_CREATE_TEMP_TABLE ||
         action == SQLITE_CREATE_TEMP_TRIGGER || action == SQLITE_CREATE_TEMP_VIEW ||
         action == SQLITE_DROP_TEMP_INDEX || action == SQLITE_DROP_TEMP_TABLE || action == SQLITE_DROP_TEMP_TRIGGER ||
         action == SQLITE_DROP_TEMP_VIEW;
}

/// Whether the action changes what all users share beside the rows of tables.
bool changes_what_is_shared(int action, const char* first, const char* database) {
  const auto is_temp = [](const char* schema) { return schema != nullptr && sqlite3_stricmp(schema, "temp") == 0; };
  if (action == SQLITE_ALTER_TABLE) return !is_temp(first);
  if (action == SQLITE_REINDEX || action == SQLITE_ANALYZE) return !is_temp(database);
  if (writes(action) && first != nullptr && sqlite3_strnicmp(first, "sqlite_", 7) == 0) return !is_temp(database);
  return action == SQLITE_ATTACH || (changes_schema(action) && !is_of_temporary_object(action));
}

Right right_for(int action) {
  switch (action) {
    case SQLITE_INSERT: return Right::Insert;
    case SQLITE_UPDATE: return Right::Update;
    case SQLITE_DELETE: return Right::Delete;
    default: return Right::Select;
  }
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
  } catch (...) {  // out of memory for the message
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
  // This also applies at step time, when statements are recompiled and extensions compile SQL of their own.
  if (action == SQLITE_READ && is_secret(first) && !connection.vacuums_)
    return forbid(connection, "what passwords are checked against cannot be read", "SHOW USERS lists the users");
  if (action == SQLITE_READ && connection.for_clients_ && is_one_of(kTablesOfOperators, first))
    return forbid(connection, "this table tells of the server's own work", "");
  if (connection.rights_ != nullptr && !is_granted(connection, action, first, database)) return SQLITE_DENY;
  const bool compiles = connection.origin_ == SqliteHandle::Origin::UserPrepare;
  if (compiles && (action == SQLITE_DETACH || changes_attached(action, first, database)))
    return deny(connection, "the schemas beside the database's own are read-only",
                connection.for_clients_ ? "" : "open the file of an attached database by itself to change it");
  if (action == SQLITE_ALTER_TABLE) connection.altered_table_ = true;
  if (action == SQLITE_SAVEPOINT && first != nullptr && std::strcmp(first, "ROLLBACK") == 0) ++connection.rollbacks_;

  if (action == SQLITE_ATTACH && compiles)
    return forbid(connection, "ATTACH is not allowed inside of SQL", "it is a statement of its own");
  // At step time ATTACH can only come from VACUUM, which copies every table INTO a file, or into one without a name.
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

bool SqliteAuthorizer::is_granted(SqliteHandle& connection, int action, const char* first, const char* database) {
  const auto& rights = *connection.rights_;
  if (changes_what_is_shared(action, first, database)) {
    forbid(connection, "a user who is RESTRICTED changes no tables but temporary ones",
           "an ADMIN or a user who is READ WRITE can");
    return false;
  }
  const bool of_tables = writes(action) || action == SQLITE_READ;
  if (!of_tables || first == nullptr || (database != nullptr && sqlite3_stricmp(database, "main") != 0)) return true;
  const auto right = right_for(action);
  // What the database does not have is a function that stands as a table, or the result of a query in the statement.
  if (rights.has(first, right) || (right == Right::Select && !rights.protects(first))) return true;
  if (right == Right::Select &&
      (sqlite3_stricmp(first, "sqlite_schema") == 0 || sqlite3_stricmp(first, "sqlite_master") == 0))
    return true;
  forbid(connection, (std::string("permission denied for table ") + first).c_str(),
         (std::string("an ADMIN can GRANT ") + name_of(right) + " ON " + first + " TO " + rights.user()).c_str());
  return false;
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
