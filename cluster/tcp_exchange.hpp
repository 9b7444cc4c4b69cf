#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/abort_head.hpp"
#include "cluster/connection.hpp"
#include "cluster/tcp_node.hpp"
#include "common/error.hpp"
#include "executor/collective_exchange.hpp"

namespace eindb {

class TcpExchange;

/// Receives the connections of an exchange at its end. Thread-safe.
class DataConnections {
 public:
  virtual ~DataConnections() = default;
  /// Calls the exchange's give_signs_of_life() periodically, until forget().
  virtual void keep_alive(TcpExchange& exchange) = 0;
  virtual void forget(TcpExchange& exchange) noexcept = 0;
  /// Returns a connection for reuse after a successful statement; the peer has been told of the end.
  virtual void give_back(std::unique_ptr<Connection> connection, const StatementRanks& ranks, Rank peer) = 0;
  /// Takes a connection of a failed statement: sends the staged frames, then closes it.
  virtual void say_farewell(std::unique_ptr<Connection> connection) = 0;
  virtual void log(std::string_view line) = 0;
};

/// One rank's part in a statement over TCP, with a connection to each other rank. The thread that runs an operation
/// serves all connections, in the order of readiness, so that no data waits for another thread to wake. Data moves
/// directly between the caller's memory and the sockets, and only the sockets buffer it. If a rank does not receive,
/// sending to it pauses while the others continue.
///
/// During an operation all connections are read, even those that it does not use, since any rank may report a failure.
/// The end of an unused connection is ignored: its rank may have finished the statement.
///
/// Every rank sends something on each connection at least every kSignOfLife, even while it computes. If an operation
/// receives no byte for `silence` from a rank that it needs, it considers the connection broken, whatever the system
/// reports. A slow connection is not broken, since bytes arrive. Failures that a rank itself detects on a connection
/// are PeerLost.
class TcpExchange : public CollectiveExchange {
 public:
  /// `connections`: by rank; null for the rank itself. Connections are closed if `home` no longer exists.
  TcpExchange(StatementRanks ranks, std::vector<std::unique_ptr<Connection>> connections,
              std::weak_ptr<DataConnections> home, std::chrono::milliseconds silence);
  ~TcpExchange() override;
  TcpExchange(const TcpExchange&) = delete;
  TcpExchange& operator=(const TcpExchange&) = delete;

  Rank rank() const override { return ranks_.rank; }
  std::size_t size() const override { return ranks_.addresses.size(); }
  void abort(std::exception_ptr error) noexcept override;
  /// Sends a sign of life to all ranks, unless an operation runs, which does that itself. Does not wait.
  void give_signs_of_life() noexcept;

 protected:
  void transfer(const Traffic& traffic) override;

 private:
  /// A connection, and the state of the current operation on it.
  struct Link {
    std::unique_ptr<Connection> connection;
    std::uint64_t bytes_heard = 0;
    std::chrono::steady_clock::time_point heard;  // time of the last check that found new bytes
    bool is_readable = true;                      // as far as known
    bool is_writable = true;
    std::optional<Error> unwritable;  // sending is impossible, but data may still be received
    std::optional<Error> broken;      // neither sending nor receiving is possible

    bool sends = false;  // more data is to be staged
    bool sends_message = false;
    std::span<const std::byte> unstaged;  // part of the message
    std::uint64_t sent_total = 0;

    bool receives = false;  // more data is expected
    bool receives_message = false;
    bool receives_piece = false;
    std::span<std::byte> target;  // memory of the message
    std::size_t received = 0;     // bytes of it, without the current piece
    std::size_t header_bytes = 0;
  };

  bool has_connection(Rank peer) const;
  void begin(const Traffic& traffic);
  void run(const Traffic& traffic);
  bool is_done() const;
  void stage_signs_of_life();
  void look_for_silence();
  void check_interrupted();
  void wait();

  bool send(const Traffic& traffic, Rank peer);
  Connection::Wait flush(Rank peer);
  void stage_next(const Traffic& traffic, Rank peer);
  bool begin_message(const Traffic& traffic, Rank peer, std::span<const std::byte>& head);
  bool receive(const Traffic& traffic, Rank peer);
  bool fetch_frame(Rank peer);
  bool receive_frame(const Traffic& traffic, Rank peer);
  Connection::Wait check_frame(const Traffic& traffic, const Link& link) const;
  void begin_piece(const Traffic& traffic, Rank peer);
  void end_piece(const Traffic& traffic, Rank peer);
  [[noreturn]] void read_abort(Rank peer);

  template <class F>
  Connection::Wait on_connection(Rank peer, F f);
  void check_broken(Rank peer) const;
  [[noreturn]] void fail(std::exception_ptr error);
  AbortCause as_told(const std::exception_ptr& error) const;
  void say_farewell(const AbortCause& cause) noexcept;
  void release() noexcept;
  std::string name_of(Rank rank) const;

  const StatementRanks ranks_;
  const std::weak_ptr<DataConnections> home_;
  const std::chrono::milliseconds silence_;
  std::chrono::steady_clock::time_point next_sign_;  // time of the next sign of life during an operation
  std::vector<Link> links_;                          // by rank
  const FileDescriptor wake_;                        // signalled to interrupt the operation
  std::optional<AbortCause> told_;                   // from another rank
  std::atomic<bool> interrupted_{false};

  std::mutex mutex_;  // guards the members below, and links_ while no operation runs
  bool operates_ = false;
  std::exception_ptr failure_;
};

}  // namespace eindb
