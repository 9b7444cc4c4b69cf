#include "optimizer/paths/slicing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "optimizer/paths/sliced_path.hpp"
#include "tests/optimizer/random_network.hpp"
#include "tests/trial_counts.hpp"

namespace eindb {
namespace {

ContractionPath greedy(const ContractionProblem& problem) {
  return path_of_results(problem, greedy_pairs(problem, {}));
}

double unsliced_bytes(const SlicingProblem& problem) {
  return evaluate_slicing(problem, std::vector<std::int64_t>(problem.extents.size(), 1)).bytes;
}

// The least flops over all choices within the limit; infinity if there is none.
double brute_force(const SlicingProblem& problem, double limit, std::vector<std::int64_t> parts = {}) {
  const auto n = parts.size();
  if (n == problem.extents.size()) {
    const auto slicing = evaluate_slicing(problem, parts);
    return slicing.bytes <= limit ? slicing.flops : std::numeric_limits<double>::infinity();
  }
  parts.push_back(1);
  double best = brute_force(problem, limit, parts);
  if (!problem.sliceable[n]) return best;
  for (const auto ways : ways_to_slice(problem.extents[n])) {
    parts.back() = ways;
    best = std::min(best, brute_force(problem, limit, parts));
  }
  return best;
}

TEST(Slicing, Ways) {
  EXPECT_EQ(ways_to_slice(1), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(ways_to_slice(2), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(ways_to_slice(5), (std::vector<std::int64_t>{1, 2, 4, 5}));
  EXPECT_EQ(ways_to_slice(64), (std::vector<std::int64_t>{1, 2, 4, 8, 16, 32, 64}));
}

// Z[] = A[i,j] B[j,k] C[k,i], (A B) C, extents 8, 8 bytes: three operands and AB are 4 * 512 bytes.
TEST(Slicing, CountsByHand) {
  const auto problem = slicing_problem({{{0, 1}, {1, 2}, {2, 0}}, {}, {8, 8, 8}}, {{{0, 1}, {0, 1}}, 0, 0});
  const auto whole = evaluate_slicing(problem, {1, 1, 1});
  EXPECT_EQ(whole.bytes, 4 * 512);
  EXPECT_EQ(whole.flops, 2 * 512 + 2 * 64);
  EXPECT_TRUE(whole.body.empty());

  // A slice holds copies of half of A, then half of AB and of C, beside the operands and the result.
  const auto halves = evaluate_slicing(problem, {2, 1, 1});
  EXPECT_EQ(halves.slices, 2);
  EXPECT_EQ(halves.flops, whole.flops);
  EXPECT_EQ(halves.body, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(halves.bytes, 3 * 512 + 8 + 256 + 256 + 8);

  // j ends in the first step, so the loop covers only that step, and holds all of AB twice, once for a slice.
  const auto inner = evaluate_slicing(problem, {1, 2, 1});
  EXPECT_EQ(inner.last, 0U);
  EXPECT_EQ(inner.flops, whole.flops);
  EXPECT_EQ(inner.bytes, 5 * 512 + 512);
}

// Z[] = A[i] B[i,j] C[j,k] D[k], from the left: steps without a sliced label are computed once, and nothing above the
// loop is repeated.
TEST(Slicing, SharedStepsRunOnce) {
  const auto problem = slicing_problem({{{0}, {0, 1}, {1, 2}, {2}}, {}, {4, 4, 4}}, {{{0, 1}, {0, 1}, {0, 1}}, 0, 0});
  // The steps: C D, A B, and (C D) (A B) in the order of the shrinking list.
  const auto slicing = evaluate_slicing(problem, {1, 1, 4});
  EXPECT_EQ(slicing.body.size(), 1U);
  EXPECT_EQ(slicing.flops, evaluate_slicing(problem, {1, 1, 1}).flops);
  // A step without the sliced label that reads one with it is repeated for every part.
  const auto both = evaluate_slicing(problem, {4, 1, 4});
  EXPECT_EQ(both.slices, 16);
  EXPECT_GT(both.flops, slicing.flops);
}

TEST(Slicing, NothingToDo) {
  const auto problem = slicing_problem({{{0, 1}, {1, 2}, {2, 0}}, {}, {8, 8, 8}}, {{{0, 1}, {0, 1}}, 0, 0});
  EXPECT_EQ(find_slicing(problem, 1e6).slices, 1);
  // The operands alone exceed the limit: the result is the minimum.
  const auto impossible = find_slicing(problem, 100);
  EXPECT_GT(impossible.bytes, 100);
  EXPECT_LE(impossible.bytes, unsliced_bytes(problem));
}

TEST(Slicing, AgreesWithBruteForceOnSmallNetworks) {
  std::mt19937 random(7);
  int sliced = 0;
  double sum = 0;
  double worst = 0;
  for (int round = 0; round < 300; ++round) {
    const auto network = testing::random_network(random, 3 + random() % 4, 3 + random() % 4, 2);
    const auto problem = slicing_problem(network, greedy(network));
    const double whole = unsliced_bytes(problem);
    for (const double share : {0.9, 0.7, 0.5}) {
      const testing::Trial trial("brute_force");
      const double least = brute_force(problem, whole * share);
      const auto found = find_slicing(problem, whole * share);
      ASSERT_EQ(std::isfinite(least), found.bytes <= whole * share) << "round " << round;
      if (!std::isfinite(least)) continue;
      EXPECT_EQ(found.flops, least) << "all choices are tried where there are few";
      // If there are more choices: one label at a time.
      const auto searched = find_slicing(problem, whole * share, {.few_choices = 0});
      ASSERT_LE(searched.bytes, whole * share) << "round " << round;
      ++sliced;
      sum += std::log(searched.flops / least);
      worst = std::max(worst, searched.flops / least);
    }
  }
  EXPECT_GT(sliced, 100);
  EXPECT_LE(std::exp(sum / sliced), 1.005) << "flops of the search over the least, on the geometric mean";
  EXPECT_LE(worst, 1.1);
}

TEST(Slicing, MeetsTheLimitOnLargeNetworks) {
  std::mt19937 random(3);
  const auto network = testing::regular_network(random, 50, 3, 4);
  const auto problem = slicing_problem(network, greedy(network));
  const auto whole = evaluate_slicing(problem, std::vector<std::int64_t>(problem.extents.size(), 1));
  double flops = whole.flops;
  for (double share = 2; share <= 64; share *= 2) {
    const auto found = find_slicing(problem, whole.bytes / share);
    ASSERT_LE(found.bytes, whole.bytes / share);
    EXPECT_GE(found.flops, whole.flops * (1 - 1e-9));
    EXPECT_LE(found.flops, flops * 8) << "a halving of the memory takes a few times the flops at most";
    flops = found.flops;
    const auto again = find_slicing(problem, whole.bytes / share);
    EXPECT_EQ(again.parts, found.parts) << "the same for the same problem";
  }
}

// Where the work is spent, a first way is still found; where no number of slices helps, none is looked for.
TEST(Slicing, KeepsToItsWork) {
  std::mt19937 random(8);
  const auto network = testing::regular_network(random, 300, 3, 2);
  const auto problem = slicing_problem(network, greedy(network));
  const double whole = unsliced_bytes(problem);
  const double limit = whole / 1024;
  const auto quick = find_slicing(problem, limit, {.work = 1});
  const auto searched = find_slicing(problem, limit);
  EXPECT_LE(quick.bytes, limit);
  EXPECT_LE(searched.bytes, limit);
  EXPECT_LE(searched.flops, quick.flops);
  EXPECT_EQ(find_slicing(problem, whole * 1e-16).slices, 1);
}

TEST(Slicing, CanBeCancelled) {
  std::mt19937 random(9);
  const auto network = testing::regular_network(random, 300, 3, 2);
  const auto problem = slicing_problem(network, greedy(network));
  Cancellation cancellation;
  cancellation.request();
  const CancellationScope scope(cancellation);
  EXPECT_THROW(find_slicing(problem, unsliced_bytes(problem) / 1024), Error);
}

// Three matrices that are read from storage in tiles of 4 x 4 parts. If held, they take at least 3 * 64^2 * 8 bytes; if
// read again per slice, they need less.
TEST(SlicedPath, IsNeverWorse) {
  std::mt19937 random(5);
  int better = 0;
  for (int round = 0; round < 20; ++round) {
    const auto network = testing::regular_network(random, 16, 3, 4);
    const auto path = greedy(network);
    const double limit = unsliced_bytes(slicing_problem(network, path)) / 8;
    const auto other = path_for_limit(network, path, limit, [](const auto& slice) {
      return PathSearch(PathOptions{PathOptimizer::Anneal, 0.01}).find(slice);
    });
    const auto before = find_slicing(slicing_problem(network, path), limit);
    const auto after = find_slicing(slicing_problem(network, other), limit);
    EXPECT_LE(after.bytes, std::max(limit, before.bytes));
    if (before.bytes <= limit) {
      EXPECT_LE(after.flops, before.flops);
    }
    if (after.flops < before.flops) ++better;
  }
  EXPECT_GT(better, 5);
}

TEST(Slicing, StreamsStoredOperandsThatDoNotFit) {
  auto problem = slicing_problem({{{0, 1}, {1, 2}, {2, 0}}, {}, {64, 64, 64}}, {{{0, 1}, {0, 1}}, 0, 0});
  for (auto& operand : problem.operands) operand.stored_parts = {4, 4};
  const double matrix = 64 * 64 * 8;
  const auto streamed = find_slicing(problem, 2.2 * matrix);
  EXPECT_LE(streamed.bytes, 2.2 * matrix);
  EXPECT_TRUE(streamed.streamed);
}

}  // namespace
}  // namespace eindb
