#pragma once

namespace eindb {

class SqliteHandle;

/// Decides, while SQLite compiles a statement, what the statement may access.
///
/// A user's SQL may read everything except the tables for password checks, eindb_users and eindb_secrets, which only
/// VACUUM may copy. It may not
/// - write, create, alter or drop anything named eindb_* (in any case), not even through a trigger of its own;
/// - attach other files (VACUUM INTO may write one), or change or detach a schema that eindb attached;
/// - load extensions;
/// - give a pragma a value, except for a list of harmless ones.
///
/// SQL of a server's clients (SqliteConnection::restrict_to_clients) may furthermore not
/// - write a file by VACUUM INTO;
/// - use pragmas other than queries, or query the server's files;
/// - create virtual tables except those that keep their contents in the database.
///
/// SQL of a user who sees only what was granted (SqliteConnection::limit_to) reads and writes the tables of the
/// database by these rights, also where a view or a trigger does it, and changes no schema but that of temporary
/// tables.
///
/// eindb's own SQL may do all this, but no trigger may do it on its behalf, since a database file from elsewhere can
/// contain any trigger.
class SqliteAuthorizer {
 public:
  /// Installs the authorizer for the life of the connection.
  static void install(SqliteHandle& connection);

 private:
  static int callback(void* connection, int action, const char* first, const char* second, const char* database,
                      const char* trigger) noexcept;
  static int decide_for_eindb(SqliteHandle& connection, int action, const char* trigger);
  static int decide_for_user(SqliteHandle& connection, int action, const char* first, const char* second,
                             const char* database);
  /// Whether the user's rights include the action; otherwise it is denied with the right that is missing.
  static bool is_granted(SqliteHandle& connection, int action, const char* first, const char* database);
  /// Denies with Error{Permission}, for operations that no user, or not this user, may do. deny() gives
  /// Error{ReadOnly}.
  static int forbid(SqliteHandle& connection, const char* reason, const char* hint);
  static int deny(SqliteHandle& connection, const char* reason, const char* hint);
};

/// Whether `name` begins with eindb_, in any case.
bool is_reserved_name(const char* name);

}  // namespace eindb
