#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/partition.hpp"

namespace eindb {

/// Half-open range of indices along one dimension.
struct IndexRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool empty() const { return begin >= end; }
};

/// The order in which the cells of a tensor are visited.
///
/// `steps` lists each dimension once, outermost first. With `by_tile`, all cells of a tile come before those of the
/// next. Otherwise cells come in the order of their indices, regardless of tiles. For A(i, j) cut into two parts along
/// j, by_tile is
///
///     for part of j: for i: for j in the part          tiles are read once, but i starts anew in the second part
///
/// Without it: `for i: for part of j: for j in the part`, which revisits both tiles for each i.
struct WalkOrder {
  struct Step {
    std::size_t dimension = 0;
    bool descending = false;
    friend bool operator==(const Step&, const Step&) = default;
  };
  std::vector<Step> steps;
  bool by_tile = true;
  friend bool operator==(const WalkOrder&, const WalkOrder&) = default;

  /// Ascending in the order of the dimensions, tile by tile.
  static WalkOrder natural(std::size_t rank);
  bool is_natural() const { return *this == natural(steps.size()); }
};

/// One of the nested loops of a walk: over the parts of a dimension, or over the indices within its part.
struct WalkLoop {
  std::size_t step = 0;  ///< index into WalkOrder::steps
  bool over_parts = false;
};
/// The loops, outermost first.
std::vector<WalkLoop> loops_of(const WalkOrder& order);

/// Whether a walk visits cells sorted by its first `count` steps. `fixed[d]`: only one index of dimension d is visited.
bool is_sorted(const WalkOrder& order, std::size_t count, const TileGrid& grid, const std::vector<bool>& fixed);

/// Whether a walk in that order visits tiles by ascending numbers, each once. `fixed` as for is_sorted().
bool is_in_order_of_tiles(const WalkOrder& order, const TileGrid& grid, const std::vector<bool>& fixed);

/// Visits the cells of a box in runs: cells of one tile along one dimension. It only computes positions and uses
/// neither SQLite nor tiles. Not thread-safe.
class CellWalk {
 public:
  struct Run {
    std::int64_t tile_id = 0;
    std::int64_t length = 0;    ///< cells
    std::int64_t offset = 0;    ///< of the first cell in its tile, in elements
    std::int64_t stride = 0;    ///< elements between neighbouring cells; negative if descending
    std::size_t dimension = 0;  ///< along which the index changes
    std::int64_t step = 1;      ///< change of the index per cell
  };

  /// `grid` must outlive the walk.
  explicit CellWalk(const TileGrid& grid);

  /// Starts at the first cell of the box, which has one range per dimension, within the extents.
  void start(const WalkOrder& order, std::span<const IndexRange> box);
  /// False if no cell is left.
  bool next_run();
  /// The next run is in another tile.
  void leave_tile();
  /// Whether tiles are visited by ascending numbers, each once.
  bool is_in_order_of_tiles() const { return in_order_of_tiles_; }
  /// The next run is the first one in a tile whose number is at least `tile_id`, which is no tile before the current
  /// one. Only if is_in_order_of_tiles().
  void go_on_from(std::int64_t tile_id);
  /// There is no next run.
  void end() { empty_ = true; }

  const Run& run() const { return run_; }
  /// The indices of the current cell; after next_run() those of the run's first cell. The caller advances the entry of
  /// run().dimension along the run. Has one unused entry if the rank is 0.
  std::int64_t* index() { return index_.data(); }

 private:
  /// The state of one dimension.
  struct Axis {
    bool descending = false;
    IndexRange box;
    std::int64_t first_part = 0;  // in the order of the walk
    std::int64_t last_part = 0;
    std::int64_t part = 0;
    PartRange tile;      // the range of the part
    IndexRange visible;  // its intersection with the box
    std::int64_t first() const { return descending ? visible.end - 1 : visible.begin; }
    std::int64_t last() const { return descending ? visible.begin : visible.end - 1; }
  };
  struct Loop {
    std::size_t dimension;
    bool over_parts;
  };

  void set_axis(std::size_t dimension, bool descending, IndexRange box);
  void enter_part(std::size_t dimension, std::int64_t part);
  bool step(const Loop& loop);
  bool advance();
  void enter_tile();
  void describe_run();

  const TileGrid& grid_;
  std::vector<std::int64_t> tile_id_strides_;
  std::vector<Axis> axes_;
  std::vector<std::int64_t> index_;
  std::vector<std::int64_t> tile_strides_;  // elements between neighbours in the current tile
  std::vector<Loop> loops_;                 // loops over more than one part or index, except the run's
  Run run_;
  bool along_run_ = false;  // run_.dimension has more than one cell
  bool tile_entered_ = false;
  bool started_ = false;
  bool empty_ = true;
  bool in_order_of_tiles_ = false;
};

}  // namespace eindb
