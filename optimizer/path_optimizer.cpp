#include "optimizer/path_optimizer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "optimizer/all_subsets.hpp"
#include "optimizer/annealed_path.hpp"
#include "optimizer/greedy_path.hpp"
#include "optimizer/optimal_path.hpp"
#include "optimizer/random_greedy_path.hpp"
#include "optimizer/stopwatch.hpp"

namespace eindb {
namespace {

constexpr double kDefaultSeconds = 0.1;
constexpr double kLeastSeconds = 0.01;
// A tenth of the time at 10^9 flops per second.
constexpr double kPlanningSecondsPerFlop = 1e-10;
// Of the budget; the rest is for annealing.
constexpr double kShareOfRandomGreedy = 0.15;
// Annealing with less than this, some twenty rotations each, does not come down from where it starts.
constexpr std::uint64_t kFewestUnitsPerOperand = 1000;

struct Found {
  ResultPairs pairs;
  std::string_view method;
};

double seconds_for_auto(const PathOptions& options, double greedy_flops) {
  const double worth = std::clamp(greedy_flops * kPlanningSecondsPerFlop, kLeastSeconds, kDefaultSeconds);
  return options.seconds.value_or(worth);
}

Found find_greedy(const ContractionProblem&, const PathOptions&, const ContractionPath&, ResultPairs greedy) {
  return {std::move(greedy), "greedy"};
}

Found find_optimal(const ContractionProblem& problem, const PathOptions&, const ContractionPath&, ResultPairs) {
  return {optimal_pairs(problem), "optimal"};
}

Found search(const ContractionProblem& problem, ResultPairs greedy, double seconds) {
  const auto budget = SearchBudget::of_seconds(seconds);
  const auto trials = SearchBudget::of_seconds(seconds * kShareOfRandomGreedy);
  auto pairs = random_greedy_pairs(problem, greedy, trials);
  if (budget.units - trials.units >= problem.operands.size() * kFewestUnitsPerOperand)
    return {annealed_pairs(problem, pairs, {budget.units - trials.units}), "anneal"};
  const bool tried = pairs != greedy;
  return {std::move(pairs), tried ? "random-greedy" : "greedy"};
}

Found find_annealed(const ContractionProblem& problem, const PathOptions& options, const ContractionPath&,
                    ResultPairs greedy) {
  return search(problem, std::move(greedy), options.seconds.value_or(kDefaultSeconds));
}

Found find_auto(const ContractionProblem& problem, const PathOptions& options, const ContractionPath& greedy_path,
                ResultPairs greedy) {
  if (problem.operands.size() <= kMostForAllSubsets) return {optimal_pairs(problem), "optimal"};
  return search(problem, std::move(greedy), seconds_for_auto(options, greedy_path.flops));
}

// One row per optimizer: everything that a name stands for.
struct OptimizerRow {
  PathOptimizer optimizer;
  std::string_view name;
  Found (*find)(const ContractionProblem&, const PathOptions&, const ContractionPath& greedy_path, ResultPairs greedy);
};

constexpr std::array kOptimizers = std::to_array<OptimizerRow>({
    {PathOptimizer::Auto, "auto", find_auto},
    {PathOptimizer::Greedy, "greedy", find_greedy},
    {PathOptimizer::Optimal, "optimal", find_optimal},
    {PathOptimizer::Anneal, "anneal", find_annealed},
});

const OptimizerRow& row_of(PathOptimizer optimizer) {
  return *std::find_if(kOptimizers.begin(), kOptimizers.end(),
                       [&](const auto& row) { return row.optimizer == optimizer; });
}

// Costs are added up in other orders: what is better by rounding alone is no better.
constexpr double kRounding = 1 - 1e-9;

}  // namespace

std::string_view name_of(PathOptimizer optimizer) { return row_of(optimizer).name; }

PathOptimizer parse_path_optimizer(std::string_view name) {
  std::string known;
  for (const auto& row : kOptimizers) {
    if (equal_ignoring_case(row.name, name)) return row.optimizer;
    known += (known.empty() ? "'" : ", '") + std::string(row.name) + "'";
  }
  throw Error(ErrorKind::Value, "there is no path optimizer '" + std::string(name) + "'", std::nullopt,
              "use one of " + known);
}

ContractionPath PathSearch::find(const ContractionProblem& problem) {
  const Stopwatch watch;
  auto greedy = greedy_pairs(problem, {});
  auto path = path_of_results(problem, greedy);
  const auto found = row_of(options_.optimizer).find(problem, options_, path, std::move(greedy));
  auto better = path_of_results(problem, found.pairs);
  if (better.flops < path.flops * kRounding) path = std::move(better);
  const std::string method(found.method);
  if (std::find(report_.methods.begin(), report_.methods.end(), method) == report_.methods.end())
    report_.methods.push_back(method);
  report_.seconds += watch.seconds();
  return path;
}

}  // namespace eindb
