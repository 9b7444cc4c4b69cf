#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace eindb {

/// Whole messages in order, both ways, between two nodes of a cluster: over a connection that was authenticated, or
/// within MPI. What control consists of; tiles travel by Exchange. Thread-safe; one thread receives at a time.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Hands the message over to be sent; a large one waits while too many bytes wait already, and looks for cancellation
  /// (poll_cancellation) meanwhile. Error{WorkerLost} once the channel is closed or the peer is gone, with the reason.
  virtual void send(std::span<const std::byte> message) = 0;
  /// The next message; nullopt if none came in time. Error{WorkerLost} as send(), after all messages that came before.
  virtual std::optional<std::vector<std::byte>> receive(std::chrono::milliseconds timeout) = 0;
  /// Ends it for both sides; wakes who waits. What was handed over before may be lost.
  virtual void close() noexcept = 0;
  /// For messages and logs: "10.0.0.3:7700", "rank 2".
  virtual std::string peer() const = 0;
};

}  // namespace eindb
