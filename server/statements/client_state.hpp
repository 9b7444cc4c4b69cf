#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/session.hpp"
#include "server/login/client_parameters.hpp"
#include "server/pg_catalog/pg_catalog.hpp"
#include "server/protocol/shared_bytes.hpp"
#include "server/sessions/client_quota.hpp"
#include "server/sessions/session_pool.hpp"
#include "server/statements/client_statement.hpp"
#include "server/statements/portal.hpp"

namespace eindb {

/// The state that the server keeps for one client between messages: parameters, statements, portals, its transaction,
/// and a session while the session has state of the client's.
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
  void begin();
  /// Opens a transaction for all statements up to the next Sync, unless one is open.
  void begin_implicit();
  /// Call before each statement; begins the database's transaction if one is open here. `writes` of the first statement
  /// counts: a writing transaction waits for other writers now, before it has read anything. Later it could only fail
  /// if another connection had written in between.
  void enter_transaction(bool writes);
  /// COMMIT by the client. Rolls a failed transaction back and returns false.
  bool commit();
  void rollback();
  /// Call at a Sync: commits an implicit transaction.
  void end_implicit();
  /// Call after an error: rolls an implicit transaction back, and marks an explicit one as failed.
  void fail();
  /// Updates the state after a statement that may have changed the transaction itself.
  void look_at_transaction();

  /// DISCARD ALL.
  void discard();

  ClientQuota statement_quota;
  ClientQuota portal_quota;
  ClientIdentity identity;  ///< its settings are unused; `parameters` has them
  ClientParameters parameters;
  std::map<std::string, std::shared_ptr<ClientStatement>, std::less<>> statements;
  std::map<std::string, std::shared_ptr<Portal>, std::less<>> portals;

 private:
  void leave_transaction(const char* statement);
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
  Transaction transaction_ = Transaction::None;
  bool implicit_ = false;
  bool entered_ = false;  // the database has begun the transaction
};

}  // namespace eindb
