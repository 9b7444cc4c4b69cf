#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/cell_join.hpp"
#include "executor/epilogue.hpp"
#include "executor/join_input.hpp"
#include "executor/kernels/fused_kernel.hpp"
#include "executor/kernels/kernel.hpp"
#include "executor/relation.hpp"
#include "executor/stage.hpp"
#include "plan/fragment.hpp"

namespace eindb {

/// The kernel of a join with steps. Only its rows are cut, so each call is the only one of its group.
FusedKernel fused_kernel_of(const JoinNode& join, const LabelTable& labels, const std::vector<DType>& input_types);

/// Makes the kernel calls of a join, together with the group-by above it if there is one. For every group (a tile of
/// the result) the kernel is called once per key over the aggregated labels. A group's calls accumulate into one tile,
/// so the join is never materialised. If several threads work on a group, each has a partial result, and these are
/// combined. The EinSum's epilogue is applied to the finished tile.
///
/// Operands are read where they lie, if the kernel can: those of a program as they lie in its memory, and those that
/// are cut more coarsely than the join (JoinNode::in_parts) as parts of their tiles.
///
/// A join that makes cells calls its kernel once per group, and its tiles are of cells.
///
/// A call whose absent tiles leave the result unchanged (tensor/annihilation) is skipped. A finished tile of only +0,
/// or of a group without any call, is absent.
///
/// Immutable, thread-safe: all tasks of a join share one. The plan must outlive it.
class JoinOperator {
 public:
  /// The sum accumulated so far; nullopt if no kernel was called.
  using Partial = std::optional<CountedTile>;
  using Inputs = std::vector<Relation*>;

  /// Buffers that a thread reuses from call to call, to reduce allocations.
  struct Buffers {
    std::vector<std::int64_t> tiles;  ///< of the last call, by operand
    std::vector<PartRange> ranges;
    std::vector<OperandFacts> facts;
    CellCallPlans cell_plans;
    std::vector<TilePtr> held;
    std::vector<const Tile*> operands;
    std::vector<std::optional<Tile>> decoded;    ///< by operand; counted in the workspace
    std::shared_ptr<const SortedRows> rows;      ///< of the current group, if they are sorted; likewise
    std::shared_ptr<Tile> whole;                 ///< in which results are made, by TileSink::whole; null: elsewhere
    std::optional<MemoryReservation> workspace;  ///< reservation for the thread's Workspace
    /// Whether the last call failed while its kernel added to a partial result, which may be half changed: the call
    /// cannot be repeated.
    bool broke_off = false;
  };

  /// `result_type` and `grid` are for the finished result.
  JoinOperator(const JoinNode& join, const LabelTable& labels, const TileGrid& grid, DType result_type,
               const std::vector<JoinInput>& inputs, bool makes_cells);

