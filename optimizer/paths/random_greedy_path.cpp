#include "optimizer/paths/random_greedy_path.hpp"

#include <random>
#include <utility>

#include "common/check.hpp"
#include "optimizer/paths/best_path.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/random_share.hpp"

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
  GreedyRule rule;
  rule.weight = random_share(random);
  rule.temperature = 0.5 * random_share(random);
  rule.seed = random();
  return rule;
}

}  // namespace

ResultPairs random_greedy_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                const SearchContext& context) {
  std::mt19937_64 random(1);
  BestPath best(problem, start, context);
  const auto units = units_per_trial(problem);
  CHECK(units > 0, "a trial takes work");
  for (auto left = budget.units; left >= units; left -= units)
    best.offer(greedy_pairs(problem, random_rule(random), context));
  return best.take();
}

}  // namespace eindb
