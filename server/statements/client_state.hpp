#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session.hpp"
#include "server/login/client_parameters.hpp"
#include "server/pg_catalog/pg_catalog.hpp"
#include "server/protocol/shared_bytes.hpp"
#include "server/sessions/client_quota.hpp"
#include "server/sessions/session_pool.hpp"
#include "server/statements/client_statement.hpp"
#include "server/statements/cursor.hpp"
#include "server/statements/portal.hpp"

namespace eindb {

/// The state that the server keeps for one client between messages: parameters, statements, portals, cursors, its
/// transaction, and a session while the session has state of the client's.
///
///     no session --session()--> a session of the pool --settle()--> given back, unless it has state
///
/// Used by one thread at a time, except for cancel().
class ClientState {
 public:
  enum class Transaction : char { None = 'I', Open = 'T', Failed = 'E' };

  /// `of_all`: the limit on the memory that the server holds for all clients.
  explicit ClientState(const std::shared_ptr<SharedBytes>& of_all);
  ~ClientState();
  ClientState(const ClientState&) = delete;
  ClientState& operator=(const ClientState&) = delete;

  /// Sets the source of sessions, once the client's user is known. Must be called first.
  void use(SessionPool& pool, ClientUser user);
  /// The session that statements run in, with the client's settings. Throws Error if none is available.
  Session& session();
  /// Call before a statement that may use tables of pg_catalog or their functions.
  void show_catalog();
  /// Makes the functions of pg_catalog alone visible to the session.
  void add_functions();
  /// The statement as SQLite takes it. Throws CodedError for what PostgreSQL would refuse.
  Translation translate(std::string_view text, std::span<const std::int32_t> stated = {});
  /// Call before rows of earlier statements are read for a new one: the session's statement_timeout counts from now,
  /// and requests to cancel the last statement are over.
  void begin_time();
  /// Call while nothing runs and no message is waiting: returns the session to the pool unless it has state.
  void settle();
  /// Cancels the running statement. Thread-safe.
  void cancel() noexcept;

  /// The prepared statement with this name. CodedError if there is none.
  std::shared_ptr<ClientStatement> statement(std::string_view name) const;
  /// The portal with this name. CodedError if there is none.
  std::shared_ptr<Portal> portal(std::string_view name) const;

  Transaction transaction() const { return transaction_; }
  /// Whether a transaction is open in the database, explicit or implicit.
  bool in_transaction() const { return entered_; }
  /// BEGIN. An implicit transaction, which a Sync would end, becomes explicit. The database's transaction begins with
  /// the first statement.
  void begin(const TransactionModes& modes);
  /// SET TRANSACTION: the modes that are given. CodedError if the transaction cannot be READ ONLY or READ WRITE now.
  void set_modes(const TransactionModes& modes);
  /// SET TRANSACTION READ ONLY | READ WRITE. CodedError if that is not possible now.
  void set_read_only(bool read_only);
  /// Opens a transaction for all statements up to the next Sync, unless one is open.
  void begin_implicit();
  /// Call before a statement that a failed transaction does not take: CodedError then.
  void check_not_failed() const;
  /// Call before each statement; begins the database's transaction if one is open here. `writes` of the first statement
  /// counts: a writing transaction waits for other writers now, before it has read anything. Later it could only fail
  /// if another connection had written in between.
  void enter_transaction(bool writes);
  /// COMMIT by the client; `chain`: AND CHAIN. Rolls a failed transaction back and returns false.
  bool commit(bool chain);
  void rollback(bool chain);
  /// Only in a transaction of the client's; CodedError else, or if there is no savepoint of that name. The last one
  /// also ends a transaction's failure.
  void set_savepoint(const std::string& name);
  void release_savepoint(const std::string& name);
  void roll_back_to_savepoint(const std::string& name);
  /// CodedError unless the client has begun a transaction, which `statement` needs.
  void require_transaction(const std::string& statement) const;
  /// Call at a Sync: commits an implicit transaction.
  void end_implicit();
  /// Call after an error: rolls an implicit transaction back, and marks an explicit one as failed.
  void fail();
  /// SET LOCAL: changes parameters and settings by `change` up to the end of the transaction; CodedError outside of
  /// one.
  void set_locally(const std::function<void()>& change);
  /// Whether something is set up to the end of the transaction.
  bool has_local_settings() const { return lasting_.has_value(); }
  /// SET: changes parameters and settings by `change`, also those that hold after the transaction.
  void set(const std::function<void()>& change);
  /// Updates the state after a statement that may have changed the transaction itself.
  void look_at_transaction();

