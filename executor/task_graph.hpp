#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "executor/stage.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// The tasks of a whole plan, and which of them wait for which tiles. Memory is in proportion to the plan's nodes:
/// tasks and edges are numbers that a Stage computes.
///
/// Scans are no stages: their tiles are there when asked for. Nor are sinks.
///
/// The stages of a loop over slices form a region that is run once per slice, those between two loops one that is run
/// once. No region begins before the one ahead of it has ended; within a region there is no order but that of tiles.
///
/// Immutable once built, thread-safe; the plan outlives it.
class TaskGraph {
 public:
  struct Region {
    std::size_t begin = 0;  ///< stages
    std::size_t end = 0;
    const SliceLoop* loop = nullptr;
    std::size_t first_node = 0;
    std::size_t last_node = 0;
  };

  /// Results that are begun before their operands are complete take no more than `most_begun` bytes together, which is
  /// asked for when there may be one.
  using Bytes = std::function<std::int64_t()>;
  explicit TaskGraph(
      const PhysicalPlan& plan, Bytes most_begun = [] { return std::numeric_limits<std::int64_t>::max(); });

  const std::vector<Stage>& stages() const { return stages_; }
  const std::vector<Region>& regions() const { return regions_; }
  /// Who reads the node's tiles, in the order of stages; sinks apart.
  std::span<const Link* const> readers(std::size_t node) const {
    return {readers_.data() + reader_begin_[node], reader_begin_[node + 1] - reader_begin_[node]};
  }
  bool is_made_by_stage(std::size_t node) const { return stage_of_[node] >= 0; }
  const Stage& stage_of(std::size_t node) const { return stages_[static_cast<std::size_t>(stage_of_[node])]; }
  /// The last node that reads the node, perhaps a sink.
  std::size_t last_reader(std::size_t node) const { return last_reader_[node]; }
  /// How many sinks read the node's tiles.
  std::int64_t sinks_of(std::size_t node) const { return sinks_of_[node]; }
  /// Tasks, once per slice.
  std::int64_t task_count() const { return task_count_; }
  /// Points of the spaces of labels of all stages, once per slice.
  double cost() const { return cost_; }

 private:
  void add_node(NodeId id, const SliceLoop* loop);
  void add_join(std::size_t node, std::size_t join_node, const JoinNode& join, const SliceLoop* loop);
  void add_repartition(std::size_t node, std::size_t source, const SliceLoop* loop);
  void add(Stage stage, const SliceLoop* loop);
  std::int64_t repeats(std::size_t source, const Labels& labels, const SliceLoop* loop) const;
  bool consumes_early(const Stage& stage, std::size_t operand, const SliceLoop* loop);
  std::int64_t begun_bytes(const Stage& stage) const;
  void collect_readers();

  const PhysicalPlan& plan_;
  Bytes most_begun_;
  std::optional<std::int64_t> left_to_begin_;  // by stages that are added from now on; absent: nobody has asked
  std::vector<Stage> stages_;
  std::vector<Region> regions_;
  std::vector<std::ptrdiff_t> stage_of_;
  std::vector<std::size_t> last_reader_;
  std::vector<std::int64_t> sinks_of_;
  std::vector<const Link*> readers_;
  std::vector<std::size_t> reader_begin_;
  std::int64_t task_count_ = 0;
  double cost_ = 0;
};

/// How often a region is run.
std::int64_t slice_count(const SliceLoop* loop);
/// Bytes of the largest tile.
std::int64_t largest_tile_bytes(const TileGrid& grid, DType type);

}  // namespace eindb
