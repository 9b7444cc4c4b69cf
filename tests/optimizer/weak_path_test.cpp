#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "common/divisors.hpp"
#include "optimizer/redistribution/weak_path_search.hpp"
#include "tests/trial_counts.hpp"

namespace eindb {
namespace {

using Costs = std::map<Partition, double>;

// Every type that is one collective away, and the cost by the rules of section 7.2 alone.
Costs neighbours(const WeakProblem& problem, const Partition& parts) {
  std::int64_t used = 1;
  for (const auto p : parts) used *= p;
  const auto size = static_cast<double>(local_size(problem.shape, parts));
  Costs out;
  const auto add = [&](const Partition& next, double cost) {
    if (local_size(problem.shape, next) <= problem.memory) out.emplace(next, cost).first->second = cost;
  };
  for (std::int64_t n = 2; n <= problem.ranks; ++n) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto next = parts;
      next[i] *= n;
      if (problem.ranks % (used * n) == 0 && next[i] <= problem.shape[i]) add(next, 0);
      if (parts[i] % n != 0) continue;
      next[i] = parts[i] / n;
      add(next, static_cast<double>(local_size(problem.shape, next)) + problem.costs.latency(n));
      for (std::size_t j = 0; j < parts.size(); ++j) {
        auto moved = next;
        moved[j] *= n;
        if (j != i && moved[j] <= problem.shape[j]) add(moved, size + problem.costs.latency(n));
      }
    }
  }
  return out;
}

// Lowers the costs of all types until nothing changes.
double brute_force_cost(const WeakProblem& problem) {
  Costs costs{{problem.source, 0}};
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [parts, cost] : Costs(costs)) {
      for (const auto& [next, edge] : neighbours(problem, parts)) {
        const auto known = costs.find(next);
        if (known != costs.end() && known->second <= cost + edge) continue;
        costs[next] = cost + edge;
        changed = true;
      }
    }
  }
  return costs.contains(problem.target) ? costs[problem.target] : std::numeric_limits<double>::infinity();
}

// Distributes the prime factors of `ranks` over dimensions; some stay unused.
Partition dealt(std::mt19937& random, std::int64_t ranks, std::size_t dimensions) {
  Partition parts(dimensions, 1);
  for (const auto prime : prime_factors(ranks))
    if (const auto d = random() % (dimensions + 1); d < dimensions) parts[d] *= prime;
  return parts;
}

WeakProblem random_problem(std::mt19937& random, std::int64_t ranks) {
  const std::size_t dimensions = 1 + random() % 3;
  WeakProblem problem;
  problem.ranks = ranks;
  problem.source = dealt(random, ranks, dimensions);
  problem.target = dealt(random, ranks, dimensions);
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < dimensions; ++d) extents.push_back(ranks * static_cast<std::int64_t>(1 + random() % 3));
  problem.shape = Shape(extents);
  problem.memory = std::max(local_size(problem.shape, problem.source), local_size(problem.shape, problem.target));
  return problem;
}

TEST(WeakPath, CostsAsBruteForceFinds) {
  std::mt19937 random(7);
  for (const std::int64_t ranks : {2, 6, 8, 12, 16, 18}) {
    for (int round = 0; round < 40; ++round) {
      const testing::Trial trial("brute_force");
      auto problem = random_problem(random, ranks);
      if (round % 3 == 1) problem.costs = {100, 0};
      if (round % 3 == 2) problem.costs = {100, 7};
      const auto path = WeakPathSearch(problem).next();
      ASSERT_TRUE(path.has_value());
      EXPECT_EQ(path->cost, brute_force_cost(problem))
          << problem.shape.to_string() << " " << bracketed(problem.source) << " -> " << bracketed(problem.target);
    }
  }
}

