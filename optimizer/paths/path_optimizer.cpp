#include "optimizer/paths/path_optimizer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/stopwatch.hpp"
#include "optimizer/paths/all_subsets.hpp"
#include "optimizer/paths/annealed_path.hpp"
#include "optimizer/paths/bisected_path.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/optimal_path.hpp"
#include "optimizer/paths/random_greedy_path.hpp"
#include "optimizer/paths/refined_path.hpp"
#include "optimizer/paths/sliced_path.hpp"

namespace eindb {
namespace {

constexpr double kDefaultSeconds = 0.1;
constexpr double kLeastSeconds = 0.01;
// Planning may take a tenth of the path's time at 10^9 flops per second.
constexpr double kPlanningSecondsPerFlop = 1e-10;
// Shares of the budget; the rest is for annealing.
constexpr double kShareOfRandomGreedy = 0.1;
constexpr double kShareOfBisection = 0.25;
constexpr double kShareOfRefinement = 0.1;  // both before and after annealing
// With less budget than this, some twenty rotations each, annealing does not get below its start.
constexpr std::uint64_t kFewestUnitsPerOperand = 1000;

struct Found {
  ResultPairs pairs;
  std::string_view method;
};

// The input of the algorithms.
struct Task {
  const ContractionProblem& problem;
  const PathOptions& options;
  const SearchContext& context;
  const ContractionPath& greedy_path;
};

double seconds_for_auto(const Task& task) {
  const double worth = std::clamp(task.greedy_path.flops * kPlanningSecondsPerFlop, kLeastSeconds, kDefaultSeconds);
  return task.options.seconds.value_or(worth);
}

Found find_greedy(const Task&, ResultPairs greedy) { return {std::move(greedy), "greedy"}; }

Found find_optimal(const Task& task, ResultPairs) { return {optimal_pairs(task.problem, task.context), "optimal"}; }

// Refines the best start of random greedy and bisection, anneals it, and refines it once more.
Found search(const Task& task, ResultPairs greedy, double seconds) {
  const auto& problem = task.problem;
  Found found{std::move(greedy), "greedy"};
  const auto improve = [&](ResultPairs pairs, std::string_view method) {
    if (pairs != found.pairs) found = {std::move(pairs), method};
  };
  const auto share = [&](double part) { return SearchBudget::of_seconds(seconds * part); };
  improve(random_greedy_pairs(problem, found.pairs, share(kShareOfRandomGreedy), task.context), "random-greedy");
  improve(best_bisected_pairs(problem, found.pairs, share(kShareOfBisection), task.context), "bisection");
  improve(refined_pairs(problem, found.pairs, share(kShareOfRefinement), task.context), "refinement");
  const auto left = share(1 - kShareOfRandomGreedy - kShareOfBisection - 2 * kShareOfRefinement);
  if (left.units < problem.operands.size() * kFewestUnitsPerOperand) return found;
  found = {annealed_pairs(problem, found.pairs, left, task.context), "anneal"};
  return {refined_pairs(problem, found.pairs, share(kShareOfRefinement), task.context), "anneal"};
}

Found find_annealed(const Task& task, ResultPairs greedy) {
  return search(task, std::move(greedy), task.options.seconds.value_or(kDefaultSeconds));
}

Found find_auto(const Task& task, ResultPairs greedy) {
  if (task.problem.operands.size() <= kMostForAllSubsets) return find_optimal(task, std::move(greedy));
  return search(task, std::move(greedy), seconds_for_auto(task));
}

// The properties of an optimizer: one row per name.
struct OptimizerRow {
  PathOptimizer optimizer;
  std::string_view name;
  Found (*find)(const Task&, ResultPairs greedy);
};

constexpr std::array kOptimizers = std::to_array<OptimizerRow>({
    {PathOptimizer::Auto, "auto", find_auto},
    {PathOptimizer::Greedy, "greedy", find_greedy},
    {PathOptimizer::Optimal, "optimal", find_optimal},
    {PathOptimizer::Anneal, "anneal", find_annealed},
});

const OptimizerRow& row_of(PathOptimizer optimizer) {
  const auto row =
      std::find_if(kOptimizers.begin(), kOptimizers.end(), [&](const auto& r) { return r.optimizer == optimizer; });
  CHECK(row != kOptimizers.end(), "every path optimizer has a row");
  return *row;
}

// Reports each hundredth once, as searches call more often.
std::function<void(std::int64_t, std::int64_t)> by_hundredths(const PathOptions& options) {
  if (!options.progress) return {};
  return [tell = options.progress, last = std::int64_t{-1}](std::int64_t done, std::int64_t total) mutable {
    CHECK(total > 0 && done >= 0, "a search that reports has something to do");
    const auto hundredths = static_cast<std::int64_t>(100.0 * static_cast<double>(done) / static_cast<double>(total));
    if (std::exchange(last, hundredths) != hundredths) tell(hundredths, 100);
  };
}

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
  const SearchContext context{options_.objective, options_.cancellation, by_hundredths(options_)};
  auto greedy = greedy_pairs_by_objective(problem, context);
  auto path = path_of_results(problem, greedy, options_.cancellation);
  const auto found = row_of(options_.optimizer).find({problem, options_, context, path}, std::move(greedy));
  auto better = path_of_results(problem, found.pairs, options_.cancellation);
  if (value_of(better, options_.objective).is_less(value_of(path, options_.objective))) path = std::move(better);
  if (options_.memory_limit > 0) {
    auto unlimited = options_;
    unlimited.memory_limit = 0;
    unlimited.progress = {};
    path = path_for_limit(problem, std::move(path), static_cast<double>(options_.memory_limit),
                          [&](const ContractionProblem& slice) { return PathSearch(unlimited).find(slice); });
  }
  const std::string method(found.method);
  if (std::find(report_.methods.begin(), report_.methods.end(), method) == report_.methods.end())
    report_.methods.push_back(method);
  report_.seconds += watch.seconds();
  return path;
}

}  // namespace eindb
