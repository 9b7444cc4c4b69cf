#include "optimizer/paths/random_greedy_path.hpp"

#include <random>
#include <utility>

#include "common/check.hpp"
#include "optimizer/paths/greedy_path.hpp"

namespace eindb {
namespace {

// The cost of a trial per label of an operand, in labels looked at; includes heap and partners.
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

ResultPairs random_greedy_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                const SearchContext& context) {
  std::mt19937_64 random(1);
  auto best = start;
  const auto value = [&](const ResultPairs& pairs) {
    return value_of(path_of_results(problem, pairs, context.cancellation), context.objective);
  };
  auto best_value = value(start);
  const auto units = units_per_trial(problem);
  CHECK(units > 0, "a trial takes work");
  for (auto left = budget.units; left >= units; left -= units) {
    auto pairs = greedy_pairs(problem, random_rule(random), context);
    const auto found = value(pairs);
    if (!found.is_less(best_value)) continue;
    best_value = found;
    best = std::move(pairs);
  }
  return best;
}

}  // namespace eindb
