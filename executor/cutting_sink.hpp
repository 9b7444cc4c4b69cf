#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "executor/tile_exchange.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// Takes a result in tiles of cells, cuts them into the tiles of a finer grid, and hands on those that have cells, in
/// no particular order: of a finer grid's tiles most may have none, and nobody goes through them.
class CuttingSink final : public TileSink {
 public:
  /// `fine` nests in `coarse` (tensor/cell_cut). `to` takes tiles of cells, and gets those of `fine`; it must outlive
  /// the sink.
  CuttingSink(TileGrid coarse, TileGrid fine, TileSink& to);
  /// Does not begin the sink behind it, which whoever made it does.
  void begin(std::shared_ptr<MemoryBudget> memory) override { memory_ = std::move(memory); }
  void write(std::int64_t tile_id, TilePtr tile) override;
  bool takes_cells() const override { return true; }

 private:
  TileGrid coarse_;
  TileGrid fine_;
  TileSink& to_;
  std::shared_ptr<MemoryBudget> memory_;
  std::int64_t tile_id_ = -1;   // of the tile that came last
  std::int64_t handed_on_ = 0;  // tiles that were cut from it
};

}  // namespace eindb
