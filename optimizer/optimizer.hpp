#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/stopwatch.hpp"
#include "optimizer/calibrated_choice.hpp"
#include "optimizer/contraction_slicer.hpp"
#include "optimizer/partitions/labelling.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/partitions/strategy_comparison.hpp"
#include "optimizer/passes.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

struct OptimizerOptions {
  std::int64_t parallelism = 1;           ///< p of EinDecomp: kernel calls wanted per vertex, a power of two
  Strategy strategy = {};                 ///< the rule that chooses partition vectors
  std::set<std::string> disabled_passes;  ///< names from optimizer/passes, kRecomputation, kCellChoice, kPartReads
  bool free_inputs = false;               ///< price stored tensors as free in any partition, the paper's rule
  WantedPartitions
      output_partitions;  ///< partitions prescribed for results; without one a result keeps its vertex's partition
  /// For results whose entry of `output_partitions` is the default one of dense tiles: the partition in which a result
  /// of cells is stored instead; empty or nullopt: the prescribed one.
  WantedPartitions partitions_of_cells = {};
  PathOptions path = {};                 ///< how n-ary contractions are ordered
  bool always_cells = false;             ///< tensors whose cells are counted are read as cells wherever possible
  std::vector<bool> dense_results = {};  ///< results that must not be of cells, by number; empty: none
  /// Where the rest of the plan may be made again while it runs (optimizer/checkpoints).
  enum class Checkpoints : std::uint8_t { None, Uncertain, All } checkpoints = Checkpoints::None;
  bool compare_strategies = false;  ///< cost the graph under all strategies, for comparison
  std::int64_t memory_limit = 0;    ///< bytes; contractions that would hold more are sliced. 0 disables slicing
  bool spills = false;              ///< whether tiles beyond the limit may go to a scratch file
  LeastMemory least_memory = {};    ///< of a plan that may spill (optimizer/plan_memory)
  /// If set, costs are seconds by the model `calibrated`, which may also choose p and the results' tiles. Otherwise
  /// costs are elements moved, by the model `transfers`.
  std::optional<MachineOptions> machine = {};
  /// If positive, vectors are chosen so that workers receive the least from each other: so many, or fewer where extents
  /// are too small for them (optimizer/partitions/worker_count), which also fits p to them.
  std::int64_t workers = 0;
  bool call_for_each_worker = false;  ///< the p of workers, instead of `parallelism`
  /// If not set, the labelled graph is the result, and it is lowered when the ranks are known
  /// (optimizer/rank_planner). Memory is no concern then, since ranks spill.
  bool lowers = true;
};

/// The result of ordering the contractions of a graph.
struct PathSummary {
  PathReport search;
  double naive_flops = 0;  ///< of the bound graph, with every vertex computed in one loop nest (optimizer/flops)
  double flops = 0;        ///< of the graph after all passes
  double largest_intermediate = 0;  ///< elements of its largest vertex result, outputs included
};

/// How a plan keeps to a memory limit that is smaller than its tiles.
enum class MemoryWay : std::uint8_t {
  Spill,      ///< tiles beyond the limit go to a scratch file
  Slice,      ///< contractions are computed in slices (optimizer/contraction_slicer)
  Recompute,  ///< values are computed twice (optimizer/recomputation), and tiles beyond the limit go to a scratch file
};

/// The name that EXPLAIN shows: "scratch", "slices" or "recomputation".
std::string_view name_of(MemoryWay way);

/// The way taken, and the predictions for all three.
struct MemoryChoice {
  MemoryWay way = MemoryWay::Spill;
  double spilled_bytes = 0;  ///< bytes written to a scratch file; for Slice, those that the unsliced plan would write
  double seconds_spilling = 0;     ///< predicted total; infinite if not even the tiles of one call fit
  double seconds_slicing = 0;      ///< infinite if no number of slices fits
  double seconds_recomputing = 0;  ///< infinite if the peak stays, or not even the tiles of one call fit
};

/// The result of planning, with everything that EXPLAIN prints; the executor takes `physical`.
struct OptimizedPlan {
  EinGraph graph;  ///< after all passes; labelling.vertices[n] belongs to vertex n
  Labelling labelling;
  PhysicalPlan physical;               ///< for one rank; without steps where OptimizerOptions::lowers is not set
  std::vector<TileGrid> result_grids;  ///< of each result, as it is given or stored
  PathSummary path;
  std::int64_t parallelism = 1;                              ///< the p that the labelling was made for
  std::int64_t workers = 0;                                  ///< of OptimizerOptions::workers, those that compute
  std::int64_t fastest_parallelism = 1;                      ///< the fastest p tried, if memory were unlimited
  std::vector<ParallelismCandidate> parallelism_candidates;  ///< the values of p that `calibrated` tried
  std::vector<StrategyCosts> strategies;                     ///< filled if OptimizerOptions::compare_strategies is set
  /// The passes that ran, then "decomposition" and "physical_plan"; "memory" where the plan did not fit the limit.
  std::vector<StageTiming> stages;
  double planning_seconds = 0;  ///< the whole of planning, validation included
  double peak_bytes = 0;        ///< the most bytes of tiles held at once during execution (optimizer/plan_memory)
  double seconds = 0;           ///< predicted, spilling included; set for a plan that may spill
  double least_bytes = 0;       ///< the least memory the plan can run in, whatever is spilled
  std::optional<MemoryChoice> memory_choice;  ///< set if the plan did not fit the limit and a way was chosen
  std::vector<std::string> recomputed;  ///< names of the vertices that `graph` computes twice (optimizer/recomputation)
  std::optional<MemoryShortfall> shortfall;  ///< if set, the plan cannot keep to the limit and running it will fail

  bool is_lowered() const { return !physical.steps.empty(); }
  /// All that a single rank does. Of a lowered plan.
  const Fragment& fragment() const { return *physical.fragment(); }
};

/// The optimizer: bound logical plan in, physical plan out, in four stages that are called once each, in this order.
/// Depends on nothing but its arguments, without I/O; not thread-safe. Output vertices keep their names, head labels
/// and types. `bound` outlives it.
class Optimization {
 public:
  /// Throws Error{Shape} if one of `output_partitions` does not fit its result.
  Optimization(const EinGraph& bound, OptimizerOptions options);

  /// EinGraph -> equivalent EinGraph, whose vertices have any number of inputs still. Throws Error{UnknownName} or
  /// Error{Value} for a pass that cannot be disabled.
  void rewrite();
  /// -> vertices of one or two inputs in the order of a contraction path, some of them computed together. Throws
  /// Error{Value} if no optimal path can be found in time.
  void order();
  /// -> a partition vector for every vertex. Throws Error{Value} if the parallelism is not a power of two.
  void label();
  /// -> a physical plan for one rank that keeps to the memory limit. Nothing is lowered for workers
  /// (OptimizerOptions::lowers): their plan is made when it is known who they are (optimizer/rank_planner).
  void lower();
  /// The plan, after all stages.
  OptimizedPlan take();

 private:
  Stopwatch watch_;
  const EinGraph& bound_;
  OptimizerOptions options_;
  PathSearch paths_;
  OptimizedPlan plan_;
  struct PlainerWay {
    EinGraph rewritten;
    WantedPartitions output_partitions;
  };
  std::optional<Fragment> lowered_;    // of `plan_`, where its labelling came with one
  std::optional<PlainerWay> plainer_;  // where `plan_` may hold cells or read windows: to order and plan without
};

/// All stages of an Optimization. Safe to call from any number of threads.
OptimizedPlan optimize(const EinGraph& graph, const OptimizerOptions& options);

}  // namespace eindb
