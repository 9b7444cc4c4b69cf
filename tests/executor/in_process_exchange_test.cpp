#include "executor/in_process_exchange.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "tests/executor/exchange_checks.hpp"
#include "tests/executor/rank_threads.hpp"

namespace eindb {
namespace {

using Parameters = std::tuple<ExchangeCheck, std::size_t>;

class InProcessExchangeTest : public ::testing::TestWithParam<Parameters> {};

TEST_P(InProcessExchangeTest, DoesWhatExchangesDo) {
  const auto& [check, ranks] = GetParam();
  auto exchanges = in_process_exchanges(ranks);
  run_ranks(exchanges, check.run);
}

INSTANTIATE_TEST_SUITE_P(All, InProcessExchangeTest,
                         ::testing::Combine(::testing::ValuesIn(exchange_checks().begin(), exchange_checks().end()),
                                            ::testing::Values(1, 2, 3, 5)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + std::to_string(std::get<1>(test.param));
                         });

class NothingToSend final : public OutgoingStreams {
 public:
  std::optional<OutgoingMessage> next(Rank /*peer*/) override { return std::nullopt; }
  bool sends_to(Rank /*peer*/) const override { return false; }
};

class NothingToReceive final : public IncomingStreams {
 public:
  std::span<std::byte> begin(Rank /*peer*/, std::span<const std::byte> /*header*/, std::size_t /*size*/) override {
    return {};
  }
  void end(Rank /*peer*/) override {}
  bool receives_from(Rank /*peer*/) const override { return false; }
};

// The other rank never comes.
TEST(InProcessExchange, RankWithNothingToMoveWaitsForNobody) {
  auto exchanges = in_process_exchanges(2);
  Cancellation cancellation;
  cancellation.reset(std::chrono::minutes(4));
  const CancellationScope scope(cancellation);
  NothingToSend out;
  NothingToReceive in;
  EXPECT_NO_THROW(exchanges[0]->all_to_all(out, in));
}

// The other ranks do not wait for a rank that has ended its statement.
TEST(InProcessExchange, RankThatHasLeftIsNotWaitedFor) {
  auto exchanges = in_process_exchanges(2);
  exchanges[1].reset();
  try {
    exchanges[0]->barrier({0, 1});
    FAIL() << "the other rank has left";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
    EXPECT_EQ(error.message(), "rank 1 has left");
  }
}

}  // namespace
}  // namespace eindb
