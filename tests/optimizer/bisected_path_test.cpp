#include "optimizer/paths/bisected_path.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "optimizer/paths/bisection.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "tests/optimizer/random_network.hpp"

namespace eindb {
namespace {

Hypergraph graph_of(const ContractionProblem& problem) {
  std::vector<Hypergraph::Edge> edges(problem.extents.size());
  for (std::uint32_t n = 0; n < problem.operands.size(); ++n)
    for (const auto label : problem.operands[n]) edges[label].vertices.push_back(n);
  for (auto& edge : edges) edge.weight = 1;
  return {std::vector<std::uint32_t>(problem.operands.size(), 1), edges};
}

TEST(Hypergraph, UnitesVertices) {
  const Hypergraph graph({1, 2, 3, 4}, {{{0, 1, 2}, 5}, {{2, 3}, 7}, {{1}, 1}, {{0, 1}, 0}});
  EXPECT_EQ(graph.edge_count(), 2U) << "an edge of one vertex, and one without weight";
  const auto united = graph.contracted({0, 0, 0, 1}, 2);
  EXPECT_EQ(united.vertex_weight(0), 6U);
  ASSERT_EQ(united.edge_count(), 1U);
  EXPECT_EQ(united.edge_weight(0), 7);
  EXPECT_EQ(united.edges_of(1).size(), 1U);
}

// Against every balanced cut of small graphs.
TEST(Bisection, IsNearlyTheBestCut) {
  std::mt19937 random(41);
  double found = 0;
  double least = 0;
  for (int round = 0; round < 50; ++round) {
    const auto graph = graph_of(testing::random_network(random, 12, 20, 5));
    std::uint64_t work = 0;
    const auto side = bisect(graph, {0, static_cast<std::uint64_t>(round)}, work);
    EXPECT_EQ(std::accumulate(side.begin(), side.end(), 0), 6) << "no imbalance was allowed";
    double best = 1e9;
    for (unsigned set = 0; set < 1U << 12U; ++set) {
      if (std::popcount(set) != 6) continue;
      std::vector<std::uint8_t> cut(12);
      for (std::size_t v = 0; v < 12; ++v) cut[v] = set >> v & 1U;
      best = std::min(best, cut_weight(graph, cut));
    }
    EXPECT_GE(cut_weight(graph, side), best);
    found += cut_weight(graph, side);
    least += best;
  }
  EXPECT_LE(found, 1.1 * least);
}

TEST(Bisection, CutsALatticeStraight) {
  const auto graph = graph_of(testing::lattice(20, 10));
  std::uint64_t work = 0;
  EXPECT_LE(cut_weight(graph, bisect(graph, {0.1, 1}, work)), 12);
  EXPECT_GT(work, graph.pin_count());
}

// Every path found contracts everything, whatever the network.
TEST(BisectedPath, TakesEveryNetwork) {
  std::mt19937 random(42);
  for (int round = 0; round < 100; ++round) {
    const auto problem = testing::random_network(random, random() % 60, 1 + random() % 40, 2 + random() % 20);
    std::uint64_t work = 0;
    const auto pairs = bisected_pairs(problem, 0.3, static_cast<std::uint64_t>(round), work);
    EXPECT_EQ(path_of_results(problem, pairs).steps.size() + 1, std::max<std::size_t>(1, problem.operands.size()));
    std::uint64_t again = 0;
    EXPECT_EQ(bisected_pairs(problem, 0.3, static_cast<std::uint64_t>(round), again), pairs);
    EXPECT_EQ(again, work);
  }
}

TEST(BisectedPath, SizesBeyondAllNumbers) {
  std::mt19937 random(43);
  auto problem = testing::regular_network(random, 200, 6, 1'000'000'000'000);
  std::uint64_t work = 0;
  EXPECT_EQ(bisected_pairs(problem, 0.1, 1, work).size(), 199U);
  problem.extents.assign(problem.extents.size(), 0);
  EXPECT_EQ(bisected_pairs(problem, 0.1, 1, work).size(), 199U);
}

// All operands share one label and have no other.
TEST(BisectedPath, OneHyperedge) {
  const ContractionProblem star{std::vector<std::vector<std::size_t>>(3000, {0}), {}, {10}};
  std::uint64_t work = 0;
  EXPECT_EQ(bisected_pairs(star, 0.1, 1, work).size(), 2999U);
}

// A sweep along the shorter side holds twelve labels and a corner; greedy holds more, all at once.
TEST(BisectedPath, SweepsOverLattices) {
  const auto problem = testing::lattice(40, 12);
  const auto best = best_bisected_pairs(problem, greedy_pairs(problem, {}), SearchBudget::of_seconds(0.1));
  const auto path = path_of_results(problem, best);
  EXPECT_LE(path.largest_intermediate, std::exp2(14));
  EXPECT_LT(path.flops, greedy_path(problem).flops / 5);
}

TEST(BisectedPath, OnlyGetsBetter) {
  std::mt19937 random(44);
  for (int round = 0; round < 10; ++round) {
    const auto problem = testing::random_network(random, 60, 90, 25);
    const auto start = greedy_pairs(problem, {});
    const auto some = best_bisected_pairs(problem, start, SearchBudget::of_seconds(0.02));
    const auto more = best_bisected_pairs(problem, start, SearchBudget::of_seconds(0.05));
    EXPECT_LE(path_of_results(problem, some).flops, path_of_results(problem, start).flops);
    EXPECT_LE(path_of_results(problem, more).flops, path_of_results(problem, some).flops);
    EXPECT_EQ(best_bisected_pairs(problem, start, {0}), start);
  }
}

}  // namespace
}  // namespace eindb
