#pragma once

#include <memory>
#include <optional>

#include "optimizer/redistribution/weak_path.hpp"

namespace eindb {

/// A path and the cost of its operations, without permutations.
struct CostedPath {
  WeakPath types;  ///< from source to target
  double cost = 0;
};

/// The cheapest paths of a problem, one after the other (array redistribution, section 7.2). Dijkstra's algorithm over
/// weak types gives the distance of each type, and paths are assembled backwards, the most promising first.
///
/// Paths are in normal form: dynslices, then alltoalls, then allgathers. Some cheapest path always has this form (lemma
/// 6.5; for even extents, and if packing costs nothing). So a type is cut further only while it is a refinement of the
/// source, and gathered only to refinements of the target.
/// refinement of the source, and gathered only to refinements of the target.
class WeakPathSearch {
 public:
  explicit WeakPathSearch(const WeakProblem& problem);
  ~WeakPathSearch();
  WeakPathSearch(const WeakPathSearch&) = delete;
  WeakPathSearch& operator=(const WeakPathSearch&) = delete;

  /// The next path in the order of cost, then of steps. nullopt if there is none within the slack, if no path keeps to
  /// the memory (only with uneven extents), or if too many types had to be visited.
  std::optional<CostedPath> next();

 private:
  class Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace eindb
