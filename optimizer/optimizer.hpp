#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/calibrated_choice.hpp"
#include "optimizer/contraction_slicer.hpp"
#include "optimizer/partitions/labelling.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/partitions/strategy_comparison.hpp"
#include "optimizer/passes.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "plan/distributed_plan.hpp"

namespace eindb {

struct OptimizerOptions {
  std::int64_t parallelism = 1;           ///< p of EinDecomp: kernel calls wanted per vertex, a power of two
  Strategy strategy = {};                 ///< how partition vectors are chosen
  std::set<std::string> disabled_passes;  ///< names of optimizer/passes; kRecomputation
  bool free_inputs = false;               ///< cost stored tensors as free in any partition, the paper's rule
  WantedPartitions output_partitions;     ///< cut the results so; otherwise as their vertices give them
  PathOptions path = {};                  ///< how n-ary contractions are ordered
  bool compare_strategies = false;        ///< cost the graph under all strategies too
  std::int64_t memory_limit = 0;          ///< bytes; contractions that would hold more are sliced. 0: none is
  bool spills = false;                    ///< tiles that do not fit the limit go to a scratch file
  LeastMemory least_memory = {};          ///< of a plan that spills
  /// Set: costs are seconds by the model `calibrated`, which may choose p and the result's tiles; otherwise elements
  /// moved, by `transfers`.
  std::optional<MachineOptions> machine = {};
  std::int64_t workers = 0;  ///< set: vectors by which so many workers receive the least from each other
  /// Not set: the labelled graph is the result, and whoever knows the ranks lowers it (optimizer/distributed_planner).
  /// Memory is no concern then, since ranks spill.
  bool lowers = true;
};

/// The result of ordering the contractions of a graph.
struct PathSummary {
  PathReport search;
  double naive_flops = 0;           ///< as the statement has it: every vertex in one nest of loops (optimizer/flops)
  double flops = 0;                 ///< of the graph after all passes
  double largest_intermediate = 0;  ///< elements of its largest result, the last one included
};

/// How a plan keeps to a memory limit that its tiles do not all fit.
enum class MemoryWay : std::uint8_t {
  Spill,      ///< tiles that do not fit go to a scratch file
  Slice,      ///< optimizer/contraction_slicer
  Recompute,  ///< optimizer/recomputation; what does not fit then goes to a scratch file
};

/// "scratch", "slices", "recomputation".
std::string_view name_of(MemoryWay way);

/// The way taken, and what the others would have taken.
struct MemoryChoice {
  MemoryWay way = MemoryWay::Spill;
  double spilled_bytes = 0;        ///< written to a scratch file; if Slice is the way: if it were not
  double seconds_spilling = 0;     ///< predicted, all in all; infinite: not even the tiles of one call fit
  double seconds_slicing = 0;      ///< infinite: no slices fit
  double seconds_recomputing = 0;  ///< infinite: it does not lower the peak, or not even the tiles of one call fit
};

/// Everything that planning found out; EXPLAIN prints it, the executor takes `physical`.
struct OptimizedPlan {
  EinGraph graph;  ///< after all passes; entry n of labelling.vertices is of its vertex n
  Labelling labelling;
  DistributedPlan physical;            ///< for one rank; without steps where OptimizerOptions::lowers is not set
  std::vector<TileGrid> result_grids;  ///< of each result, as it is given or stored
  PathSummary path;
  std::int64_t parallelism = 1;                              ///< the p of the labelling
  std::int64_t fastest_parallelism = 1;                      ///< of those tried, the best if memory were no concern
  std::vector<ParallelismCandidate> parallelism_candidates;  ///< those that `calibrated` tried
  std::vector<StrategyCosts> strategies;                     ///< if they were to be compared
  /// The passes that ran, then "decomposition" and "physical_plan"; "memory" where the plan did not fit the limit.
  std::vector<StageTiming> stages;
  double planning_seconds = 0;                ///< all of it, with validation
  double peak_bytes = 0;                      ///< of tiles that the execution holds at once, by optimizer/plan_memory
  double seconds = 0;                         ///< predicted, with what spilling takes; of a plan that may spill
  double least_bytes = 0;                     ///< what it cannot run without, whatever is spilled
  std::optional<MemoryChoice> memory_choice;  ///< set where there was one
  std::vector<std::string> recomputed;        ///< vertices of which `graph` has a copy (optimizer/recomputation)
  std::optional<MemoryShortfall> shortfall;   ///< set: it cannot keep to the limit, and running it will fail

  bool is_lowered() const { return !physical.steps.empty(); }
  /// All that a single rank does. Of a lowered plan.
  const PhysicalPlan& fragment() const { return *physical.fragment(); }
};

/// The optimizer: bound logical plan in, physical plan out. A pure function of its arguments: no I/O, no state, any
/// number of threads. Output vertices keep names, head labels and types.
/// Throws Error{Value} if the parallelism is not a power of two or no optimal path can be found in time,
/// Error{UnknownName} or Error{Value} for a pass that cannot be disabled, Error{Shape} if one of
/// `output_partitions` does not fit its result.
OptimizedPlan optimize(const EinGraph& graph, const OptimizerOptions& options);

}  // namespace eindb
