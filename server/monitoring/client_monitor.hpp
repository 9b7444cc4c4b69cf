#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/stopwatch.hpp"
#include "server/monitoring/server_monitor.hpp"

namespace eindb {

/// What is told of one client, from its connection to its end: whoever serves it says here what happens, and it goes to
/// the log, into the metrics and into the registry. Without a log a statement costs two looks at the clock, a copy of
/// its beginning and some counters.
///
///     connected --introduce(), log_in()--> rests --begin_statement()--> runs --end_statement(), fail()--> runs no more
///     --rest()--> rests
///
/// Used by one thread at a time, but for received() and sent().
class ClientMonitor {
 public:
  ClientMonitor(ServerMonitor& server, std::int32_t id, const std::string& address);
  /// The connection has ended.
  ~ClientMonitor();
  ClientMonitor(const ClientMonitor&) = delete;
  ClientMonitor& operator=(const ClientMonitor&) = delete;

  /// Who the client says it is, before that is known to be true.
  void introduce(std::string_view user);
  void log_in(ClientLogin login);
  /// Because of `reason`: always logged.
  void refuse_login(std::string_view reason);
  /// What the client calls itself now.
  void rename(std::string_view application_name) { entry_->rename(application_name); }

  /// `text` runs from now on. If it runs already, it goes on: rows may be asked for in pieces. `rows` of it were given
  /// before.
  void begin_statement(std::string_view text, StatementKind kind, std::int64_t rows = 0);
  /// What runs has ended, or has given as many rows as were asked for; `rows` of it were given or changed in all.
  void end_statement(std::int64_t rows);
  /// An error was sent. What runs has failed; if nothing does, it is `text`, if that is anything.
  void fail(std::string_view sqlstate, std::string_view message, std::string_view text = {});
  /// The server waits for the client.
  void rest(ClientActivity activity);
  /// What ends the connection: bytes that are no protocol, a limit.
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
  // Of the statement that runs:
  bool running_ = false;
  StatementKind kind_ = StatementKind::Other;
  Stopwatch statement_;
  std::int64_t rows_before_ = 0;

  Counter bytes_received_;
  Counter bytes_sent_;
};

}  // namespace eindb
