#include "executor/tile_assembly.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "executor/sliced_result.hpp"
#include "tensor/cell_gather.hpp"

namespace eindb {

TileAssembly::TileAssembly(const NeededPieces& needed, Relation* source, bool gives_up, bool of_cells, Relation& result,
                           std::shared_ptr<MemoryBudget> memory)
    : needed_(needed),
      source_(source),
      gives_up_(gives_up),
      of_cells_(of_cells),
      result_(result),
      memory_(std::move(memory)),
      arrived_(memory_, needed.elsewhere_count()) {}

void TileAssembly::take(std::size_t piece, CountedTile tile) {
  CHECK(needed_.is_elsewhere(piece), "pieces arrive from other ranks");
  if (needed_.overlap(piece).is_all_of_target())
    result_.put(needed_.target(needed_.target_of(piece)),
                of_cells_ ? memory_->track(std::move(tile)) : finished(std::move(tile), result_.dtype(), *memory_));
  else arrived_.put(needed_[piece].number, memory_->track(std::move(tile)));
}

void TileAssembly::finish(std::size_t target) {
  CHECK(target < needed_.target_count(), "a tile that is finished is one of those that are needed");
  if (!has_arrived_whole(target))
    result_.put(needed_.target(target), is_here_whole(target) ? find(needed_.begin(target))
                                        : of_cells_           ? assemble_cells(target)
                                                              : assemble(target));
  let_go(target);
}

// Of cells there may be one piece alone of a tile that has others without cells.
bool TileAssembly::has_arrived_whole(std::size_t target) const {
  return is_one_piece(target) && needed_.is_elsewhere(needed_.begin(target)) &&
         needed_.overlap(needed_.begin(target)).is_all_of_target();
}

// A part of a larger tile is copied, so that the larger tile can be released.
bool TileAssembly::is_here_whole(std::size_t target) const {
  if (!is_one_piece(target)) return false;
  const auto overlap = needed_.overlap(needed_.begin(target));
  return overlap.is_all_of_source() && overlap.is_all_of_target();
}

// The source of a piece: the piece that arrived, or a whole tile at this rank.
TilePtr TileAssembly::find(std::size_t piece) {
  if (needed_.is_elsewhere(piece)) return arrived_.get(needed_[piece].number);
  CHECK(source_ != nullptr || !needed_.is_here(piece), "a piece that is here lies in what the rank holds");
  if (!needed_.is_here(piece)) return nullptr;
  return of_cells_ ? source_->stored_tile(needed_[piece].source) : source_->tile(needed_[piece].source);
}

TilePtr TileAssembly::assemble(std::size_t target) {
  std::optional<CountedTile> tile;
  for (auto piece = needed_.begin(target); piece < needed_.begin(target + 1); ++piece) {
    const auto found = find(piece);
    if (found == nullptr && !tile) continue;
    if (!tile) tile.emplace(begin_tile(target, piece));
    fill(tile->tile, piece, found);
  }
  return tile ? finished(std::move(*tile), result_.dtype(), *memory_) : nullptr;
}

// Cells of a tile that is here are those of the whole tile, of which the gathering takes the ones in the target.
TilePtr TileAssembly::assemble_cells(std::size_t target) {
  const auto& from = needed_.moves().from().grid();
  CellGather gather(result_.dtype(), from, result_.grid(), needed_.target(target));
  std::vector<std::pair<std::size_t, TilePtr>> pieces;
  std::int64_t most = 0;
  for (auto piece = needed_.begin(target); piece < needed_.begin(target + 1); ++piece) {
    auto found = find(piece);
    if (found == nullptr) continue;
    most +=
        needed_.is_elsewhere(piece) ? found->cells().count() : gather.most_of(needed_[piece].source, found->cells());
    pieces.emplace_back(piece, std::move(found));
  }
  if (pieces.empty()) return nullptr;
  MemoryReservation room(memory_, CellGather::bytes_for(result_.dtype(), result_.grid().rank(), most));
  gather.reserve(most);
  for (const auto& [piece, found] : pieces) {
    if (!needed_.is_elsewhere(piece)) {
      gather.add(needed_[piece].source, found->cells());
      continue;
    }
    std::vector<std::int64_t> begin;
    for (const auto& range : needed_.moves().box(needed_.on_its_way(piece))) begin.push_back(range.begin);
    gather.add_at(begin, found->cells());
  }
  auto block = std::make_shared<const CellBlock>(gather.take());
  if (block->count() == 0) return nullptr;
  room.shrink_to(static_cast<std::int64_t>(block->byte_size()));
  return memory_->track(CountedTile{std::move(room), Tile::of_cells(std::move(block))});
}

// Begins a tile with zeros for the pieces before the first nonzero one, and for what is in none.
CountedTile TileAssembly::begin_tile(std::size_t target, std::size_t first_present) const {
  const auto& grid = result_.grid();
  auto tile = counted_tile(memory_, result_.dtype(), grid.tile_shape(grid.key_of(needed_.target(target))));
  if (!needed_.moves().is_covered(needed_.target(target))) {
    const auto bytes = tile.tile.mutable_bytes();
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    return tile;
  }
  for (auto piece = needed_.begin(target); piece < first_present; ++piece) needed_.overlap(piece).clear(tile.tile);
  return tile;
}

void TileAssembly::fill(Tile& tile, std::size_t piece, const TilePtr& found) const {
  const auto overlap = needed_.overlap(piece);
  if (found == nullptr) overlap.clear(tile);
  else if (needed_.is_elsewhere(piece)) overlap.unpack(found->bytes(), tile);
  else overlap.copy(*found, tile);
}

void TileAssembly::let_go(std::size_t target) {
  for (auto piece = needed_.begin(target); piece < needed_.begin(target + 1); ++piece) {
    if (needed_.is_elsewhere(piece)) arrived_.drop(needed_[piece].number);
    else if (gives_up_ && needed_.is_here(piece) && needed_.overlap(piece).is_all_of_source())
      source_->release(needed_[piece].source);
  }
}

}  // namespace eindb
