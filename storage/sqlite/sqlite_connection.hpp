#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "storage/sqlite/sql_function.hpp"
#include "storage/sqlite/sqlite_handle.hpp"
#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {

/// One statement of a user's text and where the next one begins.
struct UserStatement {
  std::optional<SqliteStatement> statement;  ///< nullopt if the text holds only spaces and comments
  std::size_t tail = 0;                      ///< offset of the first byte after the statement
};

/// One connection to SQLite. SQLite's errors leave it as eindb::Error, with the database's name in the message.
///
/// Whose SQL it is decides what it may do. `prepare` and `execute` are for eindb's own SQL, which may write the tables
/// named eindb_*, but never through a trigger that somebody left there. `prepare_user` is for SQL that a person wrote:
/// it may read all but secrets and write what is theirs (see storage/sqlite/sqlite_authorizer.hpp).
///
/// Threads: one at a time, except interrupt(). Tasks that share the connection take mutex() for each use.
/// Statements and blobs of a connection must not outlive it.
class SqliteConnection : public SqliteHandle {
 public:
  /// `location` is a file's path or ":memory:".
  SqliteConnection(const std::string& location, Access access);
  ~SqliteConnection();

  /// Runs every statement of eindb's own `sql`; rows are dropped.
  void execute(const std::string& sql);
  SqliteStatement prepare(std::string_view sql);
  /// Runs one statement of eindb's own without parameters or rows, BEGIN or COMMIT say, and keeps it compiled.
  void execute_kept(std::string_view sql);
  /// eindb's own statement, kept compiled: whoever uses it resets it.
  SqliteStatement& kept(std::string_view sql);
  /// The first column of the only row of eindb's own query, which is kept compiled: a constant.
  std::int64_t query_integer(std::string_view sql);
  std::string query_text(std::string_view sql);
  /// The first column of the first row of eindb's own query, which is kept compiled; NULL if there is no row.
  /// Arguments that the query does not use are left out.
  SqliteValue query_value(std::string_view sql, std::span<const SqliteValue> arguments);
  /// Compiles the first statement of `sql`. Errors have a span into `sql` where SQLite knows the place.
  UserStatement prepare_user(std::string_view sql);

  /// Makes the function known to SQL, in the place of another of the same name and number of arguments. Error{Busy} if
  /// that one is being run.
  void add_function(SqlFunction function);

  /// Whether the table (not a view) `table` of the main database has all of `columns`.
  bool has_table(const std::string& table, std::initializer_list<const char*> columns);

  /// True while a write transaction is open, which keeps others from writing.
  bool has_written() const;
  /// Inside a transaction: takes the right to write, which others then wait for, before there is anything to write.
  /// Error{Busy}, Error{Conflict} or Error{ReadOnly} if it cannot be had.
  void begin_writing();
  /// True while a read or a write transaction is open, also the implicit one of a running SELECT.
  bool is_active() const;
  /// True inside a SqliteTransaction that has changed nothing yet: what it sees is what is committed.
  bool sees_committed_state();
  /// Rows changed by the last INSERT, UPDATE or DELETE.
  std::int64_t changes() const;
  std::int64_t last_insert_rowid() const;
  bool is_read_only() const;

  /// Changes with every change of the schema that this connection sees, its own rollbacks included. For caches of what
  /// was read from the catalog.
  std::uint64_t schema_version();

  /// Changes with every change to rows that this connection may see: its own, undone or not, and those of others, once
  /// a transaction of this connection sees them. For caches of what was read inside a statement. Costs no SQL.
  std::uint64_t data_version();
  /// A BLOB is opened for writing, which SQLite does not count among the changes.
  void note_blob_write() { ++blobs_written_; }
  /// Changes with every commit of others that this connection may see. Costs a little SQL.
  std::uint32_t commits_of_others();
  /// The same as data_version(), also where no transaction has read yet: then it looks at the file. Inside a
  /// transaction the state that it tells of is held from here on.
  std::uint64_t current_data_version();

  /// From now on SQL of a person is that of a server's clients, who may do less (storage/sqlite/sqlite_authorizer.hpp).
  void restrict_to_clients() { for_clients_ = true; }

  /// What SQLite may take for all connections of the process; whoever asks for more gets Error{MemoryLimit}. Any
  /// thread.
  static void limit_memory_of_all(std::int64_t bytes);
  /// Whether they have more than half of that.
  static bool is_memory_short();
  /// Lets go of pages that no statement uses now.
  void release_pages() noexcept;

  /// Whether no connection, of whatever process, reads a state older than the last commit, as far as can be told
  /// without waiting. Outside any transaction; moves what is in the write-ahead log into the file.
  bool all_read_the_last_commit();

  /// Guards tile reads and writes of several tasks on this one connection.
  std::mutex& mutex() { return mutex_; }

 private:
  friend class SqliteTransaction;

  /// Moves with every change that this connection makes.
  struct ChangePoint {
    std::int64_t rows = 0;    ///< written so far
    std::int64_t schema = 0;  ///< SQLite's schema cookie
    friend bool operator==(const ChangePoint&, const ChangePoint&) = default;
  };
  ChangePoint change_point();

  std::mutex mutex_;
  std::uint64_t blobs_written_ = 0;
  std::optional<ChangePoint> clean_point_;                    // of the outermost SqliteTransaction
  std::map<std::string, SqliteStatement, std::less<>> kept_;  // compiled, reset
};

/// "name" with quotes doubled: an identifier as SQL reads it.
std::string quote_identifier(std::string_view name);

}  // namespace eindb
