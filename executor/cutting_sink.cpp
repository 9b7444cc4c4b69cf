#include "executor/cutting_sink.hpp"

#include <utility>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "tensor/cell_cut.hpp"

namespace eindb {

CuttingSink::CuttingSink(TileGrid coarse, TileGrid fine, TileSink& to)
    : coarse_(std::move(coarse)), fine_(std::move(fine)), to_(to) {
  CHECK(nests_in(fine_, coarse_), "a result's tiles are cut along their borders");
  CHECK(to_.takes_cells(), "tiles that are cut from cells are of cells");
}

// A tile that memory did not suffice for comes again.
void CuttingSink::write(std::int64_t tile_id, TilePtr tile) {
  if (tile == nullptr) return;
  CHECK(memory_ != nullptr && tile->is_of_cells(), "a sink that has begun gets tiles of cells");
  if (std::exchange(tile_id_, tile_id) != tile_id) handed_on_ = 0;
  const auto& cells = tile->cells();
  const MemoryReservation room(memory_, bytes_for_cut(cells.dtype(), fine_.rank(), cells.count()));
  std::int64_t number = 0;
  cut_cells(cells, coarse_, tile_id, fine_, [&](std::int64_t fine_tile, CellBlock block) {
    if (number++ < handed_on_) return;
    poll_cancellation();
    to_.write(fine_tile, memory_->track(Tile::of_cells(std::make_shared<const CellBlock>(std::move(block)))));
    ++handed_on_;
  });
}

}  // namespace eindb
