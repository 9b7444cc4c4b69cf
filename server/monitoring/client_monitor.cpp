#include "server/monitoring/client_monitor.hpp"

#include <cmath>
#include <exception>
#include <utility>

#include "common/check.hpp"
#include "engine/script.hpp"
#include "engine/statement_text.hpp"

namespace eindb {
namespace {

constexpr std::string_view kCancelled = "57014";
constexpr std::string_view kConnectionLost = "08006";
constexpr std::string_view kLoginClass = "28";
constexpr std::string_view kInternalClass = "XX";

// Logs show durations in microseconds at best.
double rounded(double seconds) { return std::round(seconds * 1e6) / 1e6; }

StatementOutcome outcome_of(std::string_view sqlstate) {
  return sqlstate == kCancelled ? StatementOutcome::Cancelled : StatementOutcome::Error;
}

}  // namespace

ClientMonitor::ClientMonitor(ServerMonitor& server, std::int32_t id, const std::string& address)
    : server_(server), id_(id), address_(address), entry_(server.clients.add(id, address)) {
  server_.metrics.connections_accepted.add();
  server_.log.write(LogLevel::Debug, "connection opened", {{"session", id_}, {"address", address_}});
}

ClientMonitor::~ClientMonitor() {
  server_.clients.remove(id_);
  try {
    tell_of_end();
  } catch (const std::exception&) {  // there may be no memory even for a line in the log
  }
}

void ClientMonitor::tell_of_end() {
  if (running_) record(StatementOutcome::Cancelled, rows_before_, kConnectionLost, "the connection has ended");
  // Connections without a login, such as port checks and cancel requests, are logged only at level Debug.
  const auto level = logged_in_ ? LogLevel::Info : LogLevel::Debug;
  if (!server_.log.writes(level)) return;
  const auto user = entry_->snapshot().login.user;
  server_.log.write(level, "connection closed",
                    {{"session", id_},
                     {"address", address_},
                     {"user", user},
                     {"seconds", rounded(connected_.seconds())},
                     {"received", bytes_received_.value()},
                     {"sent", bytes_sent_.value()}});
}

void ClientMonitor::introduce(std::string_view user) { entry_->log_in({.user = std::string(user)}); }

void ClientMonitor::log_in(ClientLogin login) {
  CHECK(!logged_in_, "a client logs in once, as whom it stays");
  logged_in_ = true;
  server_.log.write(LogLevel::Info, "login",
                    {{"session", id_},
                     {"address", address_},
                     {"user", login.user},
                     {"database", login.database},
                     {"application_name", login.application_name}});
  entry_->log_in(std::move(login));
}

void ClientMonitor::refuse_login(std::string_view reason) {
  server_.metrics.logins_refused.add();
  const auto user = entry_->snapshot().login.user;
  server_.log.write(LogLevel::Warning, "login refused",
                    {{"session", id_}, {"address", address_}, {"user", user}, {"reason", reason}});
}

void ClientMonitor::begin_statement(std::string_view text, StatementKind kind, std::int64_t rows) {
  if (running_ && entry_->has_run(text)) return;
  if (running_) end_statement(rows_before_);
  DCHECK(!running_ && rows >= 0, "one statement of a client runs at a time");
  DCHECK(static_cast<std::size_t>(kind) < kStatementKindNames.size(), "statements are counted by their kinds");
  running_ = true;
  kind_ = kind;
  rows_before_ = rows;
  entry_->run(text);
  statement_ = Stopwatch();
}

void ClientMonitor::end_statement(std::int64_t rows) {
  if (running_) record(StatementOutcome::Ok, rows, {}, {});
}

void ClientMonitor::fail(std::string_view sqlstate, std::string_view message, std::string_view text) {
  server_.metrics.errors.add(sqlstate);
  if (!running_ && !text.empty()) begin_statement(text, outline_of(text).kind);
  if (running_) record(outcome_of(sqlstate), rows_before_, sqlstate, message);
}

void ClientMonitor::rest(ClientActivity activity) {
  end_statement(rows_before_);
  entry_->rest(activity);
}

void ClientMonitor::abort(std::string_view sqlstate, std::string_view reason) {
  server_.metrics.errors.add(sqlstate);
  if (!logged_in_ && sqlstate.starts_with(kLoginClass)) return refuse_login(reason);
  server_.log.write(sqlstate.starts_with(kInternalClass) ? LogLevel::Error : LogLevel::Warning, "connection aborted",
                    {{"session", id_}, {"address", address_}, {"sqlstate", sqlstate}, {"reason", reason}});
}

void ClientMonitor::received(std::size_t bytes) noexcept {
  bytes_received_.add(static_cast<std::int64_t>(bytes));
  server_.metrics.bytes_received.add(static_cast<std::int64_t>(bytes));
}

void ClientMonitor::sent(std::size_t bytes) noexcept {
  bytes_sent_.add(static_cast<std::int64_t>(bytes));
  server_.metrics.bytes_sent.add(static_cast<std::int64_t>(bytes));
}

void ClientMonitor::record(StatementOutcome outcome, std::int64_t rows, std::string_view sqlstate,
                           std::string_view message) {
  running_ = false;
  const auto seconds = statement_.seconds();
  auto& metrics = server_.metrics;
  metrics.statements[static_cast<std::size_t>(kind_)][static_cast<std::size_t>(outcome)].add();
  metrics.statement_seconds.add(seconds);
  log_statement(seconds, rows - rows_before_, sqlstate, message);
}

// Internal errors are logged whatever the setting.
void ClientMonitor::log_statement(double seconds, std::int64_t rows, std::string_view sqlstate,
                                  std::string_view message) {
  const bool internal = sqlstate.starts_with(kInternalClass);
  if (!internal && !server_.log.writes_statement(seconds)) return;
  const auto client = entry_->snapshot();
  const bool hidden = mentions_password(client.statement);
  const auto statement = hidden ? kHiddenStatement : std::string_view(client.statement);
  const auto level = internal ? LogLevel::Error : LogLevel::Info;
  if (sqlstate.empty()) {
    server_.log.write(level, "statement",
                      {{"session", id_},
                       {"user", client.login.user},
                       {"seconds", rounded(seconds)},
                       {"rows", rows},
                       {"statement", statement}});
    return;
  }
  server_.log.write(level, "statement failed",
                    {{"session", id_},
                     {"user", client.login.user},
                     {"seconds", rounded(seconds)},
                     {"sqlstate", sqlstate},
                     {"message", hidden ? kHiddenStatement : message},
                     {"statement", statement}});
}

}  // namespace eindb
