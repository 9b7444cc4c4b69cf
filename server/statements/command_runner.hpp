#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/results/result.hpp"
#include "server/monitoring/client_monitor.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/statements/client_command.hpp"
#include "server/statements/client_state.hpp"

namespace eindb {

/// Runs the statements of one client that are about its session: its transaction, its parameters, its prepared
/// statements, and the sessions of others. The engine runs all other statements (StatementRunner). Used by one thread
/// at a time.
class CommandRunner {
 public:
  /// `client` must be logged in before a command runs. Both arguments must outlive the object.
  CommandRunner(ClientState& client, ClientMonitor& monitor) : client_(client), monitor_(monitor) {}

  /// Runs the command and returns its rows, or its tag as status. Parameters that the client must be told of are
  /// written to `out` as ParameterStatus. COMMIT, ROLLBACK and DISCARD ALL end the client's portals, DEALLOCATE and
  /// DISCARD ALL its prepared statements, so the caller shares the ownership of both while it needs them. Throws Error
  /// for invalid values, unknown names, missing permission, and a command that is not possible now.
  Result run(const ClientCommand& command, MessageWriter& out);
  /// Sets a parameter of the client or a setting of the engine, as SET does; nullopt: the default, as RESET does. If
  /// the client must be told, writes ParameterStatus to `out`. Throws Error for an unknown name or an invalid value.
  void set_parameter(const std::string& name, const std::optional<std::string>& value, MessageWriter& out);
  /// The same up to the end of the client's transaction, as SET LOCAL does. CodedError if there is none.
  void set_locally(const std::string& name, const std::optional<std::string>& value, MessageWriter& out);
  /// Makes the changes that set_config() has asked for in the statement that ends now. Throws Error as set_parameter()
  /// does; none of the remaining changes is made then.
  void apply_config_changes(MessageWriter& out);

 private:
  struct Visitor;

  void set_default_modes(const TransactionModes& modes, MessageWriter& out);
  bool set_mode(const std::string& name, const std::optional<std::string>& value);
  void change_parameter(const std::string& name, const std::optional<std::string>& value);
  void tell_parameter(const std::string& name, MessageWriter& out);
  void tell_changes(const std::vector<ClientParameters::Entry>& before, MessageWriter& out);
  /// Sends a warning, unless the client wants only errors.
  void warn(std::string_view sqlstate, std::string_view text, MessageWriter& out) const;
  void kill(const command::Kill& kill) const;

  ClientState& client_;
  ClientMonitor& monitor_;
};

/// The columns of the command's rows, known before it runs; empty for a command without rows. Throws Error if SHOW
/// names no parameter and no setting, or if no session is available. Called by the client's thread.
std::vector<Column> command_columns(const ClientCommand& command, ClientState& client);

}  // namespace eindb