  /// Throws CodedError if the cursor cannot be declared now.
  void check_declaration(const CursorDeclaration& declaration) const;
  /// Opens a cursor on the rows of `result`, which must have some, for a declaration that was checked.
  void open_cursor(const CursorDeclaration& declaration, std::string text, Result result);
  bool has_cursor(std::string_view name) const { return cursors_.contains(name); }
  /// The cursor with this name. CodedError if there is none.
  std::shared_ptr<Cursor> cursor(std::string_view name) const;
  /// The formats of the statement's rows for a simple query, which names none: those of a BINARY cursor's are binary.
  std::vector<frontend::Format> simple_formats(const ClientStatement& statement) const;
  /// CLOSE; nullopt: all.
  void close_cursor(const std::optional<std::string>& name);
  /// Call before a statement that may change what cursors and portals read: they keep the rows that there are now.
  /// Throws CodedError if there is no memory for them.
  void keep_rows();

  /// DISCARD ALL.
  void discard();

  ClientQuota statement_quota;
  ClientQuota portal_quota;
  ClientQuota cursor_quota;
  ClientIdentity identity;  ///< its settings are unused; `parameters` has them
  ClientParameters parameters;
  std::map<std::string, std::shared_ptr<ClientStatement>, std::less<>> statements;
  std::map<std::string, std::shared_ptr<Portal>, std::less<>> portals;

 private:
  struct Savepoint {
    std::string name;
    std::size_t cursors = 0;  // declared before
    ClientQuota::Share share;
  };
  struct OpenCursor {
    std::shared_ptr<Cursor> cursor;
    std::size_t number = 0;  // of all that the client has declared
    bool outlives = false;   // its transaction, which is committed
  };

  /// The parameters and settings to restore after a transaction that has changed them by SET LOCAL.
  struct LastingSettings {
    ClientParameters parameters;
    Settings settings;
  };

  void forget_cancellation();
  void swap_settings(LastingSettings& other);
  void leave_transaction(bool commits);
  void end_chained(bool commits, bool chain);
  void forget_transaction();
  void keep_rows_of_held_cursors();
  std::size_t find_savepoint(const std::string& name) const;
  // Implicit and explicit transactions exclude each other, and the database has a transaction only for one of them.
  bool is_valid() const {
    const bool own = transaction_ != Transaction::None;
    return !(implicit_ && own) && (!entered_ || implicit_ || own);
  }

  SessionPool* pool_ = nullptr;
  ClientUser user_;
  std::optional<Settings> settings_;  // used while there is no session; nullopt: the defaults
  std::unique_ptr<PooledSession> session_;
  std::mutex running_mutex_;    // guards running_
  Session* running_ = nullptr;  // session of session_, for cancel()
  std::atomic<bool> cancelled_ = false;
  Transaction transaction_ = Transaction::None;
  bool implicit_ = false;
  bool entered_ = false;  // the database has begun the transaction
  std::optional<LastingSettings> lasting_;
  ClientQuota savepoint_quota_;
  std::vector<Savepoint> savepoints_;  // the database has those of a transaction that it has begun
  std::map<std::string, OpenCursor, std::less<>> cursors_;
  std::size_t declared_ = 0;  // number of cursors so far
};

}  // namespace eindb
