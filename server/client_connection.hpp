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

/// The SQLSTATE, and the reason, that clients get when the server ends.
inline constexpr std::string_view kShutdown = "57P01";
inline constexpr std::string_view kShutdownMessage = "the connection ends: the server is being shut down";
/// The reason that a client gets for whom there was no memory.
inline constexpr std::string_view kOutOfMemoryMessage = "the connection ends: the machine has no memory left for it";

/// Posts `f`; where there is no memory to post it, as soon as there is some.
template <class F>
void post_surely(boost::asio::io_context& io, const F& f) noexcept {
  when_there_is_memory([&] { boost::asio::post(io, f); });
}

/// The connections' side of the server that accepted them. Its functions are called by the thread that runs `io`.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  /// The connection of this process has ended: its owner lets go of it.
  virtual void forget(std::int32_t process) = 0;
  /// A connection from this address has its session.
  virtual void note_session(const std::string& address) = 0;
  /// A client at `address` asks to cancel what the session of this key runs.
  virtual void cancel(const CancelKey& key, const std::string& address) = 0;
  virtual bool is_stopping() const = 0;
};

/// What all connections of a server use. All of it outlives them.
struct ConnectionResources {
  boost::asio::io_context& io;
  ServerMonitor& monitor;
  ClientSessions& sessions;
  WorkerPool& workers;
  const std::optional<TlsContext>& tls;
  std::span<char> bytes;             ///< that were read last, of whatever client
  const std::string& out_of_memory;  ///< the last message to a client for whom there is no memory
};

/// One client's connection: moves bytes between its socket and its Backend, runs the backend in a worker where that
/// blocks, and ends the connection when its time is over. Used by the thread that runs `io`, except that its backend
/// and buffers belong to a worker while one works for it. Owned by a shared pointer.
class ClientConnection : public std::enable_shared_from_this<ClientConnection>, private InterimOutput {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kReadBytes = std::size_t{64} << 10U;  ///< at a time, before others have their turn

  /// Takes the socket unless it throws. `place` is the client's address for the log, `address` that which it is counted
  /// by (counted_address).
  ClientConnection(ConnectionOwner& owner, const ConnectionResources& server, boost::asio::ip::tcp::socket& socket,
                   const std::string& place, std::string address, CancelKey key);

  const CancelKey& key() const { return key_; }
  const std::string& address() const { return address_; }
  bool in_session() const { return in_session_; }
  /// Whether the server waits for the client to say who it is.
  bool is_silent() const { return !in_session_ && (doing_ == Doing::Reading || doing_ == Doing::Greeting); }
  void cancel() noexcept;

  /// Waits for messages of the client, and goes on with them.
  void read();

  /// Runs one thing that the thread of `io` does for the client: where there is no memory for it, the client goes.
  template <class F>
  void take_turn(F&& f) noexcept {
    try {
      std::forward<F>(f)();
    } catch (const std::exception&) {
      give_up();
    }
  }

  /// The server ends: a client whose statement runs goes when that is done.
  void leave();
  /// The client goes now, and what it runs is cancelled. `message` is a constant.
  void hurry(std::string_view message);
  /// Ends the client if its time is over, and a statement that nobody waits for.
  void check_time(Clock::time_point now);
  void close();

 private:
  using Wait = ClientChannel::Wait;

  enum class Doing : std::uint8_t {
    Reading,   // waits for messages
    Working,   // a worker has the client
    Greeting,  // waits for the client's part in the beginning of TLS
    Writing,   // waits for the client to take what was written
    Refusing,  // waits before it says that a password was wrong
    Nothing    // has ended
  };

  // Goes on with `next` when the socket is ready, unless something else has ended the waiting.
  void wait(Doing doing, Wait what, void (ClientConnection::*next)());
  // Who has no session yet has a line with all others of the kind.
  std::string_view line() const { return in_session_ ? std::string_view(backend_.user()) : std::string_view(); }
  // Without any memory: what was made ready before is written, if it makes sense where it comes (not while TLS begins),
  // and goes as far as it goes.
  void give_up() noexcept;
  // Runs `f` in a worker, and then `done` with what it gave in the thread of run(), which goes on until then.
  template <class F, class Done>
  void work(F f, Done done);
  void take_bytes();
  void run_backend();
  void answer(Backend::Next next);
  // What a worker's statement tells meanwhile. It is written as far as the socket takes it: the rest is tried again
  // when there is more, and goes before the answer.
  bool is_ready() override;
  void send(MessageWriter& out) override;
  void send_interim(std::string bytes);
  void write();
  void forget_written();
  void go_on();
  // Keys take their time.
  void greet();
  // Who tries passwords tries one a second on each connection.
  void refuse();
  bool may_leave() const { return !in_session_ || backend_.at_rest(); }
  // Of a client that is read.
  void expel(std::string_view sqlstate, std::string_view message);

  ConnectionOwner& owner_;
  const ConnectionResources& server_;
  const std::string address_;
  boost::asio::steady_timer timer_;
  const CancelKey key_;
  FrameReader frames_;
  MessageWriter out_;
  std::size_t written_ = 0;  // of what is in out_
  std::string interim_;      // what is to be written while a worker works
  std::atomic<bool> interim_gone_ = true;
  std::atomic<bool> cancelled_ = false;  // since a worker was asked for
  ClientMonitor monitor_;
  Backend backend_;
  Doing doing_ = Doing::Reading;
  Backend::Next next_ = Backend::Next::Input;  // when all is written
  bool in_session_ = false;
  std::string_view farewell_;  // why the client is to go when what it runs has ended; empty: it may stay
  const Clock::time_point login_deadline_;
  Clock::time_point deadline_ = Clock::time_point::max();  // of Reading or Writing
  ClientChannel channel_;
};

}  // namespace eindb
