#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tensor/cell_block.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {

/// Puts together the cells of one tile of a grid from the cells of tiles of another grid over the same shape, as
/// tensor/tile_gather does with values. For one thread.
class CellGather {
 public:
  /// The cells of tile `tile_id` of `target`, whose shape may_have cells (CellBlock).
  CellGather(DType type, const TileGrid& source, const TileGrid& target, std::int64_t tile_id);

  /// The first tile of the source grid that overlaps the target's and has a number of at least `from`; nullopt if there
  /// is none.
  std::optional<std::int64_t> next(std::int64_t from) const;
  /// Makes room for that many cells.
  void reserve(std::int64_t cells);
  /// Adds cells of a tile of the source grid: their row-major numbers in it, ascending, and a value each. Those outside
  /// the target's tile are left out. Each tile is added at most once.
  void add(std::int64_t source_tile, std::span<const std::uint32_t> numbers, std::span<const std::byte> values);
  /// At most how many cells add() takes of a block with the cells of such a tile: those within the target's range of
  /// the first dimension.
  std::int64_t most_of(std::int64_t source_tile, const CellBlock& cells) const;
  /// The same as above of such a block; takes time by those cells alone.
  void add(std::int64_t source_tile, const CellBlock& cells);
  /// The same of a block whose first cell has these indices in the tensor, whatever tiles it lies in.
  void add_at(const std::vector<std::int64_t>& begin, const CellBlock& cells);
  /// All cells added. The last call.
  CellBlock take();

  /// The most bytes that a gathering of that many cells takes together with the block that it gives.
  static std::int64_t bytes_for(DType type, std::size_t rank, std::int64_t cells);

 private:
  // Nodes of the first level of a block's trie, and the cells under them.
  struct Cells {
    std::int64_t from_node;
    std::int64_t to_node;
    std::int64_t from_cell;
    std::int64_t to_cell;
  };
  Cells within(std::int64_t begin, const CellBlock& cells) const;
  template <class Number>
  void add_numbered(const std::vector<std::int64_t>& begin, const Shape& tile, std::span<const Number> numbers,
                    std::span<const std::byte> values);

  DType type_;
  TileGrid source_;
  std::vector<PartRange> box_;  // of indices, by dimension
  TileWindow sources_;          // the source's tiles that overlap it
  Shape shape_;
  std::vector<std::int64_t> strides_;  // in the target's tile
  std::vector<std::int64_t> numbers_;  // in the target's tile
  std::vector<std::byte> values_;
};

}  // namespace eindb
