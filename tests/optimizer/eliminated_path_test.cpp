#include "optimizer/paths/eliminated_path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/optimal_path.hpp"
#include "tests/optimizer/random_network.hpp"

namespace eindb {
namespace {

constexpr std::uint64_t kEnough = std::numeric_limits<std::uint64_t>::max();
constexpr EliminationRule::Rate kRates[] = {EliminationRule::Rate::Fill, EliminationRule::Rate::Width};

ResultPairs eliminated(const ContractionProblem& problem, const EliminationRule& rule) {
  std::uint64_t work = 0;
  return eliminated_pairs(problem, rule, work, kEnough);
}

TEST(EliminatedPath, IsAPathOfEveryNetworkAndTheSameTwice) {
  std::mt19937 random(61);
  for (int round = 0; round < 200; ++round) {
    const auto problem = testing::random_network(random, 1 + random() % 10, 1 + random() % 12, 3);
    const double least = path_of_results(problem, optimal_pairs(problem)).flops;
    for (const auto rate : kRates) {
      const EliminationRule rule{rate, 0.3, static_cast<std::uint64_t>(round)};
      const auto pairs = eliminated(problem, rule);
      ASSERT_EQ(pairs.size() + 1, problem.operands.size());
      EXPECT_GE(path_of_results(problem, pairs).flops, least * (1 - 1e-9));
      EXPECT_EQ(pairs, eliminated(problem, rule));
    }
  }
}

// Chains have a tree width of one, and grids that of their shorter side. Min-fill stays near it.
TEST(EliminatedPath, KeepsResultsSmall) {
  std::mt19937 random(62);
  for (const auto rate : kRates) {
    auto chain = testing::chain(random, 300);
    chain.output.clear();
    chain.extents.assign(chain.extents.size(), 2);
    EXPECT_LE(path_of_results(chain, eliminated(chain, {rate})).largest_intermediate, 4);
    const auto field = testing::lattice(6, 40);
    const double factor = rate == EliminationRule::Rate::Fill ? 4 : 64;
    EXPECT_LE(path_of_results(field, eliminated(field, {rate})).largest_intermediate, std::exp2(6) * factor);
  }
}

TEST(EliminatedPath, OnlyGetsBetterWithMoreWork) {
  std::mt19937 random(63);
  for (int round = 0; round < 10; ++round) {
    const auto problem = testing::regular_network(random, 60, 3, 2);
    const auto flops = [&](const ResultPairs& pairs) { return path_of_results(problem, pairs).flops; };
    const auto start = greedy_pairs(problem, {});
    const auto some = best_eliminated_pairs(problem, start, SearchBudget{200'000});
    const auto more = best_eliminated_pairs(problem, start, SearchBudget{2'000'000});
    EXPECT_LE(flops(some), flops(start));
    EXPECT_LE(flops(more), flops(some));
    const auto other = best_eliminated_pairs(problem, start, SearchBudget{200'000}, {}, 1);
    EXPECT_EQ(other, best_eliminated_pairs(problem, start, SearchBudget{200'000}, {}, 1));
    EXPECT_LE(flops(other), flops(start));
  }
  std::uint64_t work = 0;
  EXPECT_TRUE(eliminated_pairs(testing::lattice(6, 40), {}, work, 1000).empty())
      << "there is not enough work for an order";
  EXPECT_LT(work, 5000U);
}

TEST(EliminatedPath, CanBeCancelled) {
  Cancellation cancellation;
  cancellation.request();
  std::uint64_t work = 0;
  EXPECT_THROW(eliminated_pairs(testing::lattice(6, 40), {}, work, kEnough, {.cancellation = &cancellation}), Error);
}

}  // namespace
}  // namespace eindb
