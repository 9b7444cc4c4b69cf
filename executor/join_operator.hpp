#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "executor/epilogue.hpp"
#include "executor/kernels/fused_kernel.hpp"
#include "executor/kernels/kernel.hpp"
#include "executor/relation.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Makes the kernel calls of a join, and with them the group-by above it if there is one: for every group (a tile of
/// the result) the kernel is called once per key over the aggregated labels. A group's kernel calls accumulate into one
/// tile, so the join is never materialised; where several threads work on a group, each has a partial result, and these
/// are combined. The EinSum's epilogue is applied to the finished tile.
///
/// A call whose absent tiles leave the result as it is (tensor/annihilation) is not made, and a tile that is all +0 in
/// the end, or of a group without any call, is absent.
///
/// Immutable, thread-safe: all tasks of a join share one. The plan outlives it.
class JoinOperator {
 public:
  /// The sum accumulated so far; nothing if no kernel was called.
  using Partial = std::optional<CountedTile>;
  using Inputs = std::vector<Relation*>;

  /// The buffers that a thread keeps from call to call, so that little is allocated.
  struct Buffers {
    std::vector<std::int64_t> tiles;  ///< of the latest call, by operand
    std::vector<PartRange> ranges;
    std::vector<TilePtr> held;
    std::vector<const Tile*> operands;
    std::optional<MemoryReservation> workspace;  ///< of the thread, see Workspace
  };

  /// `result_type` and `grid` are those of the finished result.
  JoinOperator(const JoinNode& join, const LabelTable& labels, const TileGrid& grid, DType result_type,
               const std::vector<DType>& input_types, const std::vector<const TileGrid*>& input_grids);

  /// The kernel call at a key: tile coordinates of einsum.output, then of einsum.aggregated. Gives the number of the
  /// operands' elements, or nothing if the call was needless.
  std::optional<std::int64_t> call(const Inputs& inputs, std::span<const std::int64_t> key, Partial& partial,
                                   const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const;
  /// Bytes that the thread's kernels take at most beside tiles; what a call finds no room for when Buffers has none
  /// yet.
  std::int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Bytes that a partial result counts for: those of the type that the kernels add in or, where that is larger, of the
  /// result's type, to which it is converted in the end.
  std::int64_t bytes_of_partial(const Tile& partial) const;
  /// Adds `from` to `into`; either may be nothing.
  void combine(Partial& into, Partial from) const;
  /// The tile of the result that a whole group comes to, in the result's type; null if it is zero.
  TilePtr finish(Partial aggregated, std::int64_t tile_id, const std::shared_ptr<MemoryBudget>& memory) const;
  /// Gives a tile of the aggregated values its final ones, in the type they were computed in; without an epilogue they
  /// are that already.
  void apply_epilogue(Tile& tile) const { epilogue_.apply(tile); }
  /// The aggregated values of a group without any kernel call, which are zero: nothing if the final ones are, too.
  Partial nothing_aggregated(std::int64_t tile_id, const std::shared_ptr<MemoryBudget>& memory) const;

 private:
  // Where an operand's tiles are: the sum of key[axes[d]] * strides[d] is the tile_id.
  struct OperandPlaces {
    std::vector<std::size_t> axes;
    std::vector<std::int64_t> strides;
  };

  std::int64_t find_workspace_bytes() const;
  void take_workspace(const std::shared_ptr<MemoryBudget>& memory, Buffers& buffers) const;
  void find_ranges(std::span<const std::int64_t> key, std::vector<PartRange>& ranges) const;
  void find_tiles(std::span<const std::int64_t> key, std::vector<std::int64_t>& tiles) const;
  bool is_needless(const Inputs& inputs, const std::vector<std::int64_t>& tiles) const;

  const JoinNode& join_;
  const TileGrid& grid_;
  DType result_type_;
  Kernel kernel_;
  std::vector<std::size_t> axis_of_label_;  // of a key, per label of the partition
  std::vector<std::int64_t> extents_;       // per label of the partition
  std::vector<OperandPlaces> operands_;
  std::vector<DType> input_types_;
  bool may_skip_ = false;             // if absent tiles can make a call needless
  std::optional<FusedKernel> fused_;  // of a join with steps, in place of the kernel
  std::int64_t workspace_bytes_ = 0;
  Epilogue epilogue_;
};

}  // namespace eindb
