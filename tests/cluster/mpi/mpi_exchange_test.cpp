#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "common/error.hpp"
#include "tests/cluster/mpi/world_of_tests.hpp"
#include "tests/executor/exchange_checks.hpp"

namespace eindb {
namespace {

/// The exchange of the next statement. Tests run in the same order at all ranks.
std::unique_ptr<Exchange> next_exchange() {
  static std::uint64_t statement = 0;
  return world_of_tests()->exchange(++statement);
}

Exchange::Group everyone() {
  Exchange::Group group(world_of_tests()->size());
  std::iota(group.begin(), group.end(), Rank{0});
  return group;
}

class MpiExchangeTest : public testing::TestWithParam<ExchangeCheck> {};

TEST_P(MpiExchangeTest, DoesWhatExchangesDo) { GetParam().run(*next_exchange()); }

INSTANTIATE_TEST_SUITE_P(All, MpiExchangeTest, testing::ValuesIn(exchange_checks().begin(), exchange_checks().end()),
                         [](const auto& test) { return test.param.name; });

/// The kind of the Error that `f` throws.
template <class F>
ErrorKind kind_of_error(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::Internal;
}

// Statements fail and succeed in turns, each time at another rank, while the other ranks are in collectives of groups
// without the failing rank. No rank is left in a collective, and a failed statement does not disturb the next one.
TEST(MpiExchange, FailureOfOneRankEndsTheStatementOfAllAndNoneAfterIt) {
  const auto size = world_of_tests()->size();
  if (size < 3) GTEST_SKIP() << "needs a rank apart from a group of two";
  for (std::size_t round = 0; round < 60; ++round) {
    const auto failing = static_cast<Rank>(round % size);
    auto group = everyone();
    std::erase(group, failing);
    {
      const auto exchange = next_exchange();
      const auto kind = kind_of_error([&] {
        if (exchange->rank() == failing) {
          exchange->abort(std::make_exception_ptr(Error(ErrorKind::Shape, "no")));
          exchange->barrier(everyone());
        }
        std::vector<std::byte> mine(1000 * (round % 3));
        std::vector<std::byte> all(mine.size() * group.size());
        while (true) exchange->all_gather(group, mine, all);
      });
      EXPECT_EQ(kind, ErrorKind::Shape);
    }
    const auto exchange = next_exchange();
    exchange->barrier(everyone());
  }
}

// The other ranks do not wait for a rank that has ended its statement, whether it leads a group or not.
TEST(MpiExchange, RankThatHasLeftIsNotWaitedFor) {
  if (world_of_tests()->size() == 1) GTEST_SKIP() << "needs another rank";
  for (std::size_t left = 0; left < world_of_tests()->size(); ++left) {
    const auto exchange = next_exchange();
    if (exchange->rank() == left) continue;
    EXPECT_EQ(kind_of_error([&] { exchange->barrier(everyone()); }), ErrorKind::WorkerLost);
  }
}

// An exception in a rank's statement reaches the others even without a call of abort().
TEST(MpiExchange, DestroyedByAnExceptionItIsAborted) {
  if (world_of_tests()->size() == 1) GTEST_SKIP() << "needs another rank";
  const auto run = [] {
    const auto exchange = next_exchange();
    if (exchange->rank() == 1) throw Error(ErrorKind::MemoryLimit, "full");
    exchange->barrier(everyone());
  };
  EXPECT_EQ(kind_of_error(run), world_of_tests()->rank() == 1 ? ErrorKind::MemoryLimit : ErrorKind::WorkerLost);
}

/// One message to the next rank and one from the previous rank, in the given memory.
class RingStreams final : public OutgoingStreams, public IncomingStreams {
 public:
  RingStreams(const Exchange& exchange, std::span<const std::byte> out, std::span<std::byte> in)
      : to_((exchange.rank() + std::size_t{1}) % exchange.size()), out_(out), in_(in) {}
  std::optional<OutgoingMessage> next(Rank peer) override {
    if (peer != to_ || std::exchange(sent_, true)) return std::nullopt;
    return OutgoingMessage{{}, out_};
  }
  std::span<std::byte> begin(Rank /*peer*/, std::span<const std::byte> /*header*/, std::size_t size) override {
    EXPECT_EQ(size, in_.size());
    return in_;
  }
  void end(Rank /*peer*/) override {}

 private:
  const std::size_t to_;
  const std::span<const std::byte> out_;
  const std::span<std::byte> in_;
  bool sent_ = false;
};

// MPI's counts are int: blocks larger than 2^31 bytes are exchanged in chunks, like the small blocks of the other
// tests. Takes 9 GiB.
TEST(MpiExchange, BlocksMayBeLargerThanMpiCounts) {
  if (std::getenv("EINDB_LARGE_BLOCKS") == nullptr) GTEST_SKIP() << "EINDB_LARGE_BLOCKS is not set";
  const auto exchange = next_exchange();
  const auto rank = exchange->rank();
  const auto ranks = exchange->size();
  constexpr std::size_t kSize = (std::size_t{1} << 31U) + 12'345;
  const auto fill_of = [](std::size_t r) { return std::byte(r + 1); };
  const auto before = static_cast<Rank>((rank + ranks - 1) % ranks);
  const auto after = static_cast<Rank>((rank + 1) % ranks);
  const std::vector<std::byte> out(kSize, fill_of(rank));
  std::vector<std::byte> in(kSize);
  const auto expect_all_from_before = [&](const char* operation) {
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(in, fill_of(before))), kSize) << operation;
    std::ranges::fill(in, std::byte{0});
  };
  exchange->permute(after, before, out, in);
  expect_all_from_before("permute");
  RingStreams streams(*exchange, out, in);
  exchange->all_to_all(streams, streams);
  expect_all_from_before("all_to_all");
}

// Ranks that call different operations would exchange wrong data, or wait forever.
TEST(MpiExchange, DifferentOperationsAreAnError) {
  if (world_of_tests()->size() == 1) GTEST_SKIP() << "needs another rank";
  const auto exchange = next_exchange();
  const auto run = [&] {
    std::vector<std::byte> mine(exchange->rank() == 1 ? 8 : 16);
    std::vector<std::byte> all(mine.size() * exchange->size());
    exchange->all_gather(everyone(), mine, all);
  };
  EXPECT_EQ(kind_of_error(run), ErrorKind::Internal);
}

}  // namespace
}  // namespace eindb
