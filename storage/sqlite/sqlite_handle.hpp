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

struct sqlite3;

namespace eindb {

/// What takes part in the transactions of a connection, whatever SQL begins and ends them.
class CommitHooks {
 public:
  CommitHooks() = default;
  virtual ~CommitHooks() = default;
  CommitHooks(const CommitHooks&) = delete;
  CommitHooks& operator=(const CommitHooks&) = delete;

  /// SQLite is about to commit: an exception makes that a rollback, and is what the statement fails with. Must not use
  /// the connection.
  virtual void before_commit() = 0;
  /// The outermost transaction is committed, and SQLite has returned from the call that did it.
  virtual void after_commit() noexcept = 0;
  /// The outermost transaction is undone, also while the connection is closed. Must not use the connection.
  virtual void after_rollback() noexcept = 0;
};

/// An open database of SQLite, as all see it that call SQLite for a connection: the handle, whose SQL it compiles or
/// runs, how its errors become eindb::Error, and what takes part in its transactions. SqliteConnection is one that
/// makes statements; statements, blobs and the authorizer know this part of it alone.
///
/// Threads: one at a time, except interrupt().
class SqliteHandle {
 public:
  enum class Access : std::uint8_t {
    Create,     ///< read and write; an absent file is created
    ReadWrite,  ///< read and write; fails if the file is absent
    ReadOnly,   ///< creates and changes nothing
    Immutable,  ///< as ReadOnly on media that nobody can write: takes no locks
  };

  SqliteHandle(const SqliteHandle&) = delete;
  SqliteHandle& operator=(const SqliteHandle&) = delete;

  /// What messages call the database: its path.
  const std::string& name() const { return name_; }
  sqlite3* handle() const { return handle_; }

  /// True between BEGIN or SAVEPOINT and the matching end.
  bool in_transaction() const;

  /// From now on the hooks take part in the transactions, in the place of others. They are kept until the connection is
  /// closed.
  void set_commit_hooks(std::unique_ptr<CommitHooks> hooks) { hooks_ = std::move(hooks); }
  /// Null: there are none.
  CommitHooks* commit_hooks() const { return hooks_.get(); }

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

  /// Throws the Error for SQLite's result `code` of this connection's last call. With `user_sql` it has a span into
  /// that text.
  [[noreturn]] void fail(int code, std::optional<std::string_view> user_sql = std::nullopt);
  /// Keeps what a callback of SQLite failed with, as no exception may pass through SQLite: the call that SQLite ends
  /// with an error throws it.
  void keep_failure(std::exception_ptr failure) noexcept { callback_failure_ = std::move(failure); }
  /// Error{Io} if what was read just now could not be read (storage/sqlite/mapped_reads.hpp).
  void require_readable() const;

 protected:
  /// `location` is a file's path or ":memory:".
  SqliteHandle(const std::string& location, Access access);
  ~SqliteHandle();

  friend class SqliteStatement;
  friend class SqliteAuthorizer;

  /// Whose SQL SQLite compiles or runs now.
  enum class Origin : std::uint8_t { Eindb, UserPrepare, UserStep };
  class OriginScope;

  /// After a call that may have run a COMMIT.
  void notice_commit() noexcept;
  /// What SQLite calls meanwhile must still be there.
  void close() noexcept;

  Origin origin_ = Origin::Eindb;
  bool altered_table_ = false;  // by the statement that is compiled now
  bool vacuums_ = false;        // the statement that runs now
  bool for_clients_ = false;
  ErrorKind denial_kind_ = ErrorKind::ReadOnly;
  std::string denial_;  // why the authorizer said no, for the message
  std::string denial_hint_;
  std::uint32_t rollbacks_ = 0;

 private:
  static int on_commit(void* handle) noexcept;
  static void on_rollback(void* handle) noexcept;

  std::string name_;
  sqlite3* handle_ = nullptr;
  const Cancellation* cancellation_ = nullptr;
  std::exception_ptr callback_failure_;
  std::chrono::milliseconds busy_timeout_{0};
  std::unique_ptr<CommitHooks> hooks_;  // SQLite calls them until it is closed
  bool uncommitted_ = false;            // a transaction has begun, and its end was not told to hooks_
};

/// Sets the origin for the time of one call into SQLite.
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
