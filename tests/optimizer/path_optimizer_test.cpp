#include "optimizer/paths/path_optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "common/error.hpp"
#include "optimizer/paths/annealed_path.hpp"
#include "optimizer/paths/contraction_tree.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/random_greedy_path.hpp"
#include "tests/optimizer/random_network.hpp"

namespace eindb {
namespace {

constexpr PathOptimizer kAllOptimizers[] = {PathOptimizer::Auto, PathOptimizer::Greedy, PathOptimizer::Optimal,
                                            PathOptimizer::Anneal};

ContractionPath find(const ContractionProblem& problem, PathOptions options) {
  PathSearch search(options);
  return search.find(problem);
}

TEST(PathOptimizer, Names) {
  for (const auto optimizer : kAllOptimizers) EXPECT_EQ(parse_path_optimizer(name_of(optimizer)), optimizer);
  EXPECT_EQ(parse_path_optimizer("Greedy"), PathOptimizer::Greedy);
  EXPECT_THROW(parse_path_optimizer("best"), Error);
}

TEST(PathOptimizer, NeverWorseThanGreedyAndTheSameTwice) {
  std::mt19937 random(21);
  for (int round = 0; round < 60; ++round) {
    const auto problem = testing::random_network(random, 2 + random() % 12, 3 + random() % 12, 3);
    const double greedy = greedy_path(problem).flops;
    const double least = find(problem, {PathOptimizer::Optimal, {}}).flops;
    for (const auto optimizer : kAllOptimizers) {
      const PathOptions options{optimizer, 0.005};
      const auto path = find(problem, options);
      EXPECT_LE(path.flops, greedy);
      EXPECT_GE(path.flops, least * (1 - 1e-9));
      EXPECT_EQ(path.steps, find(problem, options).steps);
    }
  }
}

// Greedy's path wins ties, so that plans change only if they get better.
TEST(PathOptimizer, KeepsGreedysPathWhereNoneIsBetter) {
  const ContractionProblem star{{{0}, {0}, {0}, {0}}, {0}, {10}};
  for (const auto optimizer : kAllOptimizers) EXPECT_EQ(find(star, {optimizer, {}}).steps, greedy_path(star).steps);
}

TEST(PathOptimizer, AutoPicksBySizeAndBudget) {
  std::mt19937 random(22);
  const auto method = [](const ContractionProblem& problem, std::optional<double> seconds) {
    PathSearch search({PathOptimizer::Auto, seconds});
    search.find(problem);
    return search.report().methods.at(0);
  };
  EXPECT_EQ(method(testing::regular_network(random, 12, 3, 8), {}), "optimal");
  EXPECT_EQ(method(testing::regular_network(random, 40, 3, 4), {}), "anneal");
  EXPECT_EQ(method(testing::regular_network(random, 40, 3, 4), 0.0), "greedy");
  EXPECT_EQ(method(testing::chain(random, 20000), {}), "greedy");
}

TEST(PathOptimizer, APathThatTakesNoTimeIsNotSearchedFor) {
  std::mt19937 random(22);
  const auto problem = testing::regular_network(random, 6, 3, 2);
  ASSERT_LT(greedy_path(problem).flops, 20000);
  const auto method = [&](const PathOptions& options) {
    PathSearch search(options);
    search.find(problem);
    return search.report().methods.at(0);
  };
  EXPECT_EQ(method({}), "greedy");
  EXPECT_EQ(method({.seconds = 0.01}), "optimal");
  EXPECT_EQ(method({.seconds = std::nullopt, .objective = PathObjective::Size}), "optimal");
  EXPECT_EQ(method({.optimizer = PathOptimizer::Optimal, .seconds = std::nullopt}), "optimal");
  EXPECT_EQ(method({.seconds = std::nullopt, .memory_limit = 8}), "optimal");
}

TEST(PathOptimizer, AllSubsetsAreSearchedWhereThePathTakesLonger) {
  std::mt19937 random(24);
  const auto method = [](const ContractionProblem& problem, const PathOptions& options) {
    PathSearch search(options);
    const auto path = search.find(problem);
    EXPECT_LE(path.flops, greedy_path(problem).flops);
    return search.report().methods.at(0);
  };
  const auto few = testing::regular_network(random, 14, 3, 4);
  const auto many = testing::regular_network(random, 14, 3, 16);
  ASSERT_LT(greedy_path(few).flops, 1e6);
  ASSERT_GT(greedy_path(few).flops, 20000);
  ASSERT_GT(greedy_path(many).flops, 5e7);
  EXPECT_NE(method(few, {}), "optimal");
  EXPECT_EQ(method(few, {.seconds = 0.001}), "optimal");
  EXPECT_EQ(method(few, {.optimizer = PathOptimizer::Optimal, .seconds = std::nullopt}), "optimal");
  EXPECT_EQ(method(many, {}), "optimal");
}

TEST(PathOptimizer, AnnealingIsWorthOrdersOfMagnitude) {
  std::mt19937 random(23);
  const auto problem = testing::regular_network(random, 100, 3, 2);
  const double gain =
      std::log10(greedy_path(problem).flops) - std::log10(find(problem, {PathOptimizer::Anneal, 0.1}).flops);
  EXPECT_GT(gain, 0.5);
}

TEST(RandomGreedyPath, OnlyGetsBetter) {
  std::mt19937 random(24);
  for (int round = 0; round < 20; ++round) {
    const auto problem = testing::random_network(random, 20, 30, 8);
    const auto start = greedy_pairs(problem, {});
    const auto some = random_greedy_pairs(problem, start, SearchBudget::of_seconds(0.01));
    const auto more = random_greedy_pairs(problem, start, SearchBudget::of_seconds(0.02));
    EXPECT_LE(path_of_results(problem, some).flops, path_of_results(problem, start).flops);
    EXPECT_LE(path_of_results(problem, more).flops, path_of_results(problem, some).flops);
    EXPECT_EQ(random_greedy_pairs(problem, start, {0}), start);
  }
}

// After any number of rotations the stored flops equal those of the tree's pairs costed anew.
TEST(ContractionTree, RotationsKeepTheCostsRight) {
  std::mt19937 random(25);
  for (int round = 0; round < 200; ++round) {
    const auto problem = testing::random_network(random, 3 + random() % 10, 2 + random() % 12, 2 + random() % 4);
    ContractionTree tree(problem, greedy_pairs(problem, {}));
    EXPECT_DOUBLE_EQ(tree.cost(), greedy_path(problem).flops);
    for (int rotation = 0; rotation < 50; ++rotation) {
      const auto parent = static_cast<ContractionTree::Node>(tree.leaf_count() + random() % (tree.leaf_count() - 1));
      const std::size_t side = random() % 2;
      if (tree.is_leaf(tree.child(parent, side))) continue;
      const double before = tree.cost();
      const auto looked_at = tree.look_at(parent, side, random() % 2);
      tree.apply(looked_at);
      EXPECT_NEAR(tree.cost(), before - looked_at.cost_before + looked_at.cost_after, 1e-9 * before);
      ASSERT_NEAR(path_of_results(problem, tree.pairs()).flops, tree.cost(), 1e-9 * tree.cost());
    }
  }
}

TEST(ContractionTree, DeepTrees) {
  std::mt19937 random(26);
  const auto problem = testing::chain(random, 20000);
  ResultPairs left;
  for (std::size_t n = 1; n < 20000; ++n) left.emplace_back(n, n == 1 ? 0 : 20000 + n - 2);
  EXPECT_EQ(ContractionTree(problem, left).pairs().size(), left.size());
}

}  // namespace
}  // namespace eindb
