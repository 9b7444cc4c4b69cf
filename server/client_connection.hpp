#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "common/memory_wait.hpp"
#include "security/tls_context.hpp"
#include "server/backend.hpp"
#include "server/client_channel.hpp"
#include "server/login/cancel_key.hpp"
#include "server/monitoring/client_monitor.hpp"
#include "server/rows/interim_output.hpp"
#include "server/sessions/client_sessions.hpp"
#include "server/sessions/worker_pool.hpp"

namespace eindb {

/// The SQLSTATE and the message for clients when the server shuts down.
inline constexpr std::string_view kShutdown = "57P01";
inline constexpr std::string_view kShutdownMessage = "the connection ends: the server is being shut down";
/// The message for a client that the server has no memory for.
inline constexpr std::string_view kOutOfMemoryMessage = "the connection ends: the machine has no memory left for it";

/// Posts `f`; if memory is short, as soon as there is some.
template <class F>
void post_surely(boost::asio::io_context& io, const F& f) noexcept {
  when_there_is_memory([&] { boost::asio::post(io, f); });
}

/// The connection's interface to the server that accepted it. Called by the thread that runs `io`.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  /// The connection of this process number has ended; the owner releases it.
  virtual void forget(std::int32_t process) = 0;
  /// A connection from this address has logged in.
  virtual void note_session(const std::string& address) = 0;
  /// A client at `address` asks to cancel the statement of the session with this key.
  virtual void cancel(const CancelKey& key, const std::string& address) = 0;
  virtual bool is_stopping() const = 0;
};

/// Resources shared by all connections of a server. All must outlive the connections.
struct ConnectionResources {
  boost::asio::io_context& io;
  ServerMonitor& monitor;
  ClientSessions& sessions;
  WorkerPool& workers;
  const std::optional<TlsContext>& tls;
  std::span<char> bytes;             ///< buffer for reading, used for one client at a time
  const std::string& out_of_memory;  ///< the message for a client that there is no memory for, encoded in advance
};

/// One client's connection. It moves bytes between its socket and its Backend, runs the backend in a worker when that
/// may block, and enforces deadlines. Used by the thread that runs `io`; while a worker runs the backend, backend and
/// buffers belong to that worker. Owned by a shared pointer.
class ClientConnection : public std::enable_shared_from_this<ClientConnection>, private InterimOutput {
 public:
  using Clock = std::chrono::steady_clock;
  /// The most bytes read before other clients have their turn.
  static constexpr std::size_t kReadBytes = std::size_t{64} << 10U;

  /// Takes the socket unless it throws. `place` is the client's address for the log, `address` the address for limits
  /// (counted_address).
  ClientConnection(ConnectionOwner& owner, const ConnectionResources& server, boost::asio::ip::tcp::socket& socket,
                   const std::string& place, std::string address, CancelKey key);

  const CancelKey& key() const { return key_; }
  const std::string& address() const { return address_; }
  bool in_session() const { return in_session_; }
  /// Whether the server waits for the client to log in.
  bool is_silent() const { return !in_session_ && (doing_ == Doing::Reading || doing_ == Doing::Greeting); }
  void cancel() noexcept;

  /// Waits for messages of the client and handles them.
  void read();

  /// Runs `f` for the client in the thread of `io`; ends the connection if memory is short.
  template <class F>
  void take_turn(F&& f) noexcept {
    try {
      std::forward<F>(f)();
    } catch (const std::exception&) {
      give_up();
    }
  }

  /// For the end of the server: ends the connection once the running statement, if any, is done.
  void leave();
  /// Ends the connection now, and cancels its statement. `message` must be a constant.
  void hurry(std::string_view message);
  /// Enforces the client's deadlines, and cancels a statement if the client has disconnected.
  void check_time(Clock::time_point now);
  void close();

 private:
  using Wait = ClientChannel::Wait;

  enum class Doing : std::uint8_t {
    Reading,    // waits for messages
    Working,    // a worker runs the backend
    Greeting,   // waits for the client during the TLS handshake
    Writing,    // waits until the client takes the output
    Refusing,   // delays the answer to a wrong password
    Lingering,  // drops what the client still sends, after the last answer
    Nothing     // the connection has ended
  };

  // Calls `next` when the socket is ready, unless something else ended the waiting.
  void wait(Doing doing, Wait what, void (ClientConnection::*next)());
  // The worker pool's queue: the user's, or one for all clients without a session.
  std::string_view line() const { return in_session_ ? std::string_view(backend_.user()) : std::string_view(); }
  // Ends the connection without allocating memory. First sends a prepared message, if one is possible at this point
  // (not during the TLS handshake), as far as the socket takes it.
  void give_up() noexcept;
  // Runs `f` in a worker, then `done` with its result in the thread of `io`, which keeps running until then.
  template <class F, class Done>
  void work(F f, Done done);
  void take_bytes();
  void run_backend();
  void answer(Backend::Next next);
  // Sends output of a worker's running statement as far as the socket takes it. The remainder goes with later output,
  // or before the answer.
  bool is_ready() override;
  void send(MessageWriter& out) override;
  void send_interim(std::string bytes);
  void write();
  void forget_written();
  void go_on();
  // Ends the connection whose last answer has gone. A client that is still sending reads the answer first: if bytes of
  // it were unread when the socket is closed, the system would reset the connection.
  void finish();
  void drop_bytes();
  // Continues the TLS handshake in a worker, since some keys are slow.
  void greet();
  // Delays the answer to a wrong password, which limits each connection to one attempt per second.
  void refuse();
  bool may_leave() const { return !in_session_ || backend_.at_rest(); }
  // Ends the connection with an error. Only while it waits for messages.
  void expel(std::string_view sqlstate, std::string_view message);

  ConnectionOwner& owner_;
  const ConnectionResources& server_;
  const std::string address_;
  boost::asio::steady_timer timer_;
  const CancelKey key_;
  FrameReader frames_;
  MessageWriter out_;
  std::size_t written_ = 0;  // number of bytes of out_ that are sent
  std::string interim_;      // output to send while a worker runs
  std::atomic<bool> interim_gone_ = true;
  std::atomic<bool> cancelled_ = false;  // since the worker was requested
  ClientMonitor monitor_;
  Backend backend_;
  Doing doing_ = Doing::Reading;
  Backend::Next next_ = Backend::Next::Input;  // the step after all output is sent
  bool in_session_ = false;
  std::string_view farewell_;  // the reason to end the connection after its statement; empty: none
  const Clock::time_point login_deadline_;
  Clock::time_point deadline_ = Clock::time_point::max();  // of Reading, Writing or Lingering
  ClientChannel channel_;
};

}  // namespace eindb
