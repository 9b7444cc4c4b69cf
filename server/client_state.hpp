#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/session.hpp"
#include "server/client_command.hpp"
#include "server/client_parameters.hpp"
#include "server/data_type.hpp"
#include "server/dialect.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/row_writer.hpp"
#include "server/session_pool.hpp"

namespace eindb {

/// A statement as Parse left it: the server's own (`command`), or one for the engine.
struct ClientStatement {
  std::string text;
  Translation translation;  ///< what the engine is given instead
  std::optional<ClientCommand> command;
  std::shared_ptr<const PreparedStatement> prepared;  ///< null for a command, and for an empty statement
  std::vector<DataType> parameter_types;              ///< as the client said them, or as the engine takes them
  /// Once they are described they stay so, whatever becomes of the tables: clients keep what they were told.
  std::optional<std::vector<ClientColumn>> columns;
};

/// A statement with its values, and what is left of its rows.
struct Portal {
  std::shared_ptr<ClientStatement> statement;
  StatementInputs inputs;
  std::vector<frontend::Format> formats;
  std::optional<Result> result;  ///< once it runs
  std::vector<ClientColumn> columns;
  std::optional<Row> next_row;  ///< the row that comes next, or none is left; valid once it runs
  std::int64_t rows = 0;        ///< that were given
};

/// What the server keeps for one client from message to message: parameters, statements, portals, the state of its
/// transaction, and a session while there is something in it that is the client's.
///
///     no session --session()--> a session of the pool --settle()--> given back, unless it has state
///
/// Used by one thread at a time, but for cancel().
class ClientState {
 public:
  enum class Transaction : char { None = 'I', Open = 'T', Failed = 'E' };

  ClientState() = default;
  ~ClientState();
  ClientState(const ClientState&) = delete;
  ClientState& operator=(const ClientState&) = delete;

  /// Where sessions come from, once it is known who the client is. Before anything else.
  void use(SessionPool& pool);
  /// The session that statements run in, with the client's settings. Throws Error if there is none to be had.
  Session& session();
  /// Before a statement that may name tables of pg_catalog, or functions that go with it.
  void show_catalog();
  /// Nothing runs, and no message is there: gives the session back if there is nothing in it.
  void settle();
  /// Stops what runs. Any thread.
  void cancel() noexcept;

  Transaction transaction() const { return transaction_; }
  /// BEGIN; an implicit transaction, which a Sync ends, becomes the client's.
  void begin();
  /// One for all statements up to the next Sync, unless one is open.
  void begin_implicit();
  /// COMMIT of the client; of a failed transaction ROLLBACK, and false then.
  bool commit();
  void rollback();
  /// What the next Sync does: commits an implicit transaction.
  void end_implicit();
  /// After an error: an implicit transaction is undone, a client's own has failed.
  void fail();
  /// What a statement did to the transaction by itself.
  void look_at_transaction();

  /// DISCARD ALL.
  void discard();

  ClientIdentity identity;  ///< but for its settings, which are the parameters
  ClientParameters parameters;
  std::map<std::string, std::shared_ptr<ClientStatement>, std::less<>> statements;
  std::map<std::string, std::shared_ptr<Portal>, std::less<>> portals;

 private:
  void leave_transaction(const char* statement);

  SessionPool* pool_ = nullptr;
  std::optional<Settings> settings_;  // while there is no session; absent: those of a new one
  std::unique_ptr<PooledSession> session_;
  std::mutex running_mutex_;    // guards running_
  Session* running_ = nullptr;  // that of session_, for cancel()
  Transaction transaction_ = Transaction::None;
  bool implicit_ = false;
};

}  // namespace eindb
