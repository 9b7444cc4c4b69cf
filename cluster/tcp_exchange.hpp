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

/// Where the connections of an exchange go when it has ended. Any thread.
class DataConnections {
 public:
  virtual ~DataConnections() = default;
  /// Calls give_signs_of_life() of the exchange every so often, until forget().
  virtual void keep_alive(TcpExchange& exchange) = 0;
  virtual void forget(TcpExchange& exchange) noexcept = 0;
  /// The statement has ended well, and the other side was told: for another one.
  virtual void give_back(std::unique_ptr<Connection> connection, const StatementRanks& ranks, Rank peer) = 0;
  /// The statement has failed: what is staged is to be sent before the connection is closed.
  virtual void say_farewell(std::unique_ptr<Connection> connection) = 0;
  virtual void log(std::string_view line) = 0;
};

/// One rank's part in a statement over TCP: a connection to each other rank. All of them are served by the thread that
/// runs an operation, whichever is ready next, so that no bytes wait for a thread to wake: what is to be sent goes from
/// where it lies to the socket, and what comes goes from the socket to where it belongs. What the sockets hold is all
/// that is buffered: a rank that does not receive is not sent to, while the others go on.
///
/// While an operation runs, all connections are listened to, also those that it does not use: any rank may tell of a
/// failure. A connection that ends where nothing is wanted of it says nothing: its rank may be done with the statement.
///
/// Every rank says something on each connection at least every kSignOfLife, also while it computes; whoever is in an
/// operation and gets no byte from a rank that it needs for `silence` takes the connection for broken, whatever the
/// system says of it. A slow one is not: bytes come. What a rank finds out about a connection itself is a PeerLost.
class TcpExchange : public CollectiveExchange {
 public:
  /// `connections`: to each rank; null to the rank itself. `home`: where there is no node any more, they are closed.
  TcpExchange(StatementRanks ranks, std::vector<std::unique_ptr<Connection>> connections,
              std::weak_ptr<DataConnections> home, std::chrono::milliseconds silence);
  ~TcpExchange() override;
  TcpExchange(const TcpExchange&) = delete;
  TcpExchange& operator=(const TcpExchange&) = delete;

  Rank rank() const override { return ranks_.rank; }
  std::size_t size() const override { return ranks_.addresses.size(); }
  void abort(std::exception_ptr error) noexcept override;
  /// Says to all ranks that this one goes on, unless an operation runs, which says so itself. Waits for nothing.
  void give_signs_of_life() noexcept;

 protected:
  void transfer(const Traffic& traffic) override;

 private:
  /// One connection, and how far the operation is with it.
  struct Link {
    std::unique_ptr<Connection> connection;
    std::uint64_t bytes_heard = 0;
    std::chrono::steady_clock::time_point heard;  // when the last of these came, as far as somebody has looked
    bool is_readable = true;                      // as far as known
    bool is_writable = true;
    std::optional<Error> unwritable;  // nothing can be sent any more, but there may be something to receive
    std::optional<Error> broken;      // nothing can be done any more

    bool sends = false;  // there is more to be staged
    bool sends_message = false;
    std::span<const std::byte> unstaged;  // of the message
    std::uint64_t sent_total = 0;

    bool receives = false;  // there is more to come
    bool receives_message = false;
    bool receives_piece = false;
    std::span<std::byte> target;  // of the message
    std::size_t received = 0;     // bytes of it, without the piece that is being received
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
  std::chrono::steady_clock::time_point next_sign_;  // of an operation
  std::vector<Link> links_;                          // by rank
  const FileDescriptor wake_;                        // readable when the operation is interrupted
  std::optional<AbortCause> told_;                   // by another rank
  std::atomic<bool> interrupted_{false};

  std::mutex mutex_;  // guards what follows, and links_ while no operation runs
  bool operates_ = false;
  std::exception_ptr failure_;
};

}  // namespace eindb
