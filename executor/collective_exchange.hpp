#pragma once

#include <atomic>
#include <span>

#include "executor/exchange.hpp"

namespace eindb {

/// The data that one operation moves between this rank and the others.
struct Traffic {
  std::span<const Rank> to;    ///< without duplicates and without this rank
  std::span<const Rank> from;  ///< without duplicates and without this rank
  OutgoingStreams& out;
  IncomingStreams& in;
  /// Whether each stream has any number of messages and an explicit end. Otherwise it is one message without a header,
  /// and `out` is called once.
  bool is_streamed = true;
};

/// An exchange that implements all operations by messages between pairs of ranks: a derived class only transfers
/// messages. Every block travels once, directly from its rank to its destination, to all peers concurrently. The bytes
/// sent and received by a rank are minimal for each operation. Operations take one round, except a barrier, which takes
/// log2(ranks) rounds.
class CollectiveExchange : public Exchange {
 public:
  void all_to_all(OutgoingStreams& out, IncomingStreams& in) final;
  void all_gather(const Group& group, std::span<const std::byte> mine, std::span<std::byte> all) final;
  void all_to_all(const Group& group, std::span<const std::byte> out, std::span<std::byte> in) final;
  /// Folds exactly in the group's order, one piece of the block at a time, in kReduceBytes of memory.
  void reduce_scatter(const Group& group, Aggregate aggregate, DType type, std::span<const std::byte> in,
                      std::span<std::byte> mine) final;
  void permute(Rank to, Rank from, std::span<const std::byte> out, std::span<std::byte> in) final;
  void barrier(const Group& group) final;
  ExchangeCounters counters() const final;

 protected:
  static constexpr std::size_t kReduceBytes = std::size_t{4} << 20U;

  /// Returns when everything is received, and the bytes to be sent are no longer needed. Throws the errors of Exchange.
  virtual void transfer(const Traffic& traffic) = 0;

  void count_sent(const OutgoingMessage& message);
  void count_received(std::size_t header_bytes, std::size_t payload_bytes);
  void count_waiting(double seconds);

 private:
  struct Sending {
    Rank to = 0;
    std::span<const std::byte> block;
  };
  struct Receiving {
    Rank from = 0;
    std::span<std::byte> block;
  };
  class BlocksOut;
  class BlocksIn;

  std::size_t position_in(const Group& group) const;
  void move_blocks(std::span<const Sending> sendings, std::span<const Receiving> receivings);

  std::atomic<std::int64_t> bytes_sent_{0};
  std::atomic<std::int64_t> bytes_received_{0};
  std::atomic<std::int64_t> messages_sent_{0};
  std::atomic<double> seconds_waiting_{0};
};

}  // namespace eindb
