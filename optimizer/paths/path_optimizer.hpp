#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"
#include "tensor/observed_cells.hpp"

namespace eindb {

/// The algorithm that orders n-ary contractions (SET path_optimizer, USING PATH 'name').
enum class PathOptimizer {
  Auto,     ///< chosen by the number of operands and by the time that planning may take
  Greedy,   ///< optimizer/paths/greedy_path
  Optimal,  ///< optimizer/paths/optimal_path
  Anneal,   ///< the best of the random_greedy_path, bisected_path, eliminated_path and swept_path of optimizer/paths,
            ///< then its annealed_path, refined before and after (refined_path)
};

/// "auto", "greedy", "optimal", "anneal".
std::string_view name_of(PathOptimizer optimizer);
/// Parses a name, case-insensitively. Throws Error{Value} that lists the names.
PathOptimizer parse_path_optimizer(std::string_view name);

/// Settings of a search for a path.
struct PathOptions {
  PathOptimizer optimizer = PathOptimizer::Auto;
  /// The budget of all searches together for one contraction (SearchBudget counts work, not time). Default: a tenth of
  /// a second; under Auto also at most a tenth of the time that greedy's path takes at 10^9 flops per second, or 0.3
  /// milliseconds where that path takes as long; where it takes 20 us, none. Under a memory limit that slices
  /// are needed for, they are found within it; under Size half as much is spent again, after a search as under Flops.
  std::optional<double> seconds;
  PathObjective objective = PathObjective::Flops;
  const Cancellation* cancellation = nullptr;  ///< as in SearchContext
  /// Called with the progress of one contraction's search, at most a hundred times.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  /// Limit in bytes. If a path would hold more, others are tried for how well they can be sliced
  /// (optimizer/paths/sliced_path). 0: no limit.
  std::int64_t memory_limit = 0;
  /// Whether operands of few cells are joined by these (optimizer/cell_choice), which contractions of at most
  /// kMostForCells operands are then ordered by.
  bool by_cells = false;
  /// What runs of the statement have found, where contractions are ordered by cells; null: nothing. Outlives the
  /// search.
  const ObservedCells* observed = nullptr;
};

/// Statistics of the searches for contraction paths in one graph.
struct PathReport {
  PathOptimizer optimizer = PathOptimizer::Auto;
  std::vector<std::string> methods;  ///< distinct ones, in order: "cells", "optimal", "anneal", "refinement", "sweep",
                                     ///< "elimination", "bisection", "random-greedy", "greedy"
  double seconds = 0;
  PathObjective objective = PathObjective::Flops;
};

/// Finds paths and collects statistics. Not thread-safe.
class PathSearch {
 public:
  explicit PathSearch(const PathOptions& options = {})
      : options_(options), report_{options.optimizer, {}, 0, options.objective} {}

  /// A path that is never worse than greedy's under the objective, and is greedy's if none better is found.
  /// Deterministic. Under Size, without a memory limit, never of larger intermediates than under Flops, nor of more
  /// flops where these are as large. Under a memory limit, the path that is better in slices. If the problem has cells,
  /// the path of optimizer/paths/cell_path instead, unless another algorithm or Size is asked for. Throws Error{Value}
  /// if Optimal would take too long, Error{Cancelled}.
  ContractionPath find(const ContractionProblem& problem);

  const PathReport& report() const { return report_; }
  bool is_by_cells() const { return options_.by_cells; }
  const ObservedCells* observed() const { return options_.observed; }
  /// Orders contractions as if all operands were dense from now on.
  void forget_cells() { options_.by_cells = false; }

 private:
  double budget(const ContractionPath& greedy) const;
  ContractionPath find_by(const ContractionProblem& problem, const PathObjective& objective);
  ContractionPath find_by_cells(const ContractionProblem& problem);
  bool orders_by_cells(const ContractionProblem& problem) const;
  void note(std::string_view method);
  ContractionPath smaller(const ContractionProblem& problem, ContractionPath path);

  PathOptions options_;
  PathReport report_;
};

}  // namespace eindb
