#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "executor/memory_budget.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// How the values of a tile may lie that its reader takes from a program's memory (Tile::strides).
enum class ValueOrder : std::uint8_t {
  RowMajor,
  RowsApart,  ///< in row-major order, with gaps between rows
  AnyOrder,   ///< with positive strides, and no element twice
};

/// The source of the tiles of stored tensors.
class TileSource {
 public:
  virtual ~TileSource() = default;
  /// The tile with this number in the tensor's stored grid, which may be encoded (Tile::encoding); null if it is all
  /// zero. Thread-safe.
  virtual TilePtr read(const std::string& tensor, std::int64_t tile_id) = 0;
  /// Whether read() returns a tile again at little cost, with its bytes already counted in the statement's budget.
  virtual bool keeps_tiles() const { return false; }
  /// Drops tiles kept of the tensor, which the running part of the statement does not read; they can be read again.
  virtual void let_go(const std::string&) noexcept {}
  /// The tile with this number in `grid` for an attached tensor (InputTensor), whose values may lie so; row-major is
  /// always right. Thread-safe. Sources for plans without such tensors need not override it.
  virtual TilePtr read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                ValueOrder order);
  /// The tile with this number in `grid` as a tile of cells (never null). Thread-safe. A source that keeps_tiles()
  /// takes any grid, and its bytes count in the statement's budget; others are asked for tiles of the stored grid
  /// alone. Sources for plans that read no tensor as cells need not override it.
  virtual TilePtr read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id);
  /// The tile with this number in another `grid` of a stored tensor's shape, with plain values, which `assemble` makes
  /// of its tiles, unless it was asked for before and is still there; null if it is all zero. The reader counts its
  /// bytes. nullopt, as of any source that keeps no tiles: there is no room to keep it. Thread-safe.
  virtual std::optional<TilePtr> read_cut(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                          const std::function<std::optional<Tile>()>& assemble);
};

/// The destination of a result's tiles.
class TileSink {
 public:
  virtual ~TileSink() = default;
  /// Called before the first tile with the budget that their bytes count in.
  virtual void begin(std::shared_ptr<MemoryBudget>) {}
  /// Called once for each tile of the sink's grid in order of tile_id, by one thread; null if the tile is all zero. A
  /// result of cells may come in any order, without the tiles that have none.
  virtual void write(std::int64_t tile_id, TilePtr tile) = 0;
  /// A tile for all values of the result, in which those of its tiles are to be made, since they are wanted in one
  /// piece; null: each tile has memory of its own. Asked for at most once, after begin(), for a grid that cuts into
  /// runs (TileGrid::cuts_into_runs). It is filled as a whole, also where a tile of zeros is not written. Tiles that
  /// lie in it count as others do, it does not.
  virtual std::shared_ptr<Tile> whole() { return nullptr; }
  /// Whether write() takes tiles of cells (Tile::is_of_cells); otherwise it gets their values.
  virtual bool takes_cells() const { return false; }
};

}  // namespace eindb
