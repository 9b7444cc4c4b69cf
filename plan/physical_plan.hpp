#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/fragment.hpp"
#include "plan/redistribution_plan.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The number of a step, which identifies the relation that the step produces.
using StepId = StrongId<struct PlanStepTag>;

/// Reads a stored tensor, or a selection from one, in place.
struct ScanStep {
  static constexpr const char* kName = "scan";

  InputTensor tensor;
  std::size_t holders = 0;  ///< index into the statement's TileHolders: the holders of the stored tensor's tiles

  std::vector<StepId> reads() const { return {}; }
};

/// Moves a relation to where the step's result is placed, cut anew on the way, in one of two ways:
/// - in pieces: every tile of the result is put together of what it overlaps, in one exchange between all ranks. A rank
///   takes nothing from others that it holds itself. The result's dimensions may be longer than the input's, and are
///   then filled up with zeros, or shorter;
/// - between placements in blocks also by a sequence of collectives: each rank puts the tiles of its block together to
///   a dense one, the ranks run the sequence, and each cuts the block that it then has.
struct RedistributeStep {
  static constexpr const char* kName = "redistribute";

  StepId input;
  std::optional<RedistributionPlan> sequence = std::nullopt;  ///< absent: in pieces

  std::vector<StepId> reads() const { return {input}; }
};

/// The kernel calls of one vertex or fused chain. Each rank makes those of its block of the label space, independently
/// of the others. The inputs are in place in the tiles that the calls read: operand n is cut by join.operand_grid(n),
/// and every rank holds the tiles that its block overlaps.
///
/// Blocks in which an access has no cells need not be at any rank: those in which aligned labels
/// (tensor/access_form) have different parts.
///
/// If a block of the result is made of several blocks of the aggregated labels, each rank has a partial result:
/// unfinished (without epilogue), in the join's compute_dtype, and all zero where there is no tile; a ReduceStep
/// follows.
///
/// Example: Z[i,k] = SUM(X[i,j] * Y[j,k]) with blocks [i:2 j:2 k:1] on four ranks: at = (0,0,0), (1,0,0), (0,1,0),
/// (1,1,0); Z has two blocks, and ranks 0 and 2 have partial results of the first.
struct ComputeStep {
  static constexpr const char* kName = "compute";

  std::vector<StepId> inputs;
  JoinNode join;     ///< its own `inputs` are empty
  Partition blocks;  ///< parts into which ranks cut each of join.partition.labels; divides join.partition.parts
  std::vector<std::optional<TileKey>>
      at;  ///< for each rank, its block of the label space; nullopt: it computes nothing

  const std::vector<StepId>& reads() const { return inputs; }
  /// Whether a block of the result is made of several blocks of the aggregated labels.
  bool is_partial() const;
};

/// Combines the partial results of a ComputeStep tile by tile, in the order of the blocks along the aggregated labels,
/// and finishes them; a tile goes to the placement of the step's result. Ranks with the same block have identical
/// partial results, of which one is used.
struct ReduceStep {
  static constexpr const char* kName = "reduce";

  StepId input;

  std::vector<StepId> reads() const { return {input}; }
};

/// The whole work of a plan for a single rank as one graph of tasks: operators on tiles, which overlap where a plan in
/// steps would wait. The fragment's sinks are the statement's results.
struct FragmentStep {
  static constexpr const char* kName = "fragment";

  Fragment fragment;

  std::vector<StepId> reads() const { return {}; }
};

/// One step and the relation that it produces: the tiles of a grid, placed in blocks or by the statement's TileHolders
/// with that index.
struct PlanStep {
  std::variant<ScanStep, RedistributeStep, ComputeStep, ReduceStep, FragmentStep> op;
  VertexId vertex;  ///< the vertex that the step serves
  DType dtype = DType::Float64;
  TileGrid grid;
  std::variant<BlockPlacement, std::size_t> placement;
  /// Set where its tiles are of cells (Tile::is_of_cells), as in FragmentNode.
  std::optional<double> cells = std::nullopt;

  /// The bytes in which its tiles are stored or sent relative to those of dense ones; 1 unless they are of cells.
  double packed_share() const;
};

/// The plan of a statement: all ranks run the same steps in the same order, each on the tiles that it holds, and pass
/// their tiles of each result to the sink of that result. The plan for one rank is a single FragmentStep.
///
/// The contract between optimizer/ and executor/. Immutable once built. Invariants (plan/validator): steps read earlier
/// ones; there is a result, and every step that nothing reads is one; placements refer to `ranks` ranks; blocks divide
/// grids; a FragmentStep is alone, and gives every result; partial results are dense.
struct PhysicalPlan {
  std::size_t ranks = 1;
  Rank coordinator = 0;  ///< the rank of the session; it may compute too
  LabelTable labels;
  std::vector<PlanStep> steps;
  std::size_t holder_lists = 0;  ///< the number of TileHolders that the statement supplies
  std::vector<StepId> results;   ///< the steps that produce the statement's results, in its order; distinct

  const PlanStep& step(StepId id) const { return steps[id.index()]; }
  /// All that the plan does, if that is a single FragmentStep; otherwise null.
  const Fragment* fragment() const;
};

/// A plan for one rank.
PhysicalPlan plan_of(Fragment fragment);

/// Inputs of a step, in operand order.
std::vector<StepId> inputs_of(const PlanStep& step);
/// "scan", "redistribute", "compute", "reduce" or "fragment".
std::string operator_name(const PlanStep& step);

}  // namespace eindb
