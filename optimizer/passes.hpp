#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A rewrite of the logical plan: takes a valid graph, gives a valid graph with the same result, and for good measure
/// the same output name, head and type. Each pass is a function of its own file; what is here is their order.
struct Pass {
  std::string_view name;
  EinGraph (*run)(const EinGraph&);
  std::string_view reason;  ///< why it stands where it stands
  bool switchable = true;   ///< false: execution needs what it establishes
};

/// All passes, in the order in which they run.
const std::vector<Pass>& all_passes();

/// Seconds that one stage of planning took.
struct StageTiming {
  std::string name;
  double seconds = 0;
};

/// Runs the passes that are not disabled, validates the graph before the first and after each, and appends what each
/// took (validation apart) to `timings`. Throws Error{UnknownName} if a disabled pass does not exist, Error{Value} if
/// it cannot be switched off.
EinGraph run_passes(EinGraph graph, const std::set<std::string>& disabled, std::vector<StageTiming>& timings);

}  // namespace eindb
