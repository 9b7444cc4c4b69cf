#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/cell_block.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// Visits the cells of a block that lie in a box, in the order of their coordinates. Subtrees beside the box are passed
/// over, so that to find one cell takes a search in each level. For one thread.
class CellBoxWalk {
 public:
  /// `box` has a range of coordinates for each dimension. `cells` must outlive the walk.
  CellBoxWalk(const CellBlock& cells, std::vector<PartRange> box);

  /// Moves to the next cell, at first to the first one; false after the last.
  bool next();
  /// The number of the current cell in the block, and so of its value.
  std::int64_t cell() const { return levels_.back().node; }
  std::int64_t coordinate(std::size_t dimension) const {
    return trie_.levels[dimension].coordinates[static_cast<std::size_t>(levels_[dimension].node)];
  }

 private:
  struct Level {
    std::int64_t node = 0;
    std::int64_t end = 0;  // of the nodes in the box under the current node of the level before
  };
  void enter(std::size_t level, std::int64_t first, std::int64_t last);

  const CellTrie& trie_;
  std::vector<PartRange> box_;
  std::vector<Level> levels_;
  bool started_ = false;
};

/// The cells of a block that lie in a box, as a block of the box's shape. In time as a walk over them.
CellBlock cells_in_box(const CellBlock& cells, const std::vector<PartRange>& box);

}  // namespace eindb
