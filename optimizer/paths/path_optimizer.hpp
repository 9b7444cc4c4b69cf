#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// How n-ary contractions are ordered (SET path_optimizer, USING PATH 'name').
enum class PathOptimizer {
  Auto,     ///< whichever of the others fits the number of operands and the time that planning may take
  Greedy,   ///< optimizer/paths/greedy_path
  Optimal,  ///< optimizer/paths/optimal_path
  Anneal,   ///< the better of optimizer/paths/random_greedy_path and optimizer/paths/bisected_path, then
            ///< optimizer/paths/annealed_path, refined before and after (optimizer/paths/refined_path)
};

/// "auto", "greedy", "optimal", "anneal".
std::string_view name_of(PathOptimizer optimizer);
/// Case-insensitive. Throws Error{Value} with the names that exist.
PathOptimizer parse_path_optimizer(std::string_view name);

/// How to look for a path.
struct PathOptions {
  PathOptimizer optimizer = PathOptimizer::Auto;
  /// What random-greedy, bisection, refinement and annealing may take for one contraction (SearchBudget: work is
  /// counted, not the clock). Absent: a tenth of a second, and under Auto no more than a tenth of what greedy's path
  /// takes at 10^9 flops per second, but at least a hundredth of a second.
  std::optional<double> seconds;
  PathObjective objective = PathObjective::Flops;
  const Cancellation* cancellation = nullptr;  ///< as in SearchContext
  /// Told how much of one contraction's search is done, at most a hundred times.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  /// Bytes. Where a path would hold more, other ones are tried for how well they can be sliced
  /// (optimizer/paths/sliced_path). 0: no limit.
  std::int64_t memory_limit = 0;
};

/// Statistics of the searches for contraction paths in one graph.
struct PathReport {
  PathOptimizer optimizer = PathOptimizer::Auto;
  std::vector<std::string> methods;  ///< distinct ones, in order: "optimal", "anneal", "refinement", "bisection",
                                     ///< "random-greedy", "greedy"
  double seconds = 0;
  PathObjective objective = PathObjective::Flops;
};

/// Finds paths and keeps account of it. Not for several threads at once.
class PathSearch {
 public:
  explicit PathSearch(const PathOptions& options = {})
      : options_(options), report_{options.optimizer, {}, 0, options.objective} {}

  /// A path that is never worse than greedy's under the objective, and is greedy's where none is better; the same for
  /// the same problem. Throws Error{Value} if Optimal would take too long, Error{Cancelled}.
  /// Under a memory limit, the path that is better in slices.
  ContractionPath find(const ContractionProblem& problem);

  const PathReport& report() const { return report_; }

 private:
  PathOptions options_;
  PathReport report_;
};

}  // namespace eindb
