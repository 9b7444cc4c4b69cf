#include "cluster/renumbered_exchange.hpp"

#include <gtest/gtest.h>

#include "executor/in_process_exchange.hpp"
#include "tests/executor/exchange_checks.hpp"
#include "tests/executor/rank_threads.hpp"

namespace eindb {
namespace {

// As over MPI: the first rank below is the last, and as a permutation that is not its own inverse.
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

}  // namespace
}  // namespace eindb
