#include "optimizer/paths/contraction_path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "common/error.hpp"
#include "optimizer/paths/greedy_path.hpp"

namespace eindb {
namespace {

using Steps = std::vector<ContractionPath::Step>;

// A chain of matrices 10 x 100, 100 x 5, 5 x 50; the optimal order is (A B) C.
TEST(ContractionPath, MatrixChain) {
  const ContractionProblem problem{{{0, 1}, {1, 2}, {2, 3}}, {0, 3}, {10, 100, 5, 50}};
  const auto path = greedy_path(problem);
  EXPECT_EQ(path.steps, (Steps{{0, 1}, {0, 1}}));
  EXPECT_EQ(path.flops, 2 * (10 * 100 * 5 + 10 * 5 * 50));
  EXPECT_EQ(path.largest_intermediate, 500);
}

TEST(ContractionPath, ConnectedPairsBeforeOuterProducts) {
  // B (1) and D (3) share a label; A and C are vectors of their own.
  const ContractionProblem problem{{{0}, {1, 2}, {3}, {2, 4}}, {0, 1, 3, 4}, {7, 2, 2, 3, 2}};
  const auto path = greedy_path(problem);
  // Then C (3 elements) and BD (4), then A (7).
  EXPECT_EQ(path.steps, (Steps{{1, 3}, {1, 2}, {0, 1}}));
}

TEST(ContractionPath, HyperedgesAreSummedWithTheirLastHolder) {
  // SUM over a of X[a] Y[a] Z[a]: only the last step sums.
  const ContractionProblem problem{{{0}, {0}, {0}}, {}, {10}};
  const auto path = greedy_path(problem);
  EXPECT_EQ(path.flops, 10 + 20);
  EXPECT_EQ(path.largest_intermediate, 10);
}

TEST(ContractionPath, TrivialProblems) {
  EXPECT_TRUE(greedy_path({{}, {}, {}}).steps.empty());
  EXPECT_TRUE(greedy_path({{{0}}, {}, {5}}).steps.empty());
  EXPECT_EQ(greedy_path({{{}, {}, {}}, {}, {}}).steps.size(), 2U);
}

TEST(ContractionPath, PositionsAndResultsAreInverse) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const std::size_t n = 2 + random() % 20;
    ContractionProblem problem{std::vector<std::vector<std::size_t>>(n), {}, {}};
    std::vector<std::size_t> alive(n);
    for (std::size_t i = 0; i < n; ++i) alive[i] = i;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    Steps by_hand;
    for (std::size_t s = 0; s + 1 < n; ++s) {
      std::size_t a = random() % alive.size();
      std::size_t b = random() % (alive.size() - 1);
      if (b >= a) ++b;
      if (a > b) std::swap(a, b);
      by_hand.emplace_back(a, b);
      pairs.emplace_back(alive[a], alive[b]);
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(b));
      alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(a));
      alive.push_back(n + s);
    }
    EXPECT_EQ(path_of_results(problem, pairs).steps, by_hand);
    EXPECT_EQ(results_of_path(n, by_hand), pairs);
  }
}

TEST(ContractionPath, BrokenPathsAreRefused) {
  EXPECT_THROW(results_of_path(3, {{0, 3}}), Error);
  EXPECT_THROW(results_of_path(3, {{1, 1}}), Error);
  EXPECT_THROW(path_of_results({{{}, {}, {}}, {}, {}}, {{0, 1}, {0, 2}}), Error);
  EXPECT_THROW(path_of_results({{{}, {}, {}}, {}, {}}, {{0, 1}}), Error);
}

// The plain definition of a contraction step: no queue, no limit on partners, a real list.
class PlainNetwork {
 public:
  using Operand = std::vector<std::size_t>;
  explicit PlainNetwork(const ContractionProblem& problem) : problem_(problem), operands_(problem.operands) {}

  // size(result) - size(a) - size(b) for a pair that shares a label.
  std::optional<double> connected_cost(std::size_t a, std::size_t b) const {
    const auto shared = [&](std::size_t label) { return has(operands_[b], label); };
    if (std::none_of(operands_[a].begin(), operands_[a].end(), shared)) return std::nullopt;
    return size(result(a, b)) - size(operands_[a]) - size(operands_[b]);
  }

  // The pair that greedy must take; nullopt if no pair is connected.
  std::optional<ContractionPath::Step> best() const {
    std::optional<ContractionPath::Step> pair;
    for (std::size_t a = 0; a < operands_.size(); ++a)
      for (std::size_t b = a + 1; b < operands_.size(); ++b)
        if (const auto cost = connected_cost(a, b);
            cost && (!pair || *cost < *connected_cost(pair->first, pair->second)))
          pair = {a, b};
    return pair;
  }

  void contract(ContractionPath::Step step) {
    auto joined = result(step.first, step.second);
    operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(step.second));
    operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(step.first));
    operands_.push_back(std::move(joined));
  }

 private:
  static bool has(const Operand& operand, std::size_t label) {
    return std::find(operand.begin(), operand.end(), label) != operand.end();
  }

  Operand result(std::size_t a, std::size_t b) const {
    Operand kept;
    for (std::size_t label = 0; label < problem_.extents.size(); ++label) {
      if (!has(operands_[a], label) && !has(operands_[b], label)) continue;
      bool needed = has(problem_.output, label);
      for (std::size_t c = 0; c < operands_.size(); ++c)
        needed = needed || (c != a && c != b && has(operands_[c], label));
      if (needed) kept.push_back(label);
    }
    return kept;
  }

  double size(const Operand& operand) const {
    double out = 1;
    for (const auto label : operand) out *= static_cast<double>(problem_.extents[label]);
    return out;
  }

  const ContractionProblem& problem_;
  std::vector<Operand> operands_;
};

TEST(ContractionPath, GreedyFollowsItsDefinition) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    ContractionProblem problem{{}, {}, {2, 3, 5, 7, 11, 13, 17, 19, 23, 29}};
    const std::size_t n = 3 + random() % 6;
    for (std::size_t o = 0; o < n; ++o) {
      auto& operand = problem.operands.emplace_back();
      for (std::size_t label = 0; label < problem.extents.size(); ++label)
        if (random() % 4 == 0) operand.push_back(label);
      std::shuffle(operand.begin(), operand.end(), random);
    }
    if (round % 2 == 0) problem.output = {random() % problem.extents.size()};
    const auto path = greedy_path(problem);
    ASSERT_EQ(path.steps.size(), n - 1);
    PlainNetwork network(problem);
    for (const auto& step : path.steps) {
      const auto best = network.best();
      const auto cost = network.connected_cost(step.first, step.second);
      ASSERT_EQ(cost.has_value(), best.has_value()) << "an outer product before the last connected pair";
      if (best) {
        EXPECT_EQ(*cost, *network.connected_cost(best->first, best->second));
      }
      network.contract(step);
    }
  }
}

// Large networks: a chain, and a star in which one label joins everything.
TEST(ContractionPath, ThousandsOfOperands) {
  const std::size_t n = 2000;
  ContractionProblem chain{{}, {0, n}, std::vector<std::int64_t>(n + 1, 2)};
  ContractionProblem star{{}, {0}, std::vector<std::int64_t>(n + 1, 2)};
  for (std::size_t o = 0; o < n; ++o) {
    chain.operands.push_back({o, o + 1});
    star.operands.push_back({0, o + 1});
  }
  EXPECT_EQ(greedy_path(chain).largest_intermediate, 4);
  EXPECT_EQ(greedy_path(star).steps.size(), n - 1);
}

}  // namespace
}  // namespace eindb
