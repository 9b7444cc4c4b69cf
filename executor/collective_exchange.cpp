#include "executor/collective_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "common/check.hpp"
#include "common/error.hpp"
#include "executor/kernels/tile_operations.hpp"

namespace eindb {
namespace {

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  CHECK(from.size() == to.size(), "what is sent has the size of what is received");
  if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
}

template <class Span>
Span block_of(Span blocks, std::size_t n, std::size_t size) {
  return blocks.subspan(n * size, size);
}

std::size_t block_size(std::span<const std::byte> blocks, const Exchange::Group& group) {
  CHECK(!group.empty(), "a group has members");
  CHECK(blocks.size() % group.size() == 0, "blocks of a group are equal");
  return blocks.size() / group.size();
}

}  // namespace

// ---- Blocks as streams of one message ------------------------------------------------------------------------------

class CollectiveExchange::BlocksOut : public OutgoingStreams {
 public:
  explicit BlocksOut(std::span<const Sending> sendings) : sendings_(sendings) {}
  std::optional<OutgoingMessage> next(Rank peer) override {
    const auto found = std::find_if(sendings_.begin(), sendings_.end(), [&](const auto& s) { return s.to == peer; });
    CHECK(found != sendings_.end(), "an exchange asks for blocks of those who get one");
    return OutgoingMessage{.header = {}, .payload = found->block};
  }

 private:
  std::span<const Sending> sendings_;
};

class CollectiveExchange::BlocksIn : public IncomingStreams {
 public:
  explicit BlocksIn(std::span<const Receiving> receivings) : receivings_(receivings) {}
  std::span<std::byte> begin(Rank peer, std::span<const std::byte> /*header*/, std::size_t size) override {
    const auto found =
        std::find_if(receivings_.begin(), receivings_.end(), [&](const auto& r) { return r.from == peer; });
    CHECK(found != receivings_.end(), "an exchange receives blocks of those who send one");
    if (size != found->block.size())
      throw Error(ErrorKind::Corrupt, "rank " + std::to_string(peer) + " sent " + std::to_string(size) +
                                          " bytes where " + std::to_string(found->block.size()) + " were expected");
    return found->block;
  }
  void end(Rank /*peer*/) override {}

 private:
  std::span<const Receiving> receivings_;
};

void CollectiveExchange::move_blocks(std::span<const Sending> sendings, std::span<const Receiving> receivings) {
  Group to;
  Group from;
  for (const auto& sending : sendings) to.push_back(sending.to);
  for (const auto& receiving : receivings) from.push_back(receiving.from);
  BlocksOut out(sendings);
  BlocksIn in(receivings);
  transfer({.to = to, .from = from, .out = out, .in = in, .is_streamed = false});
}

// ---- Operations ----------------------------------------------------------------------------------------------------

std::size_t CollectiveExchange::position_in(const Group& group) const {
  CHECK(std::count(group.begin(), group.end(), rank()) == 1, "a rank calls operations of its own groups");
  return static_cast<std::size_t>(std::find(group.begin(), group.end(), rank()) - group.begin());
}

// Each rank begins with the next one, so that not all ranks send to the same rank first.
void CollectiveExchange::all_to_all(OutgoingStreams& out, IncomingStreams& in) {
  Group to;
  Group from;
  for (std::size_t n = 1; n < size(); ++n) {
    const auto other = static_cast<Rank>((rank() + n) % size());
    if (out.sends_to(other)) to.push_back(other);
    if (in.receives_from(other)) from.push_back(other);
  }
  transfer({.to = to, .from = from, .out = out, .in = in});
}

void CollectiveExchange::all_gather(const Group& group, std::span<const std::byte> mine, std::span<std::byte> all) {
  const auto size = mine.size();
  const auto position = position_in(group);
  CHECK(block_size(all, group) == size, "a block of all has the size of one's own");
  copy(mine, block_of(all, position, size));
  std::vector<Sending> sendings;
  std::vector<Receiving> receivings;
  for (std::size_t n = 1; n < group.size(); ++n) {
    const auto other = (position + n) % group.size();
    sendings.push_back({group[other], mine});
    receivings.push_back({group[other], block_of(all, other, size)});
  }
  move_blocks(sendings, receivings);
}

