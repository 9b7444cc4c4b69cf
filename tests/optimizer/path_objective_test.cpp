#include "optimizer/paths/path_objective.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "common/error.hpp"
#include "optimizer/paths/annealed_path.hpp"
#include "optimizer/paths/connected_subsets.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/optimal_path.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "tests/optimizer/random_network.hpp"

namespace eindb {
namespace {

constexpr PathObjective kNamed[] = {PathObjective::Flops, PathObjective::Size, PathObjective::Mix};
constexpr PathObjective kAllObjectives[] = {
    PathObjective::Flops, PathObjective::Size, PathObjective::Mix, {.weight = 1000}};

// The costs of every binary tree of every subset, by the plain definition of a step. Only the Pareto-optimal costs of a
// subset are kept.
class EveryParetoTree {
 public:
  explicit EveryParetoTree(const ContractionProblem& problem, bool outer_products = true)
      : problem_(problem), outer_products_(outer_products) {}

  // Infinite if there is no tree.
  PathValue best(PathObjective objective) {
    PathValue best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    for (const auto& path : trees((1U << problem_.operands.size()) - 1)) {
      const auto value = value_of(path, objective);
      if (value.largest < best.largest || (value.largest == best.largest && value.work < best.work)) best = value;
    }
    return best;
  }

 private:
  using Paths = std::vector<ContractionPath>;  // without steps

  std::vector<bool> occurring(unsigned set) const {
    std::vector<bool> out(problem_.extents.size(), false);
    for (std::size_t n = 0; n < problem_.operands.size(); ++n)
      if ((set >> n & 1U) != 0)
        for (const auto label : problem_.operands[n]) out[label] = true;
    return out;
  }

  std::vector<bool> labels(unsigned set) const {
    auto out = occurring(set);
    if (std::has_single_bit(set)) return out;
    auto needed = occurring(~set);
    for (const auto label : problem_.output) needed[label] = true;
    for (std::size_t l = 0; l < out.size(); ++l) out[l] = out[l] && needed[l];
    return out;
  }

  double size(const std::vector<bool>& labels) const {
    double size = 1;
    for (std::size_t l = 0; l < labels.size(); ++l) size *= labels[l] ? static_cast<double>(problem_.extents[l]) : 1;
    return size;
  }

  void add_joins(unsigned a, unsigned b, Paths& paths) {
    const auto in_a = labels(a);
    const auto in_b = labels(b);
    const auto in_result = labels(a | b);
    std::vector<bool> all(in_a.size());
    bool shared = false;
    for (std::size_t l = 0; l < all.size(); ++l) {
      all[l] = in_a[l] || in_b[l];
      shared = shared || (in_a[l] && in_b[l]);
    }
    if (!outer_products_ && !shared) return;
    const double flops = size(all) * (all == in_result ? 1 : 2);
    const double kept = size(in_result);
    for (const auto& x : trees(a)) {
      for (const auto& y : trees(b)) {
        paths.push_back({{},
                         x.flops + y.flops + flops,
                         std::max({x.largest_intermediate, y.largest_intermediate, kept}),
                         x.elements_moved + y.elements_moved + size(in_a) + size(in_b) + kept});
      }
    }
  }

  const Paths& trees(unsigned set) {
    if (const auto known = known_.find(set); known != known_.end()) return known->second;
    Paths paths;
    if (std::has_single_bit(set)) paths.emplace_back();
    const unsigned lowest = set & (~set + 1);
    for (unsigned b = (set - 1) & set; b > 0; b = (b - 1) & set)
      if ((b & lowest) == 0) add_joins(set ^ b, b, paths);
    return known_[set] = undominated(std::move(paths));
  }

  static Paths undominated(Paths paths) {
    const auto costs = [](const ContractionPath& p) {
      return std::tuple(p.flops, p.largest_intermediate, p.elements_moved);
    };
    std::sort(paths.begin(), paths.end(), [&](const auto& a, const auto& b) { return costs(a) < costs(b); });
    Paths out;
    for (const auto& path : paths) {
      const bool useless = std::any_of(out.begin(), out.end(), [&](const auto& other) {
        return other.largest_intermediate <= path.largest_intermediate && other.elements_moved <= path.elements_moved;
      });
      if (!useless) out.push_back(path);
    }
    return out;
  }

