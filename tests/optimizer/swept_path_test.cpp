#include "optimizer/paths/swept_path.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "common/error.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "tests/optimizer/random_network.hpp"

namespace eindb {
namespace {

TEST(SweptPath, IsNeverWorseThanItsStartAndTheSameTwice) {
  std::mt19937 random(81);
  for (int round = 0; round < 200; ++round) {
    const auto problem = testing::random_network(random, 1 + random() % 12, 1 + random() % 12, 3);
    const auto start = greedy_pairs(problem, {});
    for (const auto objective : {PathObjective::Flops, PathObjective::Size, PathObjective::Mix}) {
      const SearchContext context{.objective = objective};
      const auto value = [&](const ResultPairs& pairs) { return value_of(path_of_results(problem, pairs), objective); };
      const auto pairs = best_swept_pairs(problem, start, SearchBudget{200'000}, context);
      ASSERT_EQ(pairs.size() + 1, problem.operands.size());
      EXPECT_FALSE(value(start).is_less(value(pairs)));
      EXPECT_EQ(pairs, best_swept_pairs(problem, start, SearchBudget{200'000}, context));
    }
  }
}

// A front across a board passes through n columns and up to 2 n diagonals; greedy makes results of far more labels.
TEST(SweptPath, KeepsAStraightFront) {
  const auto board = testing::queens(16);
  const auto start = greedy_pairs(board, {});
  const auto swept = path_of_results(board, best_swept_pairs(board, start, SearchBudget{20'000'000}));
  EXPECT_LE(std::log2(swept.largest_intermediate), 3 * 16 + 8);
  EXPECT_GT(std::log2(path_of_results(board, start).largest_intermediate), 100);
  PathSearch search({.optimizer = PathOptimizer::Auto, .seconds = 0.1});
  EXPECT_LE(std::log2(search.find(board).flops), 3 * 16 + 20);

  const auto field = testing::lattice(6, 60);
  const auto across =
      path_of_results(field, best_swept_pairs(field, greedy_pairs(field, {}), SearchBudget{20'000'000}));
  EXPECT_LE(std::log2(across.largest_intermediate), 7);
}

TEST(SweptPath, ReturnsItsStartWithoutTheWork) {
  const auto board = testing::queens(8);
  const auto start = greedy_pairs(board, {});
  EXPECT_EQ(best_swept_pairs(board, start, SearchBudget{1000}), start);
}

TEST(SweptPath, CanBeCancelled) {
  Cancellation cancellation;
  cancellation.request();
  const auto board = testing::queens(8);
  EXPECT_THROW(
      best_swept_pairs(board, greedy_pairs(board, {}), SearchBudget{20'000'000}, {.cancellation = &cancellation}),
      Error);
}

// The work of a sweep is never nothing.
TEST(SweptPath, EndsWithoutLabels) {
  const ContractionProblem scalars{std::vector<std::vector<std::size_t>>(5), {}, {}};
  const auto start = greedy_pairs(scalars, {});
  EXPECT_EQ(best_swept_pairs(scalars, start, SearchBudget{200'000}), start);
}

}  // namespace
}  // namespace eindb
