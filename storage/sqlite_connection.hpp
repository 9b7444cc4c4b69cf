#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "storage/sql_function.hpp"
#include "storage/sqlite_statement.hpp"

struct sqlite3;

namespace eindb {

class ShardAccess;
class ShardedContents;

/// One statement of a user's text and where the next one begins.
struct UserStatement {
  std::optional<SqliteStatement> statement;  ///< nullopt if the text holds only spaces and comments
  std::size_t tail = 0;                      ///< offset of the first byte after the statement
};

/// One connection to SQLite. SQLite's errors leave it as eindb::Error, with the database's name in the message.
///
/// Whose SQL it is decides what it may do. `prepare` and `execute` are for eindb's own SQL, which may write the tables
/// named eindb_*, but never through a trigger that somebody left there. `prepare_user` is for SQL that a person wrote:
/// it may read all but secrets and write what is theirs (see storage/sqlite_authorizer.hpp).
///
/// Threads: one at a time, except interrupt(). Tasks that share the connection take mutex() for each use.
/// Statements and blobs of a connection must not outlive it.
class SqliteConnection {
 public:
  enum class Access : std::uint8_t {
    Create,     ///< read and write; an absent file is created
    ReadWrite,  ///< read and write; fails if the file is absent
    ReadOnly,   ///< creates and changes nothing
    Immutable,  ///< as ReadOnly on media that nobody can write: takes no locks
  };

  /// `location` is a file's path or ":memory:".
  SqliteConnection(const std::string& location, Access access);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  /// What messages call the database: its path.
  const std::string& name() const { return name_; }

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

  /// True between BEGIN or SAVEPOINT and the matching end.
  bool in_transaction() const;
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

  /// From now on SQL of a person is that of a server's clients, who may do less (storage/sqlite_authorizer.hpp).
  void restrict_to_clients() { for_clients_ = true; }

  /// What SQLite may take for all connections of the process; whoever asks for more gets Error{MemoryLimit}. Any
  /// thread.
  static void limit_memory_of_all(std::int64_t bytes);
  /// Whether they have more than half of that.
  static bool is_memory_short();
  /// Lets go of pages that no statement uses now.
  void release_pages() noexcept;

  /// Sharded tensors are read by way of `access` from now on, and what is written to them is part of this connection's
  /// transactions.
  void use_shards(std::shared_ptr<ShardAccess> access);
  /// Null: use_shards() was not called.
  ShardedContents* shards() { return shards_.get(); }
  /// Whether no connection, of whatever process, reads a state older than the last commit, as far as can be told
  /// without waiting. Outside any transaction; moves what is in the write-ahead log into the file.
  bool all_read_the_last_commit();

  void set_busy_timeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds busy_timeout() const { return busy_timeout_; }
  /// SQL that runs long looks at `cancellation` now and then and stops with its error. Null: nobody asks.
  void watch(const Cancellation* cancellation);
  /// Who asks; null: nobody does.
  const Cancellation* watched() const { return cancellation_; }
  /// Throws Error{Cancelled} if SQL should stop: for callbacks that work long between two instructions.
  void check_cancelled() const;
  /// Stops the SQL that runs now with Error{Cancelled}. Any thread, also a signal handler.
  void interrupt() noexcept;

  /// Guards tile reads and writes of several tasks on this one connection.
  std::mutex& mutex() { return mutex_; }

  sqlite3* handle() const { return handle_; }
  /// Throws the Error for SQLite's result `code` of this connection's last call. With `user_sql` it has a span into
  /// that text.
  [[noreturn]] void fail(int code, std::optional<std::string_view> user_sql = std::nullopt);
  /// Keeps what a callback of SQLite failed with, as no exception may pass through SQLite: the call that SQLite ends
  /// with an error throws it.
  void keep_failure(std::exception_ptr failure) noexcept { callback_failure_ = std::move(failure); }

 private:
  friend class SqliteStatement;
  friend class SqliteTransaction;
  friend class SqliteAuthorizer;

  /// Whose SQL SQLite compiles or runs now.
  enum class Origin : std::uint8_t { Eindb, UserPrepare, UserStep };
  class OriginScope;

  /// Moves with every change that this connection makes.
  struct ChangePoint {
    std::int64_t rows = 0;    ///< written so far
    std::int64_t schema = 0;  ///< SQLite's schema cookie
    friend bool operator==(const ChangePoint&, const ChangePoint&) = default;
  };
  ChangePoint change_point();
  static int on_commit(void* connection) noexcept;
  static void on_rollback(void* connection) noexcept;
  /// After a call that may have run a COMMIT.
  void notice_commit() noexcept;
  void close() noexcept;

  std::string name_;
  sqlite3* handle_ = nullptr;
  std::mutex mutex_;
  Origin origin_ = Origin::Eindb;
  bool altered_table_ = false;  // by the statement that is compiled now
  bool vacuums_ = false;        // the statement that runs now
  bool for_clients_ = false;
  ErrorKind denial_kind_ = ErrorKind::ReadOnly;
  std::string denial_;  // why the authorizer said no, for the message
  std::string denial_hint_;
  std::uint32_t rollbacks_ = 0;
  std::uint64_t blobs_written_ = 0;
  std::optional<ChangePoint> clean_point_;  // of the outermost SqliteTransaction
  const Cancellation* cancellation_ = nullptr;
  std::exception_ptr callback_failure_;
  std::map<std::string, SqliteStatement, std::less<>> kept_;  // compiled, reset
  std::chrono::milliseconds busy_timeout_{0};
  std::unique_ptr<ShardedContents> shards_;  // SQLite calls it until it is closed
};

/// Sets the origin for the time of one call into SQLite.
class SqliteConnection::OriginScope {
 public:
  OriginScope(SqliteConnection& connection, Origin origin)
      : connection_(connection), saved_(std::exchange(connection.origin_, origin)) {
    connection.denial_.clear();
    connection.vacuums_ = false;
    if (origin != Origin::Eindb) connection.callback_failure_ = nullptr;
  }
  ~OriginScope() { connection_.origin_ = saved_; }
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

 private:
  SqliteConnection& connection_;
  Origin saved_;
};

/// "name" with quotes doubled: an identifier as SQL reads it.
std::string quote_identifier(std::string_view name);

}  // namespace eindb
