#include "cluster/renumbered_exchange.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "common/cancellation.hpp"
#include "executor/in_process_exchange.hpp"
#include "tests/executor/exchange_checks.hpp"
#include "tests/executor/rank_threads.hpp"

namespace eindb {
namespace {

// Similar to MPI: the first underlying rank is the last one. The permutation is not its own inverse.
std::vector<std::unique_ptr<Exchange>> renumbered(std::size_t size) {
  std::vector<Rank> below(size);
  for (std::size_t rank = 0; rank < size; ++rank) below[rank] = static_cast<Rank>((rank + 1) % size);
  auto exchanges = in_process_exchanges(size);
  std::vector<std::unique_ptr<Exchange>> out;
  for (std::size_t rank = 0; rank < size; ++rank)
    out.push_back(std::make_unique<RenumberedExchange>(std::move(exchanges[below[rank]]), below));
  return out;
}

class RenumberedExchangeTest : public testing::TestWithParam<ExchangeCheck> {};

TEST_P(RenumberedExchangeTest, DoesWhatExchangesDo) {
  auto exchanges = renumbered(4);
  for (std::size_t rank = 0; rank < exchanges.size(); ++rank) EXPECT_EQ(exchanges[rank]->rank(), rank);
  run_ranks(exchanges, GetParam().run);
}

INSTANTIATE_TEST_SUITE_P(All, RenumberedExchangeTest,
                         testing::ValuesIn(exchange_checks().begin(), exchange_checks().end()),
                         [](const auto& test) { return test.param.name; });

// A stream of one message to a single rank, by the numbers of the renumbered exchange.
class MessageToOne final : public OutgoingStreams {
 public:
  explicit MessageToOne(Rank to) : to_(to) {}
  std::optional<OutgoingMessage> next(Rank peer) override {
    EXPECT_EQ(peer, to_);
    return std::exchange(sent_, true) ? std::nullopt : std::optional(OutgoingMessage{});
  }
  bool sends_to(Rank peer) const override { return peer == to_; }

 private:
  const Rank to_;
  bool sent_ = false;
};

class MessageFromOne final : public IncomingStreams {
 public:
  explicit MessageFromOne(Rank from) : from_(from) {}
  std::span<std::byte> begin(Rank peer, std::span<const std::byte> /*header*/, std::size_t /*size*/) override {
    EXPECT_EQ(peer, from_);
    return {};
  }
  void end(Rank /*peer*/) override { ++count; }
  bool receives_from(Rank peer) const override { return peer == from_; }

  int count = 0;

 private:
  const Rank from_;
};

// Two ranks that exchange data only with each other do not wait for the other ranks, which never join.
TEST(RenumberedExchange, RanksWithNothingForEachOtherDoNotWait) {
  auto exchanges = renumbered(4);
  Cancellation cancellation;
  cancellation.reset(std::chrono::minutes(4));
  const auto meet = [&](Rank rank, Rank other) {
    const CancellationScope scope(cancellation);
    MessageToOne out(other);
    MessageFromOne in(other);
    EXPECT_NO_THROW(exchanges[rank]->all_to_all(out, in));
    EXPECT_EQ(in.count, 1);
  };
  std::jthread first([&] { meet(0, 2); });
  meet(2, 0);
}

}  // namespace
}  // namespace eindb
