#include "optimizer/paths/path_optimizer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/stopwatch.hpp"
#include "optimizer/paths/all_subsets.hpp"
#include "optimizer/paths/annealed_path.hpp"
#include "optimizer/paths/bisected_path.hpp"
#include "optimizer/paths/cell_path.hpp"
#include "optimizer/paths/eliminated_path.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/optimal_path.hpp"
#include "optimizer/paths/random_greedy_path.hpp"
#include "optimizer/paths/refined_path.hpp"
#include "optimizer/paths/sliced_path.hpp"
#include "optimizer/paths/swept_path.hpp"

namespace eindb {
namespace {

constexpr double kDefaultSeconds = 0.1;
// Planning may take a tenth of the path's time at 10^9 flops per second; that of a short path as long as that, up to
// the least. A path that takes even less gains nothing by a search.
constexpr double kSecondsPerFlop = 1e-9;
constexpr double kPlanningShare = 0.1;
constexpr double kLeastSeconds = 0.0003;
constexpr double kNotWorthASearch = 2e-5;
// A search of all subsets may take so many times the budget, as it ends with the best path.
constexpr double kAllSubsetsShare = 4;
constexpr double kSecondsPerSplit = 3e-9;
// Shares of the budget; the rest is for annealing.
constexpr double kShareOfRandomGreedy = 0.05;
constexpr double kShareOfBisection = 0.25;
constexpr double kShareOfElimination = 0.1;
constexpr double kShareOfSweeps = 0.1;
constexpr double kShareOfRefinement = 0.15;
constexpr double kShareOfLastRefinement = 0.05;
constexpr std::uint64_t kEliminations = 3;
// For each start that is refined, at least.
constexpr std::uint64_t kRefinedRounds = 2;
// Of the budget where a path needs slices; the rest is for paths of one slice, and for what finds slices.
constexpr double kShareOfWhole = 0.5;
constexpr double kShareOfSlicing = 0.1;
// Of the budget, for the smallest intermediates after the fewest flops.
constexpr double kShareOfSize = 0.5;
// With less budget than this, some twenty rotations each, annealing does not get below its start.
constexpr std::uint64_t kFewestUnitsPerOperand = 800;

struct Found {
  ResultPairs pairs;
  std::string_view method;
};

// The input of the algorithms. `seconds` is the budget of those that search; `may_be_exact`: whether all subsets may be
// searched where nobody asks for the best path.
struct Task {
  const ContractionProblem& problem;
  const SearchContext& context;
  double seconds;
  bool may_be_exact = true;
};

Found find_greedy(const Task&, ResultPairs start) { return {std::move(start), "greedy"}; }

Found find_optimal(const Task& task, ResultPairs) { return {optimal_pairs(task.problem, task.context), "optimal"}; }

// Refines starts that differ, each for a while, and the better half of them for as long again, until one is left: what
// a start becomes differs more than the starts do. Few are refined where the budget has no round for each.
Found best_refined(const Task& task, std::vector<Found> starts, SearchBudget budget) {
  const auto value = [&](const Found& found) {
    return value_of(path_of_results(task.problem, found.pairs, task.context.cancellation), task.context.objective);
  };
  std::vector<std::pair<PathValue, Found>> tries;
  for (auto& start : starts) {
    const auto is_same = [&](const auto& other) { return other.second.pairs == start.pairs; };
    if (std::any_of(tries.begin(), tries.end(), is_same)) continue;
    auto of_start = value(start);
    tries.emplace_back(of_start, std::move(start));
  }
  CHECK(!tries.empty(), "there is something to refine");
  const auto best_first = [&] {
    std::stable_sort(tries.begin(), tries.end(), [](const auto& a, const auto& b) { return a.first.is_less(b.first); });
  };
  best_first();
  const auto rounds = budget.units / (kRefinedRounds * units_of_refined_round(task.problem));
  tries.resize(std::clamp<std::size_t>(rounds, 1, tries.size()));
  while (true) {
    const auto count = tries.size();
    const SearchBudget each{count == 1 ? budget.units : budget.units / (2 * count)};
    for (auto& [of_try, found] : tries) {
      auto refined = refined_pairs(task.problem, found.pairs, each, task.context);
      if (refined == found.pairs) continue;
      found = {std::move(refined), "refinement"};
      of_try = value(found);
    }
    best_first();
    if (count == 1) return std::move(tries.front().second);
    budget.units -= each.units * count;
    tries.resize(count / 2);
  }
}

// Anneals the best of what starts by random greedy, bisection, elimination and sweeps are refined to, and refines it
// once more.
Found find_annealed(const Task& task, ResultPairs greedy) {
  const auto& problem = task.problem;
  const auto& context = task.context;
  const auto share = [&](double part) { return SearchBudget::of_seconds(task.seconds * part); };
  std::vector<Found> starts;
  const auto add = [&](ResultPairs pairs, std::string_view method) {
    if (pairs == greedy) method = "greedy";
    starts.push_back({std::move(pairs), method});
  };
  add(random_greedy_pairs(problem, greedy, share(kShareOfRandomGreedy), context), "random-greedy");
  add(best_bisected_pairs(problem, greedy, share(kShareOfBisection), context), "bisection");
  for (std::uint64_t seed = 0; seed < kEliminations; ++seed)
    add(best_eliminated_pairs(problem, greedy, share(kShareOfElimination / kEliminations), context, seed),
        "elimination");
  add(best_swept_pairs(problem, greedy, share(kShareOfSweeps), context), "sweep");
  auto found = best_refined(task, std::move(starts), share(kShareOfRefinement));
  const auto left = share(1 - kShareOfRandomGreedy - kShareOfBisection - kShareOfElimination - kShareOfSweeps -
                          kShareOfRefinement - kShareOfLastRefinement);
  if (left.units < problem.operands.size() * kFewestUnitsPerOperand) return found;
  found = {annealed_pairs(problem, found.pairs, left, context), "anneal"};
  return {refined_pairs(problem, found.pairs, share(kShareOfLastRefinement), context), "anneal"};
}

Found find_auto(const Task& task, ResultPairs start) {
  if (task.may_be_exact && task.problem.operands.size() <= kMostForAllSubsets)
    return find_optimal(task, std::move(start));
  return find_annealed(task, std::move(start));
}

// The properties of an optimizer: one row per name.
struct OptimizerRow {
  PathOptimizer optimizer;
  std::string_view name;
  Found (*find)(const Task&, ResultPairs start);
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

// Whether a search of all subsets takes little enough beside the path, where nobody says how long it may take.
bool may_be_exact(const PathOptions& options, std::size_t operands, double budget) {
  if (options.seconds || options.objective.by_size) return true;
  const double splits = std::pow(3, static_cast<double>(operands)) / 2;
  return splits * kSecondsPerSplit <= kAllSubsetsShare * budget;
}

// Whether a better path than greedy's may gain as much as it takes to find one.
bool is_worth_a_search(const PathOptions& options, const ContractionPath& greedy) {
  const auto limit = static_cast<double>(options.memory_limit);
  if (options.seconds || options.optimizer != PathOptimizer::Auto || options.objective.by_size) return true;
  return greedy.flops * kSecondsPerFlop >= kNotWorthASearch || (limit > 0 && may_exceed(greedy, limit));
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

double PathSearch::budget(const ContractionPath& greedy) const {
  if (options_.seconds) return *options_.seconds;
  if (options_.optimizer != PathOptimizer::Auto) return kDefaultSeconds;
  const double seconds = greedy.flops * kSecondsPerFlop;
  return std::clamp(kPlanningShare * seconds, std::min(kLeastSeconds, seconds), kDefaultSeconds);
}

bool PathSearch::orders_by_cells(const ContractionProblem& problem) const {
  const bool of_time = options_.objective == PathObjective::Flops || options_.objective == PathObjective::Mix;
  return options_.by_cells && options_.optimizer == PathOptimizer::Auto && of_time && !problem.cells.empty() &&
         problem.operands.size() <= kMostForCells;
}

void PathSearch::note(std::string_view method) {
  const std::string name(method);
  if (std::find(report_.methods.begin(), report_.methods.end(), name) == report_.methods.end())
    report_.methods.push_back(name);
}

ContractionPath PathSearch::find_by_cells(const ContractionProblem& problem) {
  const SearchContext context{options_.objective, options_.cancellation, by_hundredths(options_)};
  note("cells");
  return path_of_results(problem, pairs_by_cells(problem, context), options_.cancellation);
}

ContractionPath PathSearch::find(const ContractionProblem& problem) {
  const Stopwatch watch;
  if (orders_by_cells(problem)) {
    auto path = find_by_cells(problem);
    report_.seconds += watch.seconds();
    return path;
  }
  const bool by_size = options_.objective.by_size;
  const bool is_exact = options_.optimizer == PathOptimizer::Optimal ||
                        (options_.optimizer == PathOptimizer::Auto && problem.operands.size() <= kMostForAllSubsets);
  auto path = find_by(problem, by_size && !is_exact ? PathObjective::Flops : options_.objective);
  if (by_size && !is_exact) path = smaller(problem, std::move(path));
  report_.seconds += watch.seconds();
  return path;
}

// Where the size decides, the search begins with the path of the fewest flops and takes only what is better, so that it
// is never worse in both.
ContractionPath PathSearch::smaller(const ContractionProblem& problem, ContractionPath path) {
  const SearchContext context{PathObjective::Size, options_.cancellation, by_hundredths(options_)};
  const auto value = [](const ContractionPath& p) { return value_of(p, PathObjective::Size); };
  const auto greedy = path_of_results(problem, greedy_pairs_by_objective(problem, context), options_.cancellation);
  const double seconds = kShareOfSize * budget(greedy);
  if (value(greedy).is_less(value(path))) path = greedy;
  auto start = results_of_path(problem.operands.size(), path.steps);
  const auto found = row_of(options_.optimizer).find({problem, context, seconds}, std::move(start));
  auto better = path_of_results(problem, found.pairs, options_.cancellation);
  return value(better).is_less(value(path)) ? better : path;
}

ContractionPath PathSearch::find_by(const ContractionProblem& problem, const PathObjective& objective) {
  const SearchContext context{objective, options_.cancellation, by_hundredths(options_)};
  const auto limit = static_cast<double>(options_.memory_limit);
  const auto& row = row_of(options_.optimizer);
  auto start = greedy_pairs_by_objective(problem, context);
  auto path = path_of_results(problem, start, options_.cancellation);
  if (!is_worth_a_search(options_, path)) {
    note(name_of(PathOptimizer::Greedy));
    return path;
  }
  const double seconds = budget(path);
  const auto exceeds = [&] { return limit > 0 && may_exceed(path, limit); };
  const bool is_exact = exceeds() || may_be_exact(options_, problem.operands.size(), seconds);
  const auto improve = [&](double share) {
    const auto found = row.find({problem, context, share * seconds, is_exact}, std::move(start));
    auto better = path_of_results(problem, found.pairs, options_.cancellation);
    if (value_of(better, objective).is_less(value_of(path, objective))) path = std::move(better);
    start = found.pairs;
    note(found.method);
  };
  const double first = exceeds() ? kShareOfWhole : 1;
  improve(first);
  if (!exceeds()) {
    if (first < 1) improve(1 - first);
    return path;
  }
  auto of_slice = options_;
  of_slice.objective = objective;
  of_slice.memory_limit = 0;
  of_slice.progress = {};
  of_slice.seconds = (1 - first - kShareOfSlicing) / kMostSlicedPaths * seconds;
  const double work = static_cast<double>(SearchBudget::of_seconds(kShareOfSlicing * seconds).units);
  const SlicingEffort effort{.work = std::min(SlicingEffort{}.work, work / (kMostSlicedPaths + 1))};
  return path_for_limit(
      problem, std::move(path), limit,
      [&](const ContractionProblem& slice) { return PathSearch(of_slice).find(slice); }, effort);
}

}  // namespace eindb
