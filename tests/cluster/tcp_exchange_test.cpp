#include <gtest/gtest.h>

#include "tests/cluster/local_nodes.hpp"
#include "tests/executor/exchange_checks.hpp"
#include "tests/executor/rank_threads.hpp"

namespace eindb {
namespace {

using Parameters = std::tuple<ExchangeCheck, std::size_t>;

class TcpExchangeTest : public testing::TestWithParam<Parameters> {};

TEST_P(TcpExchangeTest, DoesWhatExchangesDo) {
  const auto& [check, ranks] = GetParam();
  LocalNodes nodes(ranks, local_options("a secret of the cluster"));
  auto exchanges = nodes.open();
  run_ranks(exchanges, check.run);
}

INSTANTIATE_TEST_SUITE_P(All, TcpExchangeTest,
                         testing::Combine(testing::ValuesIn(exchange_checks().begin(), exchange_checks().end()),
                                          testing::Values(1, 2, 3, 5)),
                         [](const auto& test) {
                           return std::get<0>(test.param).name + std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace eindb
