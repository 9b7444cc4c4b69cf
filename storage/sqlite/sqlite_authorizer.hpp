#pragma once

namespace eindb {

class SqliteHandle;

/// Decides, while SQLite compiles a statement, what the statement may touch.
///
/// SQL of a person may read everything, but for the tables that passwords are checked against: eindb_users and
/// eindb_secrets, which VACUUM alone may copy. It may not
///  - write, create, alter or drop anything named eindb_* (in any case), also not through a trigger of its own;
///  - attach other files (VACUUM INTO may write one), or change or detach a schema that eindb attached;
///  - load extensions;
///  - give a pragma a value, save for a list of harmless ones.
/// SQL of a server's clients (SqliteConnection::restrict_to_clients) may not either
///  - write a file by VACUUM INTO;
///  - use pragmas that do anything but tell, nor those that tell of the server's files;
///  - make virtual tables but those that keep their contents in the database.
/// eindb's own SQL may do all this, but no trigger may write in its name: a database file from
/// elsewhere can hold any.
class SqliteAuthorizer {
 public:
  /// Installs it; lasts as long as the connection.
  static void install(SqliteHandle& connection);

 private:
  static int callback(void* connection, int action, const char* first, const char* second, const char* database,
                      const char* trigger) noexcept;
  static int decide_for_eindb(SqliteHandle& connection, int action, const char* trigger);
  static int decide_for_user(SqliteHandle& connection, int action, const char* first, const char* second,
                             const char* database);
  /// What nobody may, or this one: Error{Permission}; deny() is Error{ReadOnly}.
  static int forbid(SqliteHandle& connection, const char* reason, const char* hint);
  static int deny(SqliteHandle& connection, const char* reason, const char* hint);
};

/// Whether `name` begins with eindb_, in any case.
bool is_reserved_name(const char* name);

}  // namespace eindb
