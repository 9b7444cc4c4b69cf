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

/// One message of a stream: a small header, and bytes that are sent from where they lie.
struct OutgoingMessage {
  std::span<const std::byte> header;  ///< at most Exchange::kMaxHeader bytes
  std::span<const std::byte> payload;
};

/// The stream of pieces that a rank sends in an all_to_all. Called by the thread that runs the operation or by threads
/// of the exchange: for different peers maybe at the same time, for one peer by one thread at a time. No call waits for
/// another rank, which may wait for this one.
class OutgoingStreams {
 public:
  virtual ~OutgoingStreams() = default;
  /// The next message to `peer`; its bytes stay as they are until the next call for that peer. nullopt: the stream
  /// ends.
  virtual std::optional<OutgoingMessage> next(Rank peer) = 0;
  /// Whether there may be messages to `peer`. Where there are none next() need not be asked, and the peer, whose
  /// receives_from() says the same, does not wait for this rank.
  virtual bool sends_to(Rank /*peer*/) const { return true; }
};

/// The stream of pieces that a rank receives in an all_to_all, peer by peer in the order of sending. Called as
/// OutgoingStreams are. Headers come from outside: what does not make sense is Error{Corrupt}.
class IncomingStreams {
 public:
  virtual ~IncomingStreams() = default;
  /// A message is about to come: where its payload goes, of `size` bytes.
  virtual std::span<std::byte> begin(Rank peer, std::span<const std::byte> header, std::size_t size) = 0;
  /// The payload is there.
  virtual void end(Rank peer) = 0;
  /// Whether `peer` sends to this rank, as its sends_to() says.
  virtual bool receives_from(Rank /*peer*/) const { return true; }
};

/// The bytes and messages that one rank has sent and received; messages to itself are not counted.
struct ExchangeCounters {
  std::int64_t bytes_sent = 0;  ///< payloads and headers, without frames of the transport
  std::int64_t bytes_received = 0;
  std::int64_t messages_sent = 0;
  double seconds_waiting = 0;  ///< for others, with nothing to send or to take
};

/// How the ranks of one statement reach each other. All ranks call the same operations in the same order; within a
/// group, which lists its ranks in the same order at each of its members, only those. Each operation ends when this
/// rank has sent and received what belongs to it.
///
/// One thread calls operations, one at a time; abort() and counters() may be called from any. An operation throws
/// Error{Cancelled} when the Cancellation of the thread's innermost CancellationScope asks for it, what abort() was
/// given, what a stream threw, or Error{WorkerLost} naming the rank that is gone. The exchange is of no use then, and
/// the operations of all other ranks end, too: with an error of the same kind, whose message names the rank where it
/// began. Nothing waits forever for a rank that is gone.
///
/// Blocks of one operation do not overlap, unless it says so, and are aligned for their elements.
class Exchange {
 public:
  static constexpr std::size_t kMaxHeader = 512;
  using Group = std::vector<Rank>;

  virtual ~Exchange() = default;
  virtual Rank rank() const = 0;
  virtual std::size_t size() const = 0;

  /// Personalised streams between all ranks, but for pairs that have nothing for each other by sends_to() and
  /// receives_from(). What goes to the rank itself is not seen here. Buffers are bounded: a receiver that is slow slows
  /// its senders down.
  virtual void all_to_all(OutgoingStreams& out, IncomingStreams& in) = 0;

  /// Of equal blocks, one per member in the group's order: `mine` is this rank's, `all` has size(group) times its size.
  /// `mine` may lie in `all` at its place.
  virtual void all_gather(const Group& group, std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Block n of `out` goes to member n, block n of `in` comes from it.
  virtual void all_to_all(const Group& group, std::span<const std::byte> out, std::span<std::byte> in) = 0;
  /// `in` has one block per member; `mine` is the aggregate over all members of this rank's block, in the group's order
  /// up to reassociation, and the same each time. MIN and MAX of complex numbers compare real parts, as everywhere.
  virtual void reduce_scatter(const Group& group, Aggregate aggregate, DType type, std::span<const std::byte> in,
                              std::span<std::byte> mine) = 0;
  /// A bijection of ranks: `out` goes to rank `to`, `in` comes from rank `from`.
  virtual void permute(Rank to, Rank from, std::span<const std::byte> out, std::span<std::byte> in) = 0;
  /// Ends when all members have come.
  virtual void barrier(const Group& group) = 0;

  /// Ends operations, now and later, with this error.
  virtual void abort(std::exception_ptr error) noexcept = 0;
  virtual ExchangeCounters counters() const = 0;
};

}  // namespace eindb
