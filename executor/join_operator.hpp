#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "executor/execution_context.hpp"
#include "executor/execution_profile.hpp"
#include "executor/kernels/kernel.hpp"
#include "executor/relation.hpp"
#include "executor/sliced_result.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Runs a join with its kernel, and the group-by above it if there is one: for every group (a tile of the result)
/// the kernel is called once per key over the aggregated labels. A group's kernel calls accumulate into one tile, so
/// the join is never materialised. The EinSum's epilogue is applied to the finished tile. Where there are fewer groups
/// than threads, a group's calls are shared out among several tasks, each with a partial result, as far as the memory
/// limit allows, and combined in the end.
///
/// It runs on all keys, or, in a loop over slices, again and again on those of a slice.
///
/// Example: Z[i,k] = SUM(X[i,j] * Y[j,k]) with d = [i:2 j:4 k:1] on 4 threads has 2 groups of 4 calls: each group
/// is worked on by 4 tasks of one call.
class JoinOperator {
 public:
  using Inputs = std::vector<std::shared_ptr<Relation>>;

  /// `node` is the JoinNode's physical node; `result_type` and `grid` are those of the finished result.
  JoinOperator(const JoinNode& join, const LabelTable& labels, const TileGrid& grid, DType result_type,
               const std::vector<DType>& input_types, ExecutionContext& context);

  /// The tiles of the result for the keys of a window over join.partition; adds to everything of `profile` but seconds.
  std::shared_ptr<Relation> run(const Inputs& inputs, const TileWindow& keys, NodeProfile& profile) const;
  /// The same, into the result that the slices have in common.
  void run_into(SlicedResult& result, const Inputs& inputs, const TileWindow& keys, NodeProfile& profile) const;
  /// Gives a tile of the aggregated values its final ones, in the type they were computed in; without an epilogue they
  /// are that already.
  void apply_epilogue(Tile& tile) const;

 private:
  // Tile coordinates of every label of the join, in the order of partition.labels.
  using JoinKey = std::vector<std::int64_t>;

  // One execution: which groups and which calls of each.
  struct Work {
    const Inputs& inputs;
    TileWindow groups;      // over einsum.output
    TileWindow aggregated;  // over einsum.aggregated
    std::int64_t group_count = 1;
    std::int64_t calls_per_group = 1;
    std::int64_t chunks = 1;  // tasks per group
  };
  using TakeGroup = std::function<void(std::int64_t group, CountedTile tile)>;

  Work work_on(const Inputs& inputs, const TileWindow& keys) const;
  std::int64_t chunks_of(const Work& work) const;
  void run_groups(const Work& work, NodeProfile& profile, const TakeGroup& take) const;
  /// `elements` is raised by those of the tiles handed to kernel calls.
  CountedTile accumulate(const Work& work, std::int64_t group, std::int64_t chunk,
                         std::atomic<std::int64_t>& elements) const;
  /// Elements of the operands.
  std::int64_t call_kernel(const Inputs& inputs, const JoinKey& key, Tile& accumulator, bool first) const;
  TileWindow project(const TileWindow& keys, const Labels& labels) const;
  void place(JoinKey& key, const Labels& labels, const TileKey& values) const;
  TileKey project(const JoinKey& key, const Labels& labels) const;
  CountedTile merge(std::vector<CountedTile> partials) const;

  const JoinNode& join_;
  const LabelTable& labels_;
  const TileGrid& grid_;
  DType result_type_;
  ExecutionContext& context_;
  Kernel kernel_;
  std::optional<Kernel> epilogue_;  // of an EinSum that has one: of a strip of an aggregated tile
};

}  // namespace eindb
