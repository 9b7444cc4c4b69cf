#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "executor/kernels/kernel.hpp"
#include "executor/relation.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Runs a join with its kernel, and the group-by above it if there is one: for every group (a tile of the result)
/// the kernel is called once per key over the aggregated labels. A group's kernel calls accumulate into one tile, so
/// the join is never materialised. The EinSum's epilogue is applied to the finished tile. Where there are fewer groups
/// than threads, a group's calls are shared out among several tasks, each with a partial result, and combined in the
/// end.
///
/// Example: Z[i,k] = SUM(X[i,j] * Y[j,k]) with d = [i:2 j:4 k:1] on 4 threads has 2 groups of 4 calls: each group
/// is worked on by 4 tasks of one call.
class JoinOperator {
 public:
  /// `node` is the JoinNode's physical node; `result_type` and `grid` are those of the finished result.
  JoinOperator(const JoinNode& join, const LabelTable& labels, const TileGrid& grid, DType result_type,
               std::vector<std::shared_ptr<Relation>> inputs, ExecutionContext& context);

  /// The result; fills everything of `profile` but seconds.
  std::shared_ptr<Relation> run(NodeProfile& profile);

  /// How many tasks `run` makes.
  std::int64_t task_count() const { return grid_.tile_count() * chunks_; }

 private:
  // Tile coordinates of every label of the join, in the order of partition.labels.
  using JoinKey = std::vector<std::int64_t>;

  // What one task has accumulated; counts against the memory limit.
  struct Partial {
    MemoryReservation reservation;
    Tile tile;
  };

  Partial accumulate(std::int64_t group, std::int64_t chunk) const;
  void call_kernel(const JoinKey& key, Tile& accumulator, bool first) const;
  void place(JoinKey& key, const Labels& labels, const TileKey& values) const;
  TileKey project(const JoinKey& key, const Labels& labels) const;
  void apply_epilogue(Tile& tile) const;
  TilePtr finish(std::vector<Partial> partials) const;

  const JoinNode& join_;
  const LabelTable& labels_;
  const TileGrid& grid_;
  DType result_type_;
  std::vector<std::shared_ptr<Relation>> inputs_;
  ExecutionContext& context_;
  Kernel kernel_;
  std::optional<Kernel> epilogue_;  // of an EinSum that has one: of a strip of an aggregated tile
  Partition aggregated_parts_;      // of einsum.aggregated
  std::int64_t calls_per_group_ = 1;
  std::int64_t chunks_ = 1;  // tasks per group
};

}  // namespace eindb
