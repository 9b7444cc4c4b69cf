#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "common/table_rights.hpp"

struct sqlite3;

namespace eindb {

/// A participant in the transactions of a connection, whatever SQL begins and ends them.
class CommitHooks {
 public:
  CommitHooks() = default;
  virtual ~CommitHooks() = default;
  CommitHooks(const CommitHooks&) = delete;
  CommitHooks& operator=(const CommitHooks&) = delete;

  /// Called when SQLite is about to commit. An exception turns the commit into a rollback and becomes the statement's
  /// error. Must not use the connection.
  virtual void before_commit() = 0;
  /// Called after the outermost transaction is committed and SQLite has returned from the committing call.
  virtual void after_commit() noexcept = 0;
  /// Called after the outermost transaction is rolled back, also while closing. Must not use the connection.
  virtual void after_rollback() noexcept = 0;
};

/// Follows what is committed to a database by its write-ahead log.
class LogFollower {
 public:
  LogFollower() = default;
  virtual ~LogFollower() = default;
  LogFollower(const LogFollower&) = delete;
  LogFollower& operator=(const LogFollower&) = delete;

  /// Called for each transaction that is durable in the log, before its commit returns and before the log is moved into
  /// the file. Must not use the connection.
  virtual void follow() noexcept = 0;
};

/// The file as a URI that SQLite opens with a parameter: file:/data/x.db?mode=ro.
std::string file_uri(const std::string& path, std::string_view parameter);

/// An open SQLite database as seen by all code that calls SQLite for a connection: the handle, the origin of the SQL
/// being compiled or run, the translation of errors to eindb::Error, and the CommitHooks. SqliteConnection adds the
/// preparation of statements; statements, blobs and the authorizer only use this base.
///
/// Threads: one at a time, except interrupt().
class SqliteHandle {
 public:
  enum class Access : std::uint8_t {
    Create,     ///< read and write; an absent file is created
    ReadWrite,  ///< read and write; fails if the file is absent
    ReadOnly,   ///< creates and changes nothing
    Immutable,  ///< like ReadOnly, on media that cannot be written: takes no locks
  };

  SqliteHandle(const SqliteHandle&) = delete;
  SqliteHandle& operator=(const SqliteHandle&) = delete;

  /// The name in messages: the path.
  const std::string& name() const { return name_; }
  sqlite3* handle() const { return handle_; }

  /// True between BEGIN or SAVEPOINT and the matching end.
  bool in_transaction() const;

  /// Installs the hooks, replacing others; they live until the connection is closed.
  void set_commit_hooks(std::unique_ptr<CommitHooks> hooks) { hooks_ = std::move(hooks); }
  /// Null if there are none.
  CommitHooks* commit_hooks() const { return hooks_.get(); }

  /// Has the transactions of this connection followed, from the next one on; null: not any more.
  void set_log_follower(std::shared_ptr<LogFollower> follower) { follower_ = std::move(follower); }

  void set_busy_timeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds busy_timeout() const { return busy_timeout_; }
  /// SQL that runs long polls `cancellation` and stops with its error. Null disables this.
  void watch(const Cancellation* cancellation);
  /// Null if nothing is watched.
  const Cancellation* watched() const { return cancellation_; }
  /// Throws Error{Cancelled} if SQL should stop; for callbacks that run long between two SQLite instructions.
  void check_cancelled() const;
  /// Stops the running SQL with Error{Cancelled}. Safe from any thread and from signal handlers.
  void interrupt() noexcept;

  /// Throws the Error for the result `code` of this connection's last SQLite call. With `user_sql`, the error has a
  /// span into that text.
  [[noreturn]] void fail(int code, std::optional<std::string_view> user_sql = std::nullopt);
  /// Stores the failure of a SQLite callback, since no exception may pass through SQLite. The wrapper throws it when
  /// the SQLite call returns with an error.
  void keep_failure(std::exception_ptr failure) noexcept { callback_failure_ = std::move(failure); }
  /// Throws Error{Io} if the last call read an unreadable page (storage/sqlite/mapped_reads.hpp).
  void require_readable() const;

 protected:
  /// `location` is a file's path or ":memory:".
  SqliteHandle(const std::string& location, Access access);
  ~SqliteHandle();

  friend class SqliteStatement;
  friend class SqliteAuthorizer;

  /// The origin of the SQL being compiled or run.
  enum class Origin : std::uint8_t { Eindb, UserPrepare, UserStep };
  class OriginScope;

  /// To be called after a call that may have run a COMMIT.
  void notice_commit() noexcept;
  /// Closes the handle. Objects that SQLite calls back meanwhile must still exist.
  void close() noexcept;

  Origin origin_ = Origin::Eindb;
  bool altered_table_ = false;  // by the statement being compiled
  bool vacuums_ = false;        // the running statement is a VACUUM
  bool for_clients_ = false;
  std::shared_ptr<const TableRights> rights_;  // null: the SQL is not limited to what was granted
  ErrorKind denial_kind_ = ErrorKind::ReadOnly;
  std::string denial_;  // the authorizer's reason, for the message
  std::string denial_hint_;
  std::uint32_t rollbacks_ = 0;

 private:
  static int on_commit(void* handle) noexcept;
  static void on_rollback(void* handle) noexcept;
  static int on_log(void* handle, sqlite3* database, const char* schema, int frames) noexcept;

  std::string name_;
  sqlite3* handle_ = nullptr;
  const Cancellation* cancellation_ = nullptr;
  std::exception_ptr callback_failure_;
  std::chrono::milliseconds busy_timeout_{0};
  std::unique_ptr<CommitHooks> hooks_;  // SQLite calls them until it is closed
  std::shared_ptr<LogFollower> follower_;
  bool uncommitted_ = false;  // a transaction has begun, and hooks_ have not been told of its end
};

/// Sets the origin for the duration of one SQLite call.
class SqliteHandle::OriginScope {
 public:
  OriginScope(SqliteHandle& handle, Origin origin) : handle_(handle), saved_(std::exchange(handle.origin_, origin)) {
    handle.denial_.clear();
    handle.vacuums_ = false;
    if (origin != Origin::Eindb) handle.callback_failure_ = nullptr;
  }
  ~OriginScope() { handle_.origin_ = saved_; }
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

 private:
  SqliteHandle& handle_;
  Origin saved_;
};

}  // namespace eindb