TEST(WeakPath, EveryStepIsACollectiveAndFitsMemory) {
  std::mt19937 random(8);
  for (int round = 0; round < 50; ++round) {
    auto problem = random_problem(random, 24);
    problem.slack = static_cast<double>(problem.memory);
    WeakPathSearch search(problem);
    double last = 0;
    for (int n = 0; n < 20; ++n) {
      const auto path = search.next();
      if (!path) break;
      EXPECT_GE(path->cost, last);
      last = path->cost;
      EXPECT_EQ(path->types.front(), problem.source);
      EXPECT_EQ(path->types.back(), problem.target);
      double cost = 0;
      for (std::size_t t = 0; t + 1 < path->types.size(); ++t) {
        const auto next = neighbours(problem, path->types[t]);
        ASSERT_TRUE(next.contains(path->types[t + 1]));
        cost += next.at(path->types[t + 1]);
      }
      EXPECT_EQ(path->cost, cost);
    }
  }
}

// Example 3.1: no single axis of {x:4, y:6} can move, but factors of one can.
TEST(WeakPath, FactorsMoveWhereWholeAxesCannot) {
  const WeakProblem problem{Shape({12, 12}), 24, {4, 6}, {6, 4}, 6, 0, {}};
  const auto path = WeakPathSearch(problem).next();
  ASSERT_TRUE(path.has_value());
  EXPECT_EQ(path->cost, 12);  // two alltoalls of 6: 3 from 1 to 0, 2 from 0 to 1
  EXPECT_EQ(path->types.size(), 3U);
}

// Copies count in addition to received elements if their cost is set.
TEST(WeakPath, PiecesThatDoNotTravelAsTheyLieArePacked) {
  const Shape shape({8, 8});
  const CollectiveCosts costs{.per_kept_element = 0.5, .per_packed_element = 100};
  EXPECT_EQ(operation_cost(shape, {1, 1}, {1, 2}, costs), 3200);    // 32 elements are cut out
  EXPECT_EQ(operation_cost(shape, {4, 1}, {1, 1}, costs), 48 + 8);  // of 64 elements 16 are kept, and all lie in rows
  EXPECT_EQ(operation_cost(shape, {1, 4}, {1, 1}, costs), 48 + 8 + 6400);  // columns are put into rows
  EXPECT_EQ(operation_cost(shape, {4, 1}, {1, 4}, costs),
            12 + 2 + 1600);  // cut out of rows, received where they belong
  EXPECT_EQ(operation_cost(shape, {1, 4}, {4, 1}, costs), 12 + 2 + 1600);  // and the other way round
  // If the first dimension has one index, the second is the outermost.
  EXPECT_EQ(operation_cost(Shape({2, 8}), {2, 4}, {2, 1}, costs), 6 + 1);
  // Uneven pieces are padded: of 4, 3 and 3 elements three slots of 4.
  EXPECT_EQ(operation_cost(Shape({10}), {3}, {1}, {.per_packed_element = 100}), 10 + 1000);
}

TEST(WeakPath, NeighboursOfOneKindAreOne) {
  const Shape shape({8, 8, 8});
  EXPECT_EQ(merged(shape, {{2, 2, 1}, {1, 2, 1}, {1, 1, 1}}, {}), (WeakPath{{2, 2, 1}, {1, 1, 1}}));
  EXPECT_EQ(merged(shape, {{1, 1, 1}, {2, 1, 1}, {2, 2, 1}}, {}), (WeakPath{{1, 1, 1}, {2, 2, 1}}));
  EXPECT_EQ(merged(shape, {{2, 2, 1}, {1, 4, 1}, {1, 2, 2}}, {}), (WeakPath{{2, 2, 1}, {1, 4, 1}, {1, 2, 2}}));
  EXPECT_EQ(merged(shape, {{4, 1, 1}, {2, 2, 1}, {1, 2, 2}}, {}), (WeakPath{{4, 1, 1}, {1, 2, 2}}));
  // A larger group costs more if peers have a cost.
  EXPECT_EQ(merged(shape, {{4, 4, 1}, {1, 4, 1}, {1, 1, 1}}, {0, 1000}), (WeakPath{{4, 4, 1}, {1, 4, 1}, {1, 1, 1}}));
}

}  // namespace
}  // namespace eindb
