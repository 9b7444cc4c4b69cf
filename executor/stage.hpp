#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/check.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {

/// A range of coordinates along one axis.
struct AxisRange {
  std::int64_t begin = 0;
  std::int64_t size = 0;
};

/// The relation of tasks to the tiles that they read along one axis: both divide the same `extent` into parts, and a
/// task reads the tiles that its part overlaps.
///
/// Example: extent 12 in 4 tiles and 2 tasks: task 1 reads tiles 2 and 3, and tile 1 is read by task 0. If there are as
/// many tasks as tiles, each task reads the tile of its own number.
///
/// Where several relations are joined along the axis, the tiles of one of them divide `length` indices from `begin` on,
/// and a task may read none of them. Tasks that make tiles which overlap (Reach) read those that have their indices.
struct AxisCut {
  std::int64_t extent = 1;
  std::int64_t tasks = 1;
  std::int64_t tiles = 1;
  std::int64_t begin = 0;
  std::int64_t length = -1;  ///< -1: the whole extent
  std::optional<Reach> reach = {};

  AxisRange tiles_of(std::int64_t task) const;
  AxisRange tasks_of(std::int64_t tile) const;
};

/// One dimension of a stage's box of tasks. A task's coordinate along an axis of the result is that of its tile,
/// counted from the beginning of the current slice; along an aggregated axis it is the number of its chunk of the
/// slice's kernel calls.
struct Axis {
  std::int64_t tasks = 1;  ///< in one slice
  std::int64_t calls = 1;  ///< in one slice: parts of the join
  bool aggregated = false;
  std::ptrdiff_t sliced = -1;  ///< number of the label among the loop's; -1: not sliced
  std::int64_t begin = 0;      ///< of the plan's window, in parts of the join
};

/// States that a stage reads the tiles of a relation, as operand `operand`.
struct Link {
  struct Cut {
    std::size_t axis;  ///< of the stage
    AxisCut cut;
  };
  std::size_t source = 0;  ///< node
  std::size_t stage = 0;   ///< the reading stage
  std::size_t operand = 0;
  std::vector<Cut> cuts;          ///< one per distinct axis
  std::vector<std::size_t> dims;  ///< per dimension of the source, its index in `cuts`
  std::int64_t repeats = 1;       ///< number of slices that read the same tile
  bool once = true;               ///< whether every call of a task reads another tile
  bool in_parts = false;          ///< whether several calls read parts of one tile (JoinNode::in_parts)
};

/// Buffers for coordinates, reused from task to task to avoid allocations. One per thread.
struct Coordinates {
  std::vector<std::int64_t> task;
  std::vector<std::int64_t> at;
  std::vector<std::int64_t> other;  ///< another task
  std::vector<AxisRange> box;
  TileKey key;
};

/// A physical node that makes tiles, a repartition or a join with the group-by above it, as a box of tasks. Coordinates
/// determine the tiles that a task reads and the tasks that read its tile, so nothing is stored per edge. The first
/// axes are those of the result's tiles; the tasks of one tile (of one group of kernel calls) are adjacent.
///
/// Example: Z[i,k] = SUM(X[i,j] * Y[j,k]) with d = [i:2 j:4 k:1] in chunks of 2 calls has the axes (i:2, k:1, j:2).
/// Tile X[1,2] is read by the tasks with i = 1 and j = 1, for all k: by task 3. That task needs X[1,2], X[1,3] and the
/// same two tiles of Y.
///
/// Immutable once built, thread-safe. In the functions, `begin` is the begin of the current slice: a coordinate per
/// axis, in tiles.
class Stage {
 public:
  std::size_t node = 0;  ///< the node of the tiles
  std::size_t join = 0;  ///< the join's node; `node` itself without a group-by
  std::vector<Axis> axes;
  std::size_t rank = 0;  ///< of the result: the number of its axes, which come first
  std::vector<Link> links;
  std::int64_t task_count = 1;      ///< per slice
  std::int64_t tasks_per_tile = 1;  ///< chunks of a group
  std::int64_t calls_per_tile = 1;  ///< kernel calls of a group, in one slice
  std::int64_t need = 0;            ///< most bytes of a task: the tiles read at a time and its own tile
  double cost = 0;                  ///< of one slice: points of label space

  void find_task(std::int64_t task, std::vector<std::int64_t>& at) const;
  std::int64_t tile_of(std::int64_t task) const { return task / tasks_per_tile; }

  /// The number of tiles that a task waits for at this link.
  std::int64_t tiles_read(const Link& link, std::span<const std::int64_t> task,
                          std::span<const std::int64_t> begin) const;
  /// The number of tasks that read the tile at this link, over all slices; a lower bound.
  std::int64_t reads(const Link& link, const TileKey& key) const;

  /// Calls f(key) for each tile that the task reads.
  template <class F>
  void for_each_tile(const Link& link, std::span<const std::int64_t> begin, Coordinates& c, F&& f) const {
    c.box.clear();
    for (const auto& cut : link.cuts) c.box.push_back(tiles_along(cut, c.task[cut.axis], begin[cut.axis]));
    c.key.resize(link.dims.size());
    for_each_in(c, [&] {
      for (std::size_t d = 0; d < link.dims.size(); ++d) c.key[d] = c.at[link.dims[d]];
      f(static_cast<const TileKey&>(c.key));
    });
  }

  /// Calls f(task) for each task of the slice that reads the tile c.key.
  template <class F>
  void for_each_task(const Link& link, std::span<const std::int64_t> begin, Coordinates& c, F&& f) const {
    if (!find_readers(link, begin, c)) return;
    for_each_in(c, [&] {
      std::int64_t task = 0;
      for (std::size_t a = 0; a < axes.size(); ++a) task = task * axes[a].tasks + c.at[a];
      DCHECK(task >= 0 && task < task_count, "who reads a tile is a task of its stage");
      f(task);
    });
  }

 private:
  AxisRange tiles_along(const Link::Cut& cut, std::int64_t coordinate, std::int64_t begin) const;
  bool find_readers(const Link& link, std::span<const std::int64_t> begin, Coordinates& c) const;

  // Visits every point of c.box in row-major order, as c.at.
  template <class F>
  static void for_each_in(Coordinates& c, F&& f) {
    c.at.clear();
    for (const auto& range : c.box) {
      if (range.size == 0) return;
      c.at.push_back(range.begin);
    }
    for (;;) {
      f();
      auto d = c.box.size();
      for (; d > 0; --d) {
        if (++c.at[d - 1] < c.box[d - 1].begin + c.box[d - 1].size) break;
        c.at[d - 1] = c.box[d - 1].begin;
      }
      if (d == 0) return;
    }
  }
};

}  // namespace eindb
