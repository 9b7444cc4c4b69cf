#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/physical_plan.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The relation that a step of a distributed plan gives: the number of the step.
using StepId = StrongId<struct DistributedStepTag>;

/// A stored tensor, or a selection from one, where it lies.
struct ScanStep {
  static constexpr const char* kName = "scan";

  InputTensor tensor;
  std::size_t holders = 0;  ///< of the stored tensor's tiles: which of the statement's TileHolders

  std::vector<StepId> reads() const { return {}; }
};

/// Moves a relation to where the step's result is placed, cut anew on the way: every tile of the result is put together
/// of what it overlaps. A rank takes nothing from others that it holds itself.
struct RedistributeStep {
  static constexpr const char* kName = "redistribute";

  StepId input;

  std::vector<StepId> reads() const { return {input}; }
};

/// The kernel calls of one vertex, or of a fused chain, each rank those of its block of the label space; no rank needs
/// another. The inputs are there in the tiles that the calls read: operand n is cut by
/// join.partition.project(join.einsum.inputs[n]) and every rank holds the tiles that its block overlaps.
///
/// If an aggregated label is cut between ranks, what a rank has is a partial result: not finished (no epilogue), in
/// the join's compute_dtype, all zero where it has no tile; a ReduceStep follows.
///
/// Example: Z[i,k] = SUM(X[i,j] * Y[j,k]) with blocks [i:2 j:2 k:1] on four ranks: at = (0,0,0), (1,0,0), (0,1,0),
/// (1,1,0); Z is in two blocks, of which ranks 0 and 2 have partial results of the first.
struct ComputeStep {
  static constexpr const char* kName = "compute";

  std::vector<StepId> inputs;
  JoinNode join;     ///< its own `inputs` are empty
  Partition blocks;  ///< into how many parts ranks cut each of join.partition.labels; divides join.partition.parts
  std::vector<std::optional<TileKey>> at;  ///< of each rank: its block of the label space; nullopt: it computes nothing

  const std::vector<StepId>& reads() const { return inputs; }
  /// Whether a label that is aggregated is cut between ranks.
  bool is_partial() const;
};

/// Combines the partial results of a ComputeStep, for every tile those of all blocks along the aggregated labels in
/// the order of the blocks, and finishes them; a tile goes to where the step's result is placed. Ranks with the same
/// block have the same, of which one counts.
struct ReduceStep {
  static constexpr const char* kName = "reduce";

  StepId input;

  std::vector<StepId> reads() const { return {input}; }
};

/// All that a plan for a single rank does, as one graph of tasks: operators on tiles, between which nothing waits for a
/// step to end. The fragment's sinks are the statement's results.
struct FragmentStep {
  static constexpr const char* kName = "fragment";

  PhysicalPlan fragment;

  std::vector<StepId> reads() const { return {}; }
};

/// One step, and the relation that it gives: the tiles of a grid, placed in blocks or by the statement's TileHolders of
/// that number.
struct DistributedStep {
  std::variant<ScanStep, RedistributeStep, ComputeStep, ReduceStep, FragmentStep> op;
  VertexId vertex;  ///< that the step works for
  DType dtype = DType::Float64;
  TileGrid grid;
  std::variant<BlockPlacement, std::size_t> placement;
};

/// The plan of a statement, for one rank or for many: all ranks run the same steps in the same order, each on what it
/// holds. Each rank hands the tiles that it holds of each result to the sink of that number. A plan for one rank is
/// either such steps or, as the optimizer makes it, a single FragmentStep, which gives every result.
///
/// The contract between optimizer/ and executor/. Immutable once built.
/// Invariants (plan/validator): steps read earlier ones; there is a result, and what is not read is one; placements
/// name `ranks` ranks; blocks divide grids; a FragmentStep is the only step of a plan for one rank.
struct DistributedPlan {
  std::size_t ranks = 1;
  Rank coordinator = 0;  ///< the rank of the session; it may compute, too
  LabelTable labels;     ///< of steps; a fragment has its own
  std::vector<DistributedStep> steps;
  std::size_t holder_lists = 0;  ///< how many TileHolders the statement gives
  std::vector<StepId>
      results;  ///< the steps whose relations are the statement's results, in its order; distinct, but for a fragment's

  const DistributedStep& step(StepId id) const { return steps[id.index()]; }
  /// All that the plan does, if that is a single FragmentStep; otherwise null.
  const PhysicalPlan* fragment() const;
};

/// A plan for one rank.
DistributedPlan plan_of(PhysicalPlan fragment);

/// Inputs of a step, in operand order.
std::vector<StepId> inputs_of(const DistributedStep& step);
/// "scan", "redistribute", "compute", "reduce" or "fragment".
std::string operator_name(const DistributedStep& step);

}  // namespace eindb
