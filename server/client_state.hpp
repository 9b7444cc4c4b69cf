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
#include "engine/statement_text.hpp"
#include "server/client_command.hpp"
#include "server/copy/copy_statement.hpp"
#include "server/dialect/dialect.hpp"
#include "server/login/client_parameters.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/rows/row_stream.hpp"
#include "server/sessions/client_quota.hpp"
#include "server/sessions/session_pool.hpp"
#include "server/values/data_type.hpp"
#include "server/values/result_format.hpp"
#include "server/values/row_writer.hpp"

namespace eindb {

/// A statement as Parse left it: the server's own (`command`), a COPY from or to the client, or one for the engine.
struct ClientStatement {
  bool empty() const { return !command && !copy && prepared == nullptr; }

  std::string text;
  StatementOutline outline;  ///< of the text
  Translation translation;   ///< what the engine is given instead
  std::optional<ClientCommand> command;
  std::optional<CopyStatement> copy;
  std::shared_ptr<const ClientStatement> copied;      ///< of a copy: what gives the rows, or reads or writes the file
  std::shared_ptr<const PreparedStatement> prepared;  ///< null for commands and copies, and for an empty statement
  std::vector<DataType> parameter_types;              ///< as the client said them, or as the engine takes them
  /// Once they are described they stay so, whatever becomes of the tables: clients keep what they were told.
  std::optional<std::vector<ClientColumn>> columns;
  ResultFormat format = ResultFormat::Rows;  ///< that they were described in
  ClientQuota::Share share;                  ///< if it is kept
};

/// A statement with its values, and what is left of its rows.
struct Portal {
  std::shared_ptr<ClientStatement> statement;
  StatementInputs inputs;
  std::vector<frontend::Format> formats;
  std::optional<Result> result;  ///< once it runs
  std::vector<ClientColumn> columns;
  ResultFormat format = ResultFormat::Rows;  ///< of a tensor
  std::unique_ptr<RowStream> stream;         ///< the rows that are left, once it runs; null: it gives none
  std::int64_t rows = 0;                     ///< that were given
  ClientQuota::Share share;
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

  /// `of_all`: what all clients may have the server hold.
  explicit ClientState(const std::shared_ptr<SharedBytes>& of_all);
  ~ClientState();
  ClientState(const ClientState&) = delete;
  ClientState& operator=(const ClientState&) = delete;

  /// Where sessions come from, once it is known who the client is. Before anything else.
  void use(SessionPool& pool, ClientUser user);
  /// The session that statements run in, with the client's settings. Throws Error if there is none to be had.
  Session& session();
  /// Before a statement that may name tables of pg_catalog, or functions that go with it.
  void show_catalog();
  /// Nothing runs, and no message is there: gives the session back if there is nothing in it.
  void settle();
  /// Stops what runs. Any thread.
  void cancel() noexcept;

  Transaction transaction() const { return transaction_; }
  /// Whether one is open in the database, the client's or an implicit one.
  bool in_transaction() const { return entered_; }
  /// BEGIN; an implicit transaction, which a Sync ends, becomes the client's. The database knows of it from its first
  /// statement on.
  void begin();
  /// One for all statements up to the next Sync, unless one is open.
  void begin_implicit();
  /// Before a statement of the transaction, if one is open. The first one tells what it is: one that writes waits for
  /// other writers now, while it has seen nothing yet; later it could only fail where another has written in between.
  void enter_transaction(bool writes);
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

  ClientQuota statement_quota;
  ClientQuota portal_quota;
  ClientIdentity identity;  ///< but for its settings, which are the parameters
  ClientParameters parameters;
  std::map<std::string, std::shared_ptr<ClientStatement>, std::less<>> statements;
  std::map<std::string, std::shared_ptr<Portal>, std::less<>> portals;

 private:
  void leave_transaction(const char* statement);
  // An implicit transaction is none of the client's, and the database knows of none but these two.
  bool is_valid() const {
    const bool own = transaction_ != Transaction::None;
    return !(implicit_ && own) && (!entered_ || implicit_ || own);
  }

  SessionPool* pool_ = nullptr;
  ClientUser user_;
  std::optional<Settings> settings_;  // while there is no session; absent: those of a new one
  std::unique_ptr<PooledSession> session_;
  std::mutex running_mutex_;    // guards running_
  Session* running_ = nullptr;  // that of session_, for cancel()
  Transaction transaction_ = Transaction::None;
  bool implicit_ = false;
  bool entered_ = false;  // the database knows of it
};

}  // namespace eindb
