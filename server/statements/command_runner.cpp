#include "server/statements/command_runner.hpp"

#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include "common/check.hpp"
#include "common/coded_error.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/quote_identifier.hpp"
#include "engine/results/rows.hpp"
#include "engine/statement_text.hpp"
#include "server/login/client_parameters.hpp"
#include "server/monitoring/session_list.hpp"
#include "server/statements/progress_notices.hpp"
#include "server/statements/table_command_runner.hpp"

namespace eindb {
namespace {

constexpr std::string_view kApplicationName = "application_name";

// The value as a literal for SET. The command's value has no quotes, and numbers need none.
std::string setting_literal(const std::string& value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc() && end == value.data() + value.size() && std::isfinite(number);
  return is_number ? value : quote_string(value);
}

Result shown(const std::string& name, std::string value) {
  return listed_result({{name, ColumnType::Text}}, {{std::move(value)}});
}

/// Whether SHOW lists contents of the database. Unlike SHOW of a setting, it is part of the transaction.
bool lists_of_database(std::string_view name) {
  return equal_ignoring_case(name, "tensors") || equal_ignoring_case(name, "macros") ||
         equal_ignoring_case(name, "aggregates") || equal_ignoring_case(name, "users");
}

}  // namespace

// One function for each kind of command.
struct CommandRunner::Visitor {
  CommandRunner& self;
  ClientState& client;
  MessageWriter& out;

  void warn_outside_transaction() const {
    if (client.transaction() == ClientState::Transaction::None)
      self.warn("25P01", "there is no transaction in progress", out);
  }

  // The values of SET LOCAL end with the transaction, whether it commits or not.
  template <class F>
  void end_transaction(F&& end) const {
    if (!client.has_local_settings()) return end();
    const auto before = client.parameters.reported();
    try {
      end();
    } catch (...) {
      self.tell_changes(before, out);
      throw;
    }
    self.tell_changes(before, out);
  }