  const ContractionProblem& problem_;
  bool outer_products_;
  std::map<unsigned, Paths> known_;
};

TEST(PathObjective, Names) {
  for (const auto& objective : kNamed) EXPECT_EQ(parse_path_objective(name_of(objective)), objective);
  EXPECT_EQ(parse_path_objective("Mix"), PathObjective::Mix);
  EXPECT_THROW(parse_path_objective("time"), Error);
  EXPECT_EQ(name_of(PathObjective{}), "flops");
  EXPECT_EQ(name_of(PathObjective{.weight = kFlopsPerElement}), "mix");
  EXPECT_EQ(name_of(PathObjective{.weight = 2.5}), "weight 2.5");
}

TEST(PathObjective, SizeComesBeforeWorkAndRoundingDecidesNothing) {
  EXPECT_TRUE((PathValue{1, 9}.is_less({2, 1})));
  EXPECT_FALSE((PathValue{2, 1}.is_less({1, 9})));
  EXPECT_TRUE((PathValue{2, 1}.is_less({2, 9})));
  EXPECT_TRUE((PathValue{2 + 1e-15, 1}.is_less({2, 9})));
  EXPECT_FALSE((PathValue{2, 1}.is_less({2, 1 + 1e-12})));
}

// A(i,j) b(j) c(k) with i, j and k of 10, 20 and 5: the elements that each step reads and writes.
TEST(PathObjective, MixCountsElementsReadAndWritten) {
  const ContractionProblem problem{{{0, 1}, {1}, {2}}, {0, 2}, {10, 20, 5}};
  const auto path = path_of_results(problem, {{0, 1}, {2, 3}});
  EXPECT_EQ(path.flops, 2 * 200 + 50);
  EXPECT_EQ(path.elements_moved, (200 + 20 + 10) + (10 + 5 + 50));
  EXPECT_EQ(value_of(path, PathObjective::Mix).work, 450 + kFlopsPerElement * 295);
  EXPECT_EQ(value_of(path, PathObjective::Size).largest, 50);
}

TEST(PathObjective, OptimalIsTheBestOfEveryTree) {
  std::mt19937 random(31);
  int differ = 0;
  for (int round = 0; round < 400; ++round) {
    const auto problem = testing::random_network(random, 2 + random() % 7, 2 + random() % 11, 2 + random() % 3);
    EveryParetoTree every(problem);
    for (const auto objective : kAllObjectives) {
      const auto path = path_of_results(problem, optimal_pairs(problem, {objective}));
      const auto expected = every.best(objective);
      ASSERT_DOUBLE_EQ(value_of(path, objective).largest, expected.largest) << name_of(objective) << " " << round;
      ASSERT_NEAR(value_of(path, objective).work, expected.work, 1e-9 * expected.work)
          << name_of(objective) << " " << round;
      differ += path.flops > every.best(PathObjective::Flops).work * 1.01 ? 1 : 0;
    }
  }
  EXPECT_GT(differ, 20) << "the objectives ask for different paths";
}

TEST(PathObjective, ConnectedSubsetsGiveTheBestTreeWithoutOuterProducts) {
  std::mt19937 random(32);
  const IntermediatePrice mixed(PathObjective::Mix);
  for (int round = 0; round < 300; ++round) {
    const auto problem = testing::random_network(random, 3 + random() % 6, 3 + random() % 8, 2 + random() % 3);
    EveryParetoTree every(problem, false);
    const auto expected = every.best(PathObjective::Size);
    const auto smallest = least_largest_over_connected_subsets(problem, {}, 1'000'000'000);
    ASSERT_EQ(smallest.pairs.empty(), std::isinf(expected.work));
    if (smallest.pairs.empty()) continue;
    EXPECT_DOUBLE_EQ(path_of_results(problem, smallest.pairs).largest_intermediate, expected.largest);
    const IntermediatePrice free(PathObjective::Flops);
    const auto cheapest = best_over_connected_subsets(problem, free, {.size = expected.largest}, 1'000'000'000);
    EXPECT_DOUBLE_EQ(path_of_results(problem, cheapest.pairs).flops, expected.work);
    const auto mix = best_over_connected_subsets(problem, mixed, {}, 1'000'000'000);
    const auto least = every.best(PathObjective::Mix).work;
    EXPECT_NEAR(value_of(path_of_results(problem, mix.pairs), PathObjective::Mix).work, least, 1e-9 * least);
  }
}

TEST(PathObjective, NeverWorseThanGreedyAndTheSameTwice) {
  std::mt19937 random(33);
  for (int round = 0; round < 8; ++round) {
    const auto problem = round % 2 == 0 ? testing::random_network(random, 20 + random() % 20, 40, 8)
                                        : testing::regular_network(random, 40, 3, 2);
    for (const auto objective : kAllObjectives) {
      const auto greedy = value_of(greedy_path(problem), objective);
      for (const auto optimizer : {PathOptimizer::Auto, PathOptimizer::Greedy, PathOptimizer::Anneal}) {
        const PathOptions options{.optimizer = optimizer, .seconds = 0.01, .objective = objective};
        const auto path = PathSearch(options).find(problem);
        EXPECT_FALSE(greedy.is_less(value_of(path, objective)));
        EXPECT_EQ(path.steps, PathSearch(options).find(problem).steps);
      }
    }
  }
}

// Each objective's own search gives its best value.
TEST(PathObjective, AnnealingWalksTowardsTheObjective) {
  std::mt19937 random(34);
  double flops = 0;
  double size = 0;
  for (int round = 0; round < 5; ++round) {
    const auto problem = testing::regular_network(random, 60, 3, 2);
    const auto find = [&](PathObjective objective) {
      return PathSearch({.optimizer = PathOptimizer::Anneal, .seconds = 0.1, .objective = objective}).find(problem);
    };
    const auto by_flops = find(PathObjective::Flops);
    const auto by_size = find(PathObjective::Size);
    EXPECT_LE(by_size.largest_intermediate, by_flops.largest_intermediate);
    flops += std::log2(by_size.flops / by_flops.flops);
    size += std::log2(by_flops.largest_intermediate / by_size.largest_intermediate);
  }
  EXPECT_GT(flops, 0);
  EXPECT_GE(size, 0);
}

// 16 operands in two unconnected components, and their optimum under each objective, component by component.
TEST(PathObjective, OptimalOfPartsStaysWithinTheLargestOfAll) {
  std::mt19937 random(35);
  for (int round = 0; round < 10; ++round) {
    auto problem = testing::chain(random, 12);
    const auto other = testing::chain(random, 12);
    const auto first = problem.extents.size();
    for (const auto& operand : other.operands) problem.operands.push_back({first + operand[0], first + operand[1]});
    problem.extents.insert(problem.extents.end(), other.extents.begin(), other.extents.end());
    problem.output.clear();
    const auto by_size = path_of_results(problem, optimal_pairs(problem, {PathObjective::Size}));
    for (const auto objective : kAllObjectives) {
      const auto path = path_of_results(problem, optimal_pairs(problem, {objective}));
      EXPECT_GE(path.largest_intermediate, by_size.largest_intermediate * (1 - 1e-9));
      EXPECT_FALSE(value_of(greedy_path(problem), objective).is_less(value_of(path, objective)));
      if (path.largest_intermediate > by_size.largest_intermediate) continue;
      EXPECT_GE(path.flops, by_size.flops * (1 - 1e-9)) << name_of(objective);
    }
  }
}

// A search for small results begins with the path of the fewest flops.
TEST(PathObjective, SizeIsNeverAboveFlops) {
  std::mt19937 random(35);
  for (int round = 0; round < 40; ++round) {
    const auto operands = 16 + random() % 60;
    const auto problem = round % 2 == 0 ? testing::regular_network(random, operands, 3, 2)
                                        : testing::random_network(random, operands, 2 * operands, operands / 3);
    for (const auto optimizer : {PathOptimizer::Auto, PathOptimizer::Anneal, PathOptimizer::Greedy}) {
      const auto value = [&](PathObjective objective) {
        PathSearch search({.optimizer = optimizer, .seconds = 0.01, .objective = objective});
        return value_of(search.find(problem), PathObjective::Size);
      };
      const auto by_flops = value(PathObjective::Flops);
      const auto by_size = value(PathObjective::Size);
      EXPECT_LE(by_size.largest, by_flops.largest * (1 + 1e-9)) << "round " << round;
      if (by_size.largest >= by_flops.largest * (1 - 1e-9)) {
        EXPECT_LE(by_size.work, by_flops.work * (1 + 1e-9)) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace eindb
