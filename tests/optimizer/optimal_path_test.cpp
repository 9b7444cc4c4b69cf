#include "optimizer/paths/optimal_path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "common/error.hpp"
#include "optimizer/paths/all_subsets.hpp"
#include "optimizer/paths/connected_subsets.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "tests/optimizer/every_tree.hpp"
#include "tests/optimizer/random_network.hpp"
#include "tests/trial_counts.hpp"

namespace eindb {
namespace {

using testing::EveryTree;

const IntermediatePrice kFlops(PathObjective::Flops);

// The textbook's recurrence for a chain of matrices.
double best_of_chain(const std::vector<std::int64_t>& extents) {
  const auto n = extents.size() - 1;
  const auto extent = [&](std::size_t l) { return static_cast<double>(extents[l]); };
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  for (std::size_t length = 2; length <= n; ++length) {
    for (std::size_t i = 0; i + length <= n; ++i) {
      const auto j = i + length - 1;
      cost[i][j] = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < j; ++k)
        cost[i][j] = std::min(cost[i][j], cost[i][k] + cost[k + 1][j] + 2 * extent(i) * extent(k + 1) * extent(j + 1));
    }
  }
  return cost[0][n - 1];
}

double optimal_flops(const ContractionProblem& problem) {
  return path_of_results(problem, optimal_pairs(problem)).flops;
}

TEST(OptimalPath, IsTheBestOfEveryTree) {
  std::mt19937 random(11);
  for (int round = 0; round < 600; ++round) {
    const testing::Trial trial("brute_force");
    const std::size_t operands = 2 + random() % 7;  // up to eight
    const auto problem = testing::random_network(random, operands, 2 + random() % 9, 2 + random() % 3);
    ASSERT_DOUBLE_EQ(optimal_flops(problem), EveryTree(problem).best()) << "round " << round;
  }
}

// Small vectors that all meet one large tensor: their outer product comes first.
TEST(OptimalPath, TakesOuterProductsWhereTheyPay) {
  const ContractionProblem problem{{{0}, {1}, {0, 1, 2}}, {2}, {2, 2, 100}};
  EXPECT_EQ(path_of_results(problem, optimal_pairs(problem)).steps,
            (std::vector<ContractionPath::Step>{{0, 1}, {0, 1}}));
  EXPECT_GT(greedy_path(problem).flops, optimal_flops(problem));
}

TEST(OptimalPath, ConnectedSubsetsGiveTheBestTreeWithoutOuterProducts) {
  std::mt19937 random(13);
  int connected = 0;
  for (int round = 0; round < 300; ++round) {
    const auto problem = testing::random_network(random, 3 + random() % 6, 3 + random() % 8, 2 + random() % 3);
    const double expected = EveryTree(problem, false).best();
    const auto search = best_over_connected_subsets(problem, kFlops, {.cost = expected}, 1'000'000'000);
    ASSERT_TRUE(search.finished);
    ASSERT_EQ(search.pairs.empty(), std::isinf(expected));
    if (search.pairs.empty()) continue;
    EXPECT_DOUBLE_EQ(path_of_results(problem, search.pairs).flops, expected);
    EXPECT_TRUE(best_over_connected_subsets(problem, kFlops, {.cost = expected * 0.99}, 1'000'000'000).pairs.empty());
    EXPECT_TRUE(best_over_all_subsets(problem, kFlops, {.cost = expected}));
    EXPECT_FALSE(best_over_connected_subsets(problem, kFlops, {.cost = expected}, 1).finished &&
                 problem.operands.size() > 3);
    ++connected;
  }
  EXPECT_GT(connected, 100);
}

TEST(OptimalPath, LongChains) {
  std::mt19937 random(14);
  for (const std::size_t n : {5U, 15U, 16U, 30U, 64U}) {
    const auto problem = testing::chain(random, n);
    EXPECT_DOUBLE_EQ(optimal_flops(problem), best_of_chain(problem.extents)) << n;
  }
}

// Thirty chains of four operands and three scalars: each component is solved by itself, then the results are joined.
TEST(OptimalPath, PartsThatNothingConnects) {
  ContractionProblem problem;
  double expected = 0;
  for (std::size_t part = 0; part < 30; ++part) {
    std::mt19937 random(static_cast<unsigned>(part));
    const auto chain = testing::chain(random, 4);
    const auto first = problem.extents.size();
    for (const auto& operand : chain.operands) problem.operands.push_back({first + operand[0], first + operand[1]});
    problem.extents.insert(problem.extents.end(), chain.extents.begin(), chain.extents.end());
    expected += best_of_chain(chain.extents);
  }
  for (int n = 0; n < 3; ++n) problem.operands.emplace_back();
  const auto path = path_of_results(problem, optimal_pairs(problem));
  EXPECT_EQ(path.steps.size(), 122U);
  // The ends of each chain are summed too, and 33 scalars take 32 products.
  EXPECT_GT(path.flops, 0);
  EXPECT_LE(path.flops, expected + 32);
  EXPECT_LE(path.flops, greedy_path(problem).flops);
}

TEST(OptimalPath, TrivialProblems) {
  EXPECT_TRUE(optimal_pairs({{}, {}, {}}).empty());
  EXPECT_TRUE(optimal_pairs({{{0}}, {}, {5}}).empty());
  EXPECT_EQ(optimal_pairs({{{}, {}, {}}, {}, {}}).size(), 2U);
  EXPECT_EQ(optimal_pairs({{{0}, {0, 1}, {1}}, {0}, {0, 3}}).size(), 2U) << "an extent of 0";
}

// In a dense network nearly all subsets are connected.
TEST(OptimalPath, TakesEighteenOperandsWhateverTheirLabels) {
  ContractionProblem problem{std::vector<std::vector<std::size_t>>(18), {}, {}};
  std::mt19937 random(81);
  for (std::size_t a = 0; a < problem.operands.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      problem.operands[a].push_back(problem.extents.size());
      problem.operands[b].push_back(problem.extents.size());
      problem.extents.push_back(static_cast<std::int64_t>(1 + random() % 3));
    }
  }
  for (const auto objective : {PathObjective::Flops, PathObjective::Size}) {
    PathSearch optimal({.optimizer = PathOptimizer::Optimal, .seconds = {}, .objective = objective});
    PathSearch annealed({.optimizer = PathOptimizer::Anneal, .seconds = 0.02, .objective = objective});
    const auto best = value_of(optimal.find(problem), objective);
    EXPECT_FALSE(value_of(annealed.find(problem), objective).is_less(best));
  }
}

TEST(OptimalPath, GivesUpWhereItWouldTakeTooLong) {
  std::mt19937 random(15);
  const auto dense = testing::random_network(random, 40, 120, 8);
  try {
    optimal_pairs(dense);
    FAIL() << "40 operands of some 15 labels each";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Value);
    EXPECT_NE(e.message().find("40 operands"), std::string::npos);
    EXPECT_NE(e.hint().find("'anneal'"), std::string::npos);
  }
  EXPECT_THROW(optimal_pairs(testing::chain(random, 65)), Error);
}

}  // namespace
}  // namespace eindb