  Result operator()(const command::Begin& begin) const {
    if (client.transaction() == ClientState::Transaction::Open) {
      self.warn("25001", "there is already a transaction in progress", out);
      client.set_modes(begin.modes);
    } else {
      client.begin(begin.modes);
    }
    return status_result(begin.starts ? "START TRANSACTION" : "BEGIN");
  }
  Result operator()(const command::Commit& commit) const {
    if (!commit.chain) warn_outside_transaction();
    bool committed = false;
    end_transaction([&] { committed = client.commit(commit.chain); });
    return status_result(committed ? "COMMIT" : "ROLLBACK");
  }
  Result operator()(const command::Rollback& rollback) const {
    if (!rollback.chain) warn_outside_transaction();
    end_transaction([&] { client.rollback(rollback.chain); });
    return status_result("ROLLBACK");
  }
  Result operator()(const command::SetTransaction& set) const {
    if (set.session) self.set_default_modes(set.modes, out);
    else client.set_modes(set.modes);
    return status_result("SET");
  }
  Result operator()(const command::Savepoint& savepoint) const {
    client.set_savepoint(savepoint.name);
    return status_result("SAVEPOINT");
  }
  Result operator()(const command::Release& release) const {
    client.release_savepoint(release.name);
    return status_result("RELEASE");
  }
  Result operator()(const command::RollbackTo& rollback) const {
    client.roll_back_to_savepoint(rollback.name);
    return status_result("ROLLBACK");
  }
  Result operator()(const command::Fetch& fetch) const {
    const auto cursor = client.cursor(fetch.cursor);
    if (cursor->reads_session()) client.begin_time();
    if (fetch.moves) return status_result("MOVE " + std::to_string(cursor->move(fetch)));
    Result result;
    result.columns = cursor->columns();
    result.rows = cursor->fetch(fetch);
    return result;
  }
  Result operator()(const command::CloseCursor& close) const {
    client.close_cursor(close.name);
    return status_result(close.name ? "CLOSE CURSOR" : "CLOSE CURSOR ALL");
  }
  Result operator()(const command::Set& set) const {
    if (set.local) self.set_locally(set.name, set.value, out);
    else self.set_parameter(set.name, set.value, out);
    return status_result("SET");
  }
  Result operator()(const command::Show& show) const {
    const bool known = ClientParameters::knows(show.name);
    if (lists_of_database(show.name)) client.enter_transaction(false);
    return known ? shown(show.name, client.parameters.show(show.name)) : client.session().execute("SHOW " + show.name);
  }
  Result operator()(const command::ShowSessions& /*sessions*/) const {
    return list_sessions(self.monitor_.server().clients, client.identity.process_id);
  }
  Result operator()(const command::Kill& kill) const {
    self.kill(kill);
    return status_result("KILL");
  }
  Result operator()(const command::Reset& reset) const {
    if (reset.name) {
      self.set_parameter(*reset.name, std::nullopt, out);
    } else {
      const auto before = client.parameters.reported();
      client.set([&] {
        client.parameters.reset_all();
        client.session().execute("RESET ALL");
      });
      self.tell_changes(before, out);
    }
    return status_result("RESET");
  }
  Result operator()(const command::Deallocate& deallocate) const {
    auto& statements = client.statements;
    if (!deallocate.name) {
      statements.clear();
      client.session().execute("DEALLOCATE ALL");
    } else if (statements.erase(*deallocate.name) == 0) {
      client.session().execute("DEALLOCATE " + quote_identifier(*deallocate.name));
    }
    return status_result(deallocate.name ? "DEALLOCATE" : "DEALLOCATE ALL");
  }
  Result operator()(const command::Discard&) const {
    if (client.transaction() != ClientState::Transaction::None || client.in_transaction())
      throw CodedError("25001", ErrorKind::Unsupported, "DISCARD ALL cannot run inside a transaction",
                       "COMMIT or ROLLBACK before");
    const auto before = client.parameters.reported();
    client.discard();
    self.tell_changes(before, out);
    return status_result("DISCARD ALL");
  }
  Result operator()(const command::Nothing& nothing) const { return status_result(nothing.tag); }
  template <class T>
  Result operator()(const T& of_tables) const {
    return run_table_command(of_tables, client);
  }
};

Result CommandRunner::run(const ClientCommand& command, MessageWriter& out) {
  return std::visit(Visitor{*this, client_, out}, command);
}

void CommandRunner::warn(std::string_view sqlstate, std::string_view text, MessageWriter& out) const {
  const auto least = to_lower(client_.parameters.show("client_min_messages"));
  if (least != "error" && least != "fatal" && least != "panic") write_notice(out, "WARNING", text, sqlstate);
}

void CommandRunner::kill(const command::Kill& kill) const {
  using Outcome = ClientRegistry::StopOutcome;
  const auto what = kill.connection ? ClientRegistry::What::Connection : ClientRegistry::What::Statement;
  const auto outcome = monitor_.server().clients.stop(client_.identity.process_id, kill.session, what);
  const auto session = "session " + std::to_string(kill.session);
  if (outcome == Outcome::Unknown)
    throw Error(ErrorKind::UnknownName, "there is no " + session, std::nullopt, "SHOW SESSIONS lists them");
  if (outcome == Outcome::Forbidden)
    throw Error(ErrorKind::Permission, session + " is another user's, and may be stopped by users who may write alone");
}

// SET SESSION CHARACTERISTICS AS TRANSACTION.
void CommandRunner::set_default_modes(const TransactionModes& modes, MessageWriter& out) {
  const auto on_or_off = [](bool on) { return on ? "on" : "off"; };
  if (modes.read_only) set_parameter("default_transaction_read_only", on_or_off(*modes.read_only), out);
  if (modes.deferrable) set_parameter("default_transaction_deferrable", on_or_off(*modes.deferrable), out);
  if (modes.isolation) set_parameter("default_transaction_isolation", *modes.isolation, out);
}

// The parameters of the transaction that is open: transaction_read_only and the like. False if it is another one.
bool CommandRunner::set_mode(const std::string& name, const std::optional<std::string>& value) {
  const auto is = [&](std::string_view one) { return equal_ignoring_case(name, one); };
  if (!is(kTransactionReadOnly) && !is(kTransactionDeferrable) && !is(kTransactionIsolation)) return false;
  const auto said = value ? *value : client_.parameters.show("default_" + to_lower(name));
  if (is(kTransactionReadOnly)) client_.set_modes({.read_only = parse_switch(name, said)});
  else if (is(kTransactionDeferrable)) client_.set_modes({.deferrable = parse_switch(name, said)});
  else client_.set_modes({.isolation = parse_isolation(name, said)});
  return true;
}

void CommandRunner::set_parameter(const std::string& name, const std::optional<std::string>& value,
                                  MessageWriter& out) {
  if (set_mode(name, value)) return;
  client_.set([&] { change_parameter(name, value); });
  tell_parameter(name, out);
}

void CommandRunner::set_locally(const std::string& name, const std::optional<std::string>& value, MessageWriter& out) {
  if (set_mode(name, value)) return;
  client_.set_locally([&] { change_parameter(name, value); });
  tell_parameter(name, out);
}

// Outside of a transaction a local change would end with the statement.
void CommandRunner::apply_config_changes(MessageWriter& out) {
  const auto changes = std::exchange(*client_.identity.changes, {});
  for (const auto& change : changes) {
    if (!change.local) set_parameter(change.name, change.value, out);
    else if (client_.transaction() != ClientState::Transaction::None) set_locally(change.name, change.value, out);
  }
}

void CommandRunner::change_parameter(const std::string& name, const std::optional<std::string>& value) {
  if (!ClientParameters::knows(name))
    client_.session().execute(value ? "SET " + name + " = " + setting_literal(*value) : "RESET " + name);
  else if (value) client_.parameters.set(name, *value);
  else client_.parameters.reset(name);
}

// Tells the client of a parameter that clients are told of, and the monitor of application_name.
void CommandRunner::tell_parameter(const std::string& name, MessageWriter& out) {
  for (const auto& [reported, value] : client_.parameters.reported())
    if (equal_ignoring_case(reported, name)) out.begin('S').text(reported).text(value).end();
  if (equal_ignoring_case(name, kApplicationName)) monitor_.rename(client_.parameters.application_name());
}

void CommandRunner::tell_changes(const std::vector<ClientParameters::Entry>& before, MessageWriter& out) {
  const auto now = client_.parameters.reported();
  CHECK(now.size() == before.size(), "clients are told of the same parameters at any time");
  for (std::size_t n = 0; n < now.size(); ++n)
    if (now[n] != before[n]) tell_parameter(std::string(now[n].first), out);
}

std::vector<Column> command_columns(const ClientCommand& command, ClientState& client) {
  if (std::holds_alternative<command::ShowSessions>(command)) return session_columns();
  if (const auto* fetch = std::get_if<command::Fetch>(&command); fetch != nullptr && !fetch->moves) {
    client.check_not_failed();
    return client.cursor(fetch->cursor)->columns();
  }
  const auto* show = std::get_if<command::Show>(&command);
  if (show == nullptr) return {};
  if (ClientParameters::knows(show->name)) return {{show->name, ColumnType::Text}};
  auto& session = client.session();
  return session.describe(*session.prepare("SHOW " + show->name)).columns;
}

}  // namespace eindb