void CollectiveExchange::all_to_all(const Group& group, std::span<const std::byte> out, std::span<std::byte> in) {
  const auto size = block_size(out, group);
  const auto position = position_in(group);
  CHECK(in.size() == out.size(), "blocks that go are as large as those that come");
  copy(block_of(out, position, size), block_of(in, position, size));
  std::vector<Sending> sendings;
  std::vector<Receiving> receivings;
  for (std::size_t n = 1; n < group.size(); ++n) {
    const auto other = (position + n) % group.size();
    sendings.push_back({group[other], block_of(out, other, size)});
    receivings.push_back({group[other], block_of(in, other, size)});
  }
  move_blocks(sendings, receivings);
}

// The pieces of all members are folded together, in the order of the group, so the result depends neither on the rank
// that computes it nor on the order of arrival.
void CollectiveExchange::reduce_scatter(const Group& group, Aggregate aggregate, DType type,
                                        std::span<const std::byte> in, std::span<std::byte> mine) {
  const auto size = mine.size();
  const auto position = position_in(group);
  CHECK(block_size(in, group) == size && size % size_of(type) == 0,
        "blocks are those of the result, in whole elements");
  const auto most = std::max(kReduceBytes / group.size() / size_of(type), std::size_t{1}) * size_of(type);
  std::vector<std::byte> scratch(std::min(most, size) * group.size());
  for (std::size_t begin = 0; begin < size; begin += most) {
    const auto count = std::min(most, size - begin);
    const auto piece = mine.subspan(begin, count);
    const auto contribution = [&](std::size_t n) { return block_of(std::span(scratch), n, count); };
    std::vector<Sending> sendings;
    std::vector<Receiving> receivings;
    for (std::size_t n = 1; n < group.size(); ++n) {
      const auto other = (position + n) % group.size();
      sendings.push_back({group[other], block_of(in, other, size).subspan(begin, count)});
      receivings.push_back({group[other], contribution(other)});
    }
    move_blocks(sendings, receivings);
    const auto own = block_of(in, position, size).subspan(begin, count);
    copy(position == 0 ? own : contribution(0), piece);
    for (std::size_t n = 1; n < group.size(); ++n)
      combine(aggregate, type, piece, n == position ? own : std::span<const std::byte>(contribution(n)));
  }
}

void CollectiveExchange::permute(Rank to, Rank from, std::span<const std::byte> out, std::span<std::byte> in) {
  CHECK(to < size() && from < size(), "a rank sends to ranks of its own mesh");
  CHECK((to == rank()) == (from == rank()), "a permutation that sends a rank to itself brings it nothing else");
  if (to == rank()) return copy(out, in);
  const Sending sending{to, out};
  const Receiving receiving{from, in};
  move_blocks({&sending, 1}, {&receiving, 1});
}

// After round k every member knows of 2^k members that they have arrived.
void CollectiveExchange::barrier(const Group& group) {
  const auto position = position_in(group);
  const auto count = group.size();
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    const Sending sending{group[(position + distance) % count], {}};
    const Receiving receiving{group[(position + count - distance) % count], {}};
    move_blocks({&sending, 1}, {&receiving, 1});
  }
}

// ---- Counters ------------------------------------------------------------------------------------------------------

void CollectiveExchange::count_sent(const OutgoingMessage& message) {
  bytes_sent_ += static_cast<std::int64_t>(message.header.size() + message.payload.size());
  ++messages_sent_;
}

void CollectiveExchange::count_received(std::size_t header_bytes, std::size_t payload_bytes) {
  bytes_received_ += static_cast<std::int64_t>(header_bytes + payload_bytes);
}

void CollectiveExchange::count_waiting(double seconds) { seconds_waiting_ += seconds; }

ExchangeCounters CollectiveExchange::counters() const {
  return {.bytes_sent = bytes_sent_,
          .bytes_received = bytes_received_,
          .messages_sent = messages_sent_,
          .seconds_waiting = seconds_waiting_};
}

}  // namespace eindb
