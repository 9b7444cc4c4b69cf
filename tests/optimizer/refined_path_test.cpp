#include "optimizer/paths/refined_path.hpp"

#include <gtest/gtest.h>

#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/optimal_path.hpp"
#include "tests/optimizer/random_network.hpp"

namespace eindb {
namespace {

constexpr PathObjective kRefinedObjectives[] = {PathObjective::Flops, PathObjective::Size, PathObjective::Mix};
constexpr SearchBudget kMuch{1'000'000'000};

// Eight operands are one piece, which gets the best tree.
TEST(RefinedPath, OfAFewOperandsIsOptimal) {
  std::mt19937 random(61);
  for (int round = 0; round < 100; ++round) {
    const auto problem = testing::random_network(random, 3 + random() % 6, 2 + random() % 11, 2 + random() % 3);
    for (const auto objective : {PathObjective::Flops, PathObjective::Mix}) {
      const SearchContext context{objective};
      const auto path = path_of_results(problem, refined_pairs(problem, greedy_pairs(problem, {}), kMuch, context));
      const double least = value_of(path_of_results(problem, optimal_pairs(problem, context)), objective).work;
      EXPECT_NEAR(value_of(path, objective).work, least, 1e-9 * least);
    }
  }
}

TEST(RefinedPath, NeverWorseAndTheSameTwice) {
  std::mt19937 random(62);
  for (int round = 0; round < 20; ++round) {
    const auto problem = testing::random_network(random, 60, 20 + random() % 80, 5 + random() % 20);
    const auto start = greedy_pairs(problem, {});
    for (const auto objective : kRefinedObjectives) {
      const SearchContext context{objective};
      const auto refined = refined_pairs(problem, start, kMuch, context);
      const auto value = [&](const ResultPairs& pairs) { return value_of(path_of_results(problem, pairs), objective); };
      EXPECT_FALSE(value(start).is_less(value(refined)));
      EXPECT_EQ(refined_pairs(problem, start, kMuch, context), refined);
      EXPECT_EQ(refined_pairs(problem, start, {0}, context), start);
    }
  }
}

TEST(RefinedPath, MendsWhatGreedyGetsWrong) {
  std::mt19937 random(63);
  const auto problem = testing::regular_network(random, 100, 3, 2);
  const auto start = greedy_pairs(problem, {});
  EXPECT_LT(path_of_results(problem, refined_pairs(problem, start, kMuch)).flops,
            path_of_results(problem, start).flops / 2);
}

// Products of extents may exceed a double: pieces are costed in long doubles.
TEST(RefinedPath, SizesBeyondDoubles) {
  std::mt19937 random(64);
  const auto problem = testing::regular_network(random, 60, 6, 1'000'000'000'000);
  const auto start = greedy_pairs(problem, {});
  EXPECT_EQ(refined_pairs(problem, start, kMuch).size(), start.size());
}

TEST(RefinedPath, TrivialProblems) {
  EXPECT_TRUE(refined_pairs({{}, {}, {}}, {}, kMuch).empty());
  EXPECT_EQ(refined_pairs({{{0}, {0}}, {}, {5}}, {{0, 1}}, kMuch).size(), 1U);
  EXPECT_EQ(refined_pairs({{{}, {}, {}}, {}, {}}, {{0, 1}, {2, 3}}, kMuch).size(), 2U);
  EXPECT_EQ(refined_pairs({{{0}, {0, 1}, {1}}, {0}, {0, 3}}, {{0, 1}, {2, 3}}, kMuch).size(), 2U);
}

}  // namespace
}  // namespace eindb
