#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/stopwatch.hpp"
#include "server/monitoring/server_monitor.hpp"

namespace eindb {

/// Receives the events of one client, from its connection to its end, and passes them to the log, the metrics and the
/// registry. Without a log a statement costs two clock readings, a copy of its beginning and some counters.
///
///     connected --introduce(), log_in()--> rests --begin_statement()--> runs --end_statement(), fail()--> runs no more
///     --rest()--> rests
///
/// Used by one thread at a time, except for received() and sent().
class ClientMonitor {
 public:
  ClientMonitor(ServerMonitor& server, std::int32_t id, const std::string& address);
  /// Records the end of the connection.
  ~ClientMonitor();
  ClientMonitor(const ClientMonitor&) = delete;
  ClientMonitor& operator=(const ClientMonitor&) = delete;

  /// Sets the user name that the client claims, before it is verified.
  void introduce(std::string_view user);
  void log_in(ClientLogin login);
  /// Always logged, with `reason`.
  void refuse_login(std::string_view reason);
  /// Sets the client's new application_name.
  void rename(std::string_view application_name) { entry_->rename(application_name); }

  /// Records that `text` runs. If it runs already, as when a client fetches rows in portions, it continues. `rows`:
  /// number of its rows sent so far.
  void begin_statement(std::string_view text, StatementKind kind, std::int64_t rows = 0);
  /// Records that the statement has ended, or has sent the requested portion. `rows`: number of all rows sent or
  /// changed.
  void end_statement(std::int64_t rows);
  /// Records an error sent to the client. The running statement has failed or, if none runs, `text`, unless that is
  /// empty.
  void fail(std::string_view sqlstate, std::string_view message, std::string_view text = {});
  /// Records that the server waits for the client.
  void rest(ClientActivity activity);
  /// Records the reason for ending the connection: a violation of the protocol, or a limit.
  void abort(std::string_view sqlstate, std::string_view reason);

  void sent_rows(std::int64_t rows) noexcept { server_.metrics.rows_sent.add(rows); }
  void received(std::size_t bytes) noexcept;
  void sent(std::size_t bytes) noexcept;

  ServerMonitor& server() const { return server_; }
  const std::string& address() const { return address_; }

 private:
  void tell_of_end();
  void record(StatementOutcome outcome, std::int64_t rows, std::string_view sqlstate, std::string_view message);
  void log_statement(double seconds, std::int64_t rows, std::string_view sqlstate, std::string_view message);

  ServerMonitor& server_;
  const std::int32_t id_;
  const std::string address_;
  const std::shared_ptr<RegisteredClient> entry_;
  const Stopwatch connected_;
  bool logged_in_ = false;
  // State of the running statement:
  bool running_ = false;
  StatementKind kind_ = StatementKind::Other;
  Stopwatch statement_;
  std::int64_t rows_before_ = 0;

  Counter bytes_received_;
  Counter bytes_sent_;
};

}  // namespace eindb
