#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// What a pass runs: a function of the graph alone, or one that looks for contraction paths too.
class PassFunction {
 public:
  using Rewrite = EinGraph (*)(const EinGraph&);
  using Ordering = EinGraph (*)(const EinGraph&, PathSearch&);

  // Implicit, so that the list of passes names functions.
  PassFunction(Rewrite rewrite) : rewrite_(rewrite) {}      // NOLINT(google-explicit-constructor)
  PassFunction(Ordering ordering) : ordering_(ordering) {}  // NOLINT(google-explicit-constructor)

  EinGraph operator()(const EinGraph& graph, PathSearch& paths) const {
    CHECK(ordering_ != nullptr || rewrite_ != nullptr, "a pass has a function to run");
    return ordering_ != nullptr ? ordering_(graph, paths) : rewrite_(graph);
  }
  /// Whether vertices have at most two inputs afterwards.
  bool orders() const { return ordering_ != nullptr; }

 private:
  Rewrite rewrite_ = nullptr;
  Ordering ordering_ = nullptr;
};

/// A rewrite of the logical plan: takes a valid graph, gives a valid graph with the same result, and for good measure
/// the same output name, head and type. Each pass is a function of its own file; what is here is their order.
struct Pass {
  std::string_view name;
  PassFunction run;
  std::string_view reason;  ///< why it stands where it stands
  bool switchable = true;   ///< false: execution needs what it establishes
};

/// Not among all_passes(), as it needs a limit (optimizer/recomputation), but switched off by name as they are.
inline constexpr std::string_view kRecomputation = "recomputation";

/// All passes, in the order in which they run.
const std::vector<Pass>& all_passes();

/// The time that one stage of planning took, and the size of the graph that it left.
struct StageTiming {
  std::string name;
  double seconds = 0;
  std::size_t vertices = 0;  ///< of the graph after it, inputs included; 0 for a stage that leaves the graph as it is
};

/// Runs those passes that find out what vertices are computed together, on a graph that has been through all of them
/// and has other vertices since. Not if they are disabled.
EinGraph fuse_again(const EinGraph& graph, const std::set<std::string>& disabled);

/// Runs the passes that are not disabled, validates the graph before the first and after each, and appends what each
/// took (validation apart) to `timings`; `paths` orders contractions. Throws Error{UnknownName} if a disabled pass does
/// not exist, Error{Value} if it cannot be switched off.
EinGraph run_passes(EinGraph graph, const std::set<std::string>& disabled, std::vector<StageTiming>& timings,
                    PathSearch& paths);

}  // namespace eindb
