#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace eindb {

/// A bidirectional sequence of whole messages between two nodes of a cluster, over an authenticated connection or
/// within MPI. It carries control messages; tiles travel by Exchange. Thread-safe; one thread receives at a time.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Queues the message for sending. If too many bytes are queued, a large message waits, and polls for cancellation
  /// (poll_cancellation). Error{WorkerLost} with the reason, once the channel is closed or the peer is gone.
  virtual void send(std::span<const std::byte> message) = 0;
  /// The next message; nullopt after the timeout. Error{WorkerLost} as send(), but only after all earlier messages.
  virtual std::optional<std::vector<std::byte>> receive(std::chrono::milliseconds timeout) = 0;
  /// Closes the channel for both sides and wakes waiting threads. Queued messages may be lost.
  virtual void close() noexcept = 0;
  /// The peer's name for messages and logs: "10.0.0.3:7700", "rank 2".
  virtual std::string peer() const = 0;
};

}  // namespace eindb
