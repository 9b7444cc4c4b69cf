// Orders of contractions of operands with few cells, held against all trees.

#include "optimizer/paths/cell_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "optimizer/paths/path_optimizer.hpp"

namespace eindb {
namespace {

// Calls `visit` for every order in which the results that are alive can be joined in pairs.
void every_path(const std::vector<std::size_t>& alive, std::size_t next, const ResultPairs& begun,
                const std::function<void(const ResultPairs&)>& visit) {
  if (alive.size() < 2) return visit(begun);
  for (std::size_t b = 1; b < alive.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      auto pairs = begun;
      pairs.emplace_back(alive[a], alive[b]);
      auto left = alive;
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(b));
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(a));
      left.push_back(next);
      every_path(left, next + 1, pairs, visit);
    }
  }
}

CellEstimate cells(double count) { return {count, {}}; }

// A[i,j] * B[j,k] * C[k,l] * x[l] with n values of each label.
ContractionProblem chain(std::int64_t n, double a, double b, double c) {
  return {.operands = {{0, 1}, {1, 2}, {2, 3}, {3}},
          .output = {0},
          .extents = {n, n, n, n},
          .cells = {cells(a), cells(b), cells(c), std::nullopt}};
}

TEST(CellPath, BeginsWithTheVector) {
  const auto pairs = pairs_by_cells(chain(100'000, 1e6, 1e6, 1e6));
  EXPECT_EQ(pairs, (ResultPairs{{2, 3}, {1, 4}, {0, 5}}));
}

// A[i,j] * B[j,k] * C[k,l]: B has few cells, and what is joined with it has few, too.
TEST(CellPath, BeginsWithTheFewestCells) {
  auto problem = chain(100'000, 1e6, 1e6, 1e6);
  problem.operands.pop_back();
  problem.output = {0, 3};
  problem.cells = {cells(1e6), cells(1e6), cells(100)};
  EXPECT_EQ(pairs_by_cells(problem).front(), (ResultPairs::value_type{1, 2}));
  problem.cells = {cells(100), cells(1e6), cells(1e6)};
  EXPECT_EQ(pairs_by_cells(problem).front(), (ResultPairs::value_type{0, 1}));
}

// A * B was seen to have far more cells than expected, so C is joined first; what is known of all operands but one
// counts for the sets that have it.
TEST(CellPath, GoesByWhatIsKnown) {
  ContractionProblem problem{.operands = {{0, 1}, {1, 2}, {2, 3}, {3, 4}},
                             .output = {0, 4},
                             .extents = {100'000, 100'000, 100'000, 100'000, 100'000},
                             .cells = {cells(1e3), cells(1e4), cells(1e6), cells(1e6)}};
  const auto guessed = pairs_by_cells(problem);
  EXPECT_EQ(guessed, (ResultPairs{{0, 1}, {2, 4}, {3, 5}}));
  const auto cost = cost_by_cells(problem, guessed);
  problem.known[0b0011] = {1e8, {}};
  EXPECT_NE(pairs_by_cells(problem).front(), (ResultPairs::value_type{0, 1}));
  EXPECT_GT(cost_by_cells(problem, guessed), 100 * cost);
}

TEST(CellPath, IsTheBestOfAllTrees) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const auto any = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    ContractionProblem problem;
    const auto labels = static_cast<std::size_t>(any(3, 6));
    for (std::size_t l = 0; l < labels; ++l) problem.extents.push_back(any(1, 2000));
    const auto operands = any(2, 5);
    for (std::int64_t n = 0; n < operands; ++n) {
      auto& operand = problem.operands.emplace_back();
      double size = 1;
      for (std::size_t l = 0; l < labels; ++l)
        if (any(0, 2) == 0) operand.push_back(l), size *= static_cast<double>(problem.extents[l]);
      const bool few = !operand.empty() && any(0, 1) == 0;
      problem.cells.push_back(few ? std::optional(cells(std::max(1.0, size * 0.001))) : std::nullopt);
    }
    for (std::size_t l = 0; l < labels; ++l) {
      const bool occurs = std::any_of(problem.operands.begin(), problem.operands.end(), [&](const auto& operand) {
        return std::find(operand.begin(), operand.end(), l) != operand.end();
      });
      if (occurs && any(0, 2) == 0) problem.output.push_back(l);
    }
    double least = std::numeric_limits<double>::infinity();
    std::vector<std::size_t> alive(problem.operands.size());
    std::iota(alive.begin(), alive.end(), std::size_t{0});
    every_path(alive, alive.size(), {},
               [&](const ResultPairs& pairs) { least = std::min(least, cost_by_cells(problem, pairs)); });
    EXPECT_NEAR(cost_by_cells(problem, pairs_by_cells(problem)) / least, 1, 1e-9) << trial;
  }
}

TEST(CellPath, IsTakenWhereProblemsHaveCells) {
  auto problem = chain(1000, 1000, 1000, 1000);
  PathSearch search({.seconds = {}, .by_cells = true});
  search.find(problem);
  EXPECT_EQ(search.report().methods, (std::vector<std::string>{"cells"}));
  search.forget_cells();
  search.find(problem);
  EXPECT_EQ(search.report().methods.size(), 2U);
  PathSearch greedy({.optimizer = PathOptimizer::Greedy, .seconds = {}, .by_cells = true});
  greedy.find(problem);
  EXPECT_EQ(greedy.report().methods, (std::vector<std::string>{"greedy"}));
}

}  // namespace
}  // namespace eindb
