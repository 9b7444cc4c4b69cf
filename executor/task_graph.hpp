#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "executor/stage.hpp"
#include "plan/fragment.hpp"

namespace eindb {

/// The tasks of a whole plan, and the tiles that they wait for. Memory is proportional to the number of nodes: a Stage
/// computes the numbers of tasks and edges.
///
/// Scans are not stages, since their tiles are available on request; nor are sinks.
///
/// The stages of a loop over slices form a region that runs once per slice; the stages between two loops form a region
/// that runs once, cut after each checkpoint of the plan. Regions run one after another; within a region only tiles
/// determine the order.
///
/// Immutable once built, thread-safe; the plan must outlive it.
class TaskGraph {
 public:
  struct Region {
    std::size_t begin = 0;  ///< stages
    std::size_t end = 0;
    const SliceLoop* loop = nullptr;
    std::size_t first_node = 0;
    std::size_t last_node = 0;
    bool ends_at_checkpoint = false;  ///< `last_node` is one of the plan's
  };

  /// Limits the bytes of results that are begun before their operands are complete. Called only if there may be such a
  /// result.
  using Bytes = std::function<std::int64_t()>;
  explicit TaskGraph(
      const Fragment& plan, Bytes most_begun = [] { return std::numeric_limits<std::int64_t>::max(); });

  const std::vector<Stage>& stages() const { return stages_; }
  const std::vector<Region>& regions() const { return regions_; }
  /// The links that read the node's tiles, in the order of stages, without sinks.
  std::span<const Link* const> readers(std::size_t node) const {
    return {readers_.data() + reader_begin_[node], reader_begin_[node + 1] - reader_begin_[node]};
  }
  bool is_made_by_stage(std::size_t node) const { return stage_of_[node] >= 0; }
  const Stage& stage_of(std::size_t node) const { return stages_[static_cast<std::size_t>(stage_of_[node])]; }
  /// The last node that reads the node; it may be a sink.
  std::size_t last_reader(std::size_t node) const { return last_reader_[node]; }
  /// The number of sinks that read the node's tiles.
  std::int64_t sinks_of(std::size_t node) const { return sinks_of_[node]; }
  /// The number of tasks; a slice's tasks count once per slice.
  std::int64_t task_count() const { return task_count_; }
  /// Points of label space of all stages; those of a slice count once per slice.
  double cost() const { return cost_; }
  /// Whether each task waits for the one before it, and none can be shared, so that a second thread would have nothing
  /// to do: stages of a single kernel call each, one reading the result of the other.
  bool is_one_line() const;

 private:
  void add_node(NodeId id, const SliceLoop* loop);
  void add_join(std::size_t node, std::size_t join_node, const JoinNode& join, const SliceLoop* loop);
  void add_layout(std::size_t node, const std::vector<NodeId>& sources, std::size_t along, const SliceLoop* loop);
  void add(Stage stage, const SliceLoop* loop);
  std::int64_t repeats(std::size_t source, const Labels& labels, const SliceLoop* loop) const;
  bool consumes_early(const Stage& stage, std::size_t operand, const SliceLoop* loop);
  std::int64_t begun_bytes(const Stage& stage) const;
  void collect_readers();

  const Fragment& plan_;
  Bytes most_begun_;
  std::optional<std::int64_t> left_to_begin_;  // for stages that are added later; nullopt: not computed yet
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

/// The number of times that a region runs.
std::int64_t slice_count(const SliceLoop* loop);
/// The bytes of a node's largest tile, as tile_bytes() of plan/task_memory.
std::int64_t largest_tile_bytes(const FragmentNode& node);

}  // namespace eindb
