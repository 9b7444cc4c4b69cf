#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/backend.hpp"
#include "server/console/message_events.hpp"
#include "server/http/http_message.hpp"
#include "server/login/cancel_key.hpp"
#include "server/login/client_handshake.hpp"
#include "server/monitoring/client_monitor.hpp"
#include "server/protocol/frame_reader.hpp"
#include "server/protocol/message_writer.hpp"
#include "server/rows/interim_output.hpp"
#include "server/sessions/client_sessions.hpp"
#include "server/sessions/worker_pool.hpp"

namespace eindb {

/// Resources shared by all clients of the console. All must outlive them.
struct ConsoleResources {
  boost::asio::io_context& io;  ///< run by the endpoint's thread
  ServerMonitor& monitor;
  ClientSessions& sessions;
  WorkerPool& workers;
  std::atomic<std::size_t>& running;  ///< how many clients have a statement that runs
};

/// A client in a browser: the server's side of it is a Backend as any other client's, to which this class speaks
/// PostgreSQL's protocol in memory. So permissions, quotas, the queue of the user, progress and cancellation are the
/// same.
///
///     run() --Parse, Bind, Describe, Execute, Sync of each statement--> Backend, in a worker
///     events to the browser <--MessageEvents-- messages
///
/// A portion of rows is made when the browser has taken the one before, so that little memory is held for it. Used by
/// the endpoint's thread; while a worker runs the backend, backend and buffers belong to that worker. Owned by a shared
/// pointer.
class ConsoleClient final : public std::enable_shared_from_this<ConsoleClient>, private InterimOutput {
 public:
  using Clock = std::chrono::steady_clock;

  /// `place` and `address` as ClientConnection takes them.
  ConsoleClient(const ConsoleResources& server, CancelKey key, const std::string& place, std::string address);

  const CancelKey& key() const { return key_; }
  ClientMonitor& monitor() { return monitor_; }
  /// Begins the session, in a worker. The error as an event, as MessageEvents writes it, if it does not begin.
  std::optional<std::string> admit(const AdmittedClient& client);

  bool is_busy() const { return exchange_ != nullptr; }
  /// Whether the session has ended, because of an error or of end().
  bool has_ended() const { return ended_; }
  /// Runs the statements of `text` one after the other up to the first that fails, each up to `most_rows` rows, and
  /// answers `exchange` by events. Only if it is not busy and has not ended.
  void run(std::string text, std::int32_t most_rows, const std::shared_ptr<HttpExchange>& exchange);
  /// Cancels what runs.
  void cancel() noexcept;
  /// Ends the session, after the statement that runs, which is cancelled.
  void end() noexcept;
  /// Cancels what runs if the browser waits for it no more; ends the session if it was idle for too long.
  void check_time(Clock::time_point now);

 private:
  // One statement of the text.
  struct Part {
    std::size_t offset = 0;
    std::size_t size = 0;
    std::size_t position = 0;  // in characters
  };

  // Runs `f`; ends the session if memory is short.
  template <class F>
  void take_turn(F&& f) noexcept;
  void give_up() noexcept;
  void begin(std::string text, std::int32_t most_rows);
  void run_next();
  void work();
  void answer(Backend::Next next);
  void go_on();
  void put(const std::string& events);
  void write();
  void finish();
  bool is_ready() override;
  void send(MessageWriter& out) override;

  const ConsoleResources server_;
  const CancelKey key_;
  ClientMonitor monitor_;
  FrameReader frames_;
  MessageWriter out_;
  Backend backend_;
  MessageEvents events_;
  std::shared_ptr<HttpExchange> exchange_;  // of the text that runs; null: none does
  std::string text_;
  std::vector<Part> parts_;
  std::size_t next_part_ = 0;
  std::int32_t most_rows_ = 0;
  std::string unsent_;    // events
  bool writing_ = false;  // to the browser
  bool working_ = false;  // a worker runs the backend
  bool gone_ = false;     // the browser
  bool ended_ = false;
  Backend::Next next_ = Backend::Next::Input;
  std::atomic<bool> interim_gone_ = true;
  std::atomic<bool> cancelled_ = false;
  std::optional<Clock::time_point> idle_since_;
};

}  // namespace eindb
