#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "executor/cutting_sink.hpp"
#include "executor/tile_buffer.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The tiles of a result. One of cells is held in the few large tiles in which it was computed, and read in smaller
/// ones, whose values fit in memory: it is cut into these when somebody first asks for one. Thread-safe.
class ResultTiles {
 public:
  /// `held` are the tiles of `held_grid`. If `grid` is another one, the result is of cells, and `grid` nests in it
  /// (tensor/cell_cut).
  /// `whole`: all values in one piece, if they are (TileSink::whole).
  ResultTiles(std::shared_ptr<BufferedTiles> held, TileGrid held_grid, TileGrid grid, TilePtr whole = nullptr);
  ResultTiles(std::shared_ptr<BufferedTiles> held, const TileGrid& grid) : ResultTiles(std::move(held), grid, grid) {}

  /// The grid in which tiles are read.
  const TileGrid& grid() const { return grid_; }
  /// As BufferedTiles have them, of the tiles of grid(); to cut may fail with Error{MemoryLimit}.
  TilePtr get(std::int64_t number) { return tiles().get(number); }
  TilePtr get_values(std::int64_t number) { return tiles().get_values(number); }
  TilePtr take(std::int64_t number) { return tiles().take(number); }
  std::optional<std::int64_t> next(std::int64_t from) { return tiles().next(from); }
  /// All values, row-major, if they were made in one piece; else null.
  const TilePtr& whole() const { return whole_; }

  /// Calls visit(grid, number, tile) for each tile that is there, as values or cells, in the grid in which they lie at
  /// present: who reads cells from tiles of any size leaves those of a result of cells uncut.
  void visit(const std::function<void(const TileGrid&, std::int64_t, const Tile&)>& visit);

  /// For those who take cells from tiles of any size; not to be used together with the functions above.
  BufferedTiles& held() { return *held_; }
  const TileGrid& held_grid() const { return held_grid_; }

 private:
  /// The sink of the cutting.
  struct Cut final : TileSink {
    explicit Cut(BufferedTiles& held, const TileGrid& grid) : tiles(held.memory(), grid.tile_count()) {}
    void write(std::int64_t tile_id, TilePtr tile) override { tiles.put(tile_id, std::move(tile)); }
    bool takes_cells() const override { return true; }
    BufferedTiles tiles;
  };
  BufferedTiles& tiles();

  std::shared_ptr<BufferedTiles> held_;
  TileGrid held_grid_;
  TileGrid grid_;
  TilePtr whole_;
  // Where the grids differ:
  std::mutex mutex_;           // guards the cutting
  bool is_being_cut_ = false;  // or has been
  std::optional<Cut> cut_;
  std::optional<CuttingSink> cutting_;  // until all held tiles are cut
};

}  // namespace eindb
