#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "tensor/dtype.hpp"
#include "tensor/einsum.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// One message of a stream: a small header, and a payload that is sent without a copy.
struct OutgoingMessage {
  std::span<const std::byte> header;  ///< at most Exchange::kMaxHeader bytes
  std::span<const std::byte> payload;
};

/// The streams of pieces that a rank sends in an all_to_all. Called by the thread that runs the operation or by threads
/// of the exchange, possibly concurrently for different peers, but by one thread at a time for each peer. No call may
/// wait for another rank, which may be waiting for this one.
class OutgoingStreams {
 public:
  virtual ~OutgoingStreams() = default;
  /// The next message to `peer`; its bytes must stay unchanged until the next call for that peer. nullopt at the end of
  /// the stream.
  virtual std::optional<OutgoingMessage> next(Rank peer) = 0;
  /// Whether there may be messages to `peer`. If not, next() need not be called, and the peer, whose receives_from()
  /// must agree, does not wait for this rank.
  virtual bool sends_to(Rank /*peer*/) const { return true; }
};

/// The streams of pieces that a rank receives in an all_to_all; the messages of each peer arrive in order. Called as
/// OutgoingStreams are. Headers are untrusted: invalid ones throw Error{Corrupt}.
class IncomingStreams {
 public:
  virtual ~IncomingStreams() = default;
  /// Returns the memory for the payload of the next message, `size` bytes.
  virtual std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) = 0;
  /// The payload has arrived.
  virtual void end(Rank peer) = 0;
  /// Whether `peer` sends to this rank; must agree with its sends_to().
  virtual bool receives_from(Rank /*peer*/) const { return true; }
};

/// The bytes and messages that one rank has sent and received; messages to itself are not counted.
struct ExchangeCounters {
  std::int64_t bytes_sent = 0;  ///< payloads and headers, without the transport's frames
  std::int64_t bytes_received = 0;
  std::int64_t messages_sent = 0;
  double seconds_waiting = 0;  ///< for other ranks, with nothing to send or receive
};

/// The communication among the ranks of a statement. All ranks call the same operations in the same order. Operations
/// of a group are called only by its members; the group must list its ranks in the same order at each member. An
/// operation returns when this rank has sent and received its data.
///
/// One thread calls operations, one at a time; abort() and counters() are thread-safe. An operation throws
/// Error{Cancelled} if the Cancellation of the thread's innermost CancellationScope requests it, the error given to
/// abort(), the error of a stream, or Error{WorkerLost} naming a lost rank. The exchange is unusable afterwards, and
/// the operations of all other ranks end too, with an error of the same kind whose message names the rank where it
/// began. No operation waits forever for a lost rank.
///
/// Blocks of one operation must not overlap, unless stated otherwise, and must be aligned for their elements.
class Exchange {
 public:
  static constexpr std::size_t kMaxHeader = 512;
  using Group = std::vector<Rank>;

  virtual ~Exchange() = default;
  virtual Rank rank() const = 0;
  virtual std::size_t size() const = 0;

  /// Personalised streams between all ranks, except pairs that exchange nothing according to sends_to() and
  /// receives_from(). Data for the rank itself is not passed here. Buffers are bounded, so a slow receiver slows its
  /// senders down.
  virtual void all_to_all(OutgoingStreams& out, IncomingStreams& in) = 0;

  /// Gathers equal blocks, one per member in the group's order: `mine` is this rank's block, `all` has size(group)
  /// times its size. `mine` may be its own place in `all`.
  virtual void all_gather(const Group& group, std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Sends block n of `out` to member n and receives block n of `in` from it.
  virtual void all_to_all(const Group& group, std::span<const std::byte> out, std::span<std::byte> in) = 0;
  /// Reduces blocks over all members: `in` has one block per member; `mine` becomes the aggregate of this rank's block
  /// over all members, in the group's order up to reassociation, and deterministic. MIN and MAX of complex numbers
  /// compare real parts, as everywhere.
  virtual void reduce_scatter(const Group& group, Aggregate aggregate, DType type, std::span<const std::byte> in,
                              std::span<std::byte> mine) = 0;
  /// Permutes blocks: `out` goes to rank `to`, `in` comes from rank `from`.
  virtual void permute(Rank to, Rank from, std::span<const std::byte> out, std::span<std::byte> in) = 0;
  /// Returns when all members have called it.
  virtual void barrier(const Group& group) = 0;

  /// Fails the current and all later operations with this error.
  virtual void abort(std::exception_ptr error) noexcept = 0;
  virtual ExchangeCounters counters() const = 0;
};

}  // namespace eindb