  /// Makes the kernel call at a key: tile coordinates of einsum.output, then of einsum.aggregated. Returns the number
  /// of elements of the operands; nullopt if the call was needless.
  std::optional<std::int64_t> call(const Inputs& inputs, std::span<const std::int64_t> key, Partial& partial,
                                   const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const;
  /// Whether sort_rows() prepares the calls of a group: a gather of rows of a source in several parts.
  bool sorts_rows() const { return sorts_rows_; }
  /// Sorts the rows of a group by the part of the source that each call reads, so that call() visits the rows of its
  /// part alone, and reads no part without rows. `key` as for call(), `calls` are those of the group along each
  /// aggregated label. All of them are then made by this thread, in order, until the buffers' rows are reset; each row
  /// is written by its call, and what the partial result has before is uninitialised. With tile_of_rows() several
  /// threads make them.
  void sort_rows(const Inputs& inputs, std::span<const std::int64_t> key, std::span<const AxisRange> calls,
                 const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const;
  /// The partial result of the group that sort_rows() has just sorted, for calls in any order, in threads whose Buffers
  /// share the rows: it is passed to all of them, also at the same time.
  CountedTile tile_of_rows(std::span<const std::int64_t> key, const std::shared_ptr<MemoryBudget>& memory,
                           const Buffers& buffers) const;
  /// Whether Buffers::whole may be set: kernels write values of the result's type.
  bool makes_final_values() const { return !makes_cells_ && join_.compute_dtype == result_type_; }
  /// The most bytes that the thread's kernels use beside tiles. Must be available at the first call, while Buffers has
  /// no reservation yet.
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// The most bytes that a thread takes which helps with a kernel's call (LentCall); 0 where nobody can.
  std::int64_t lent_bytes() const { return lent_bytes_; }
  /// The bytes that a partial result counts for: in the type that the kernels add in, or in the result's type, to which
  /// it is finally converted, whichever is larger.
  std::int64_t bytes_of_partial(const Tile& partial) const;
  /// Adds `from` to `into`; either may be nullopt.
  void combine(Partial& into, Partial from) const;
  /// The result's tile for a completely aggregated group, in the result's type; null if it is zero.
  TilePtr finish(Partial aggregated, std::int64_t tile_id, const std::shared_ptr<MemoryBudget>& memory) const;
  /// Replaces aggregated values by final ones, in the compute type. Without an epilogue they are equal.
  void apply_epilogue(Tile& tile) const { epilogue_.apply(tile); }
  /// The aggregated values of a group without any kernel call, which are zero; nullopt if the final values are zero
  /// too.
  Partial nothing_aggregated(std::int64_t tile_id, const std::shared_ptr<MemoryBudget>& memory) const;

 private:
  // Locates an operand's tiles: the sum of key[axes[d]] * strides[d] is the tile_id, unless they are read in parts.
  struct OperandPlaces {
    std::vector<std::size_t> axes;
    std::vector<std::int64_t> strides;
    std::vector<std::size_t> labels;  // of tiles that are read in parts: of each dimension, its place in the partition
    const TileGrid* in_parts = nullptr;  // the grid of such tiles
  };

  std::vector<std::int64_t> largest_sizes() const;
  std::int64_t find_workspace_bytes() const;
  std::int64_t decoded_bytes(std::span<const std::int64_t> sizes) const;
  std::int64_t sorted_bytes(std::span<const std::int64_t> sizes) const;
  static void take_workspace(const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers, std::int64_t bytes);
  void find_ranges(std::span<const std::int64_t> key, std::vector<PartRange>& ranges) const;
  void find_tiles(std::span<const std::int64_t> key, Buffers& buffers) const;
  CountedTile make_cells(const CellKernel* cells, const CellKernel::CallPlan* plan,
                         const std::shared_ptr<MemoryBudget>& memory, const Buffers& buffers) const;
  TilePtr finish_cells(CountedTile made, MemoryBudget& memory) const;
  std::optional<std::int64_t> call_of_rows(const Inputs& inputs, std::span<const std::int64_t> key, Partial& partial,
                                           const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const;
  CountedTile tile_at(std::span<const std::int64_t> key, const std::shared_ptr<MemoryBudget>& memory,
                      const Buffers& buffers) const;
  TilePtr operand_tile(std::size_t operand, Relation& input, const Buffers& buffers) const;
  /// Whether the kernel takes the tiles that are held as they are, encoded or not.
  bool are_read_as_bytes(const Buffers& buffers) const;
  const Tile* readable(std::size_t operand, const Tile& tile, Buffers& buffers) const;
  std::shared_ptr<const CellKernel> cell_kernel(const Inputs& inputs, Buffers& buffers) const;
  void expand_cells(const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const;
  void check_indices(const AccessKernel& access, const Inputs& inputs, const Buffers& buffers) const;
  bool is_needless(const Inputs& inputs, Buffers& buffers) const;

  const JoinNode& join_;
  const TileGrid& grid_;
  DType result_type_;
  Kernel kernel_;
  std::vector<std::size_t> axis_of_label_;  // position in a key, per label of the partition
  std::vector<std::int64_t> extents_;       // per label of the partition
  std::vector<OperandPlaces> operands_;
  // A label with a halo, by its place in the partition, and the place of its leader.
  struct HaloPlace {
    std::size_t label;
    std::size_t leader;
    Reach reach;
  };
  std::vector<HaloPlace> halos_;
  std::vector<DType> input_types_;
  std::vector<bool> may_be_encoded_;  // by input
  bool makes_cells_ = false;
  bool sorts_rows_ = false;
  bool may_skip_ = false;             // whether absent tiles can make a call needless
  std::optional<FusedKernel> fused_;  // for a join with steps, in place of the kernel
  std::optional<CellJoin> cells_;     // if it reads cells, in place of the kernel where the values allow it
  std::int64_t workspace_bytes_ = 0;
  std::int64_t lent_bytes_ = 0;
  Epilogue epilogue_;
};

}  // namespace eindb
