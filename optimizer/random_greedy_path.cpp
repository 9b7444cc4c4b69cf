#include "optimizer/random_greedy_path.hpp"

#include <random>
#include <utility>

#include "optimizer/greedy_path.hpp"

namespace eindb {
namespace {

// A trial costs as much as so many labels per label of an operand: heap, partners and all.
constexpr std::uint64_t kUnitsPerLabel = 200;

std::uint64_t units_per_trial(const ContractionProblem& problem) {
  std::uint64_t labels = problem.operands.size();
  for (const auto& operand : problem.operands) labels += operand.size();
  return labels * kUnitsPerLabel;
}

GreedyRule random_rule(std::mt19937_64& random) {
  const auto uniform = [&] { return static_cast<double>(random() >> 11U) * 0x1p-53; };
  GreedyRule rule;
  rule.weight = uniform();
  rule.temperature = 0.5 * uniform();
  rule.seed = random();
  return rule;
}

}  // namespace

ResultPairs random_greedy_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget) {
  std::mt19937_64 random(1);
  auto best = start;
  double best_flops = path_of_results(problem, start).flops;
  for (auto left = budget.units; left >= units_per_trial(problem); left -= units_per_trial(problem)) {
    auto pairs = greedy_pairs(problem, random_rule(random));
    const double flops = path_of_results(problem, pairs).flops;
    if (flops >= best_flops) continue;
    best_flops = flops;
    best = std::move(pairs);
  }
  return best;
}

}  // namespace eindb
