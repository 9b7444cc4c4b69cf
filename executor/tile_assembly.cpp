#include "executor/tile_assembly.hpp"

#include <optional>
#include <utility>

#include "common/check.hpp"
#include "executor/sliced_result.hpp"

namespace eindb {

TileAssembly::TileAssembly(const NeededPieces& needed, Relation* source, bool gives_up, Relation& result,
                           std::shared_ptr<MemoryBudget> memory)
    : needed_(needed),
      source_(source),
      gives_up_(gives_up),
      result_(result),
      memory_(std::move(memory)),
      arrived_(memory_, needed.elsewhere_count()) {}

void TileAssembly::take(std::size_t piece, CountedTile tile) {
  CHECK(needed_.is_elsewhere(piece), "pieces arrive from other ranks");
  if (needed_.overlap(piece).is_all_of_target())
    result_.put(needed_.target(needed_.target_of(piece)), finished(std::move(tile), result_.dtype(), *memory_));
  else arrived_.put(needed_[piece].number, memory_->track(std::move(tile)));
}

void TileAssembly::finish(std::size_t target) {
  CHECK(target < needed_.target_count(), "a tile that is finished is one of those that are needed");
  if (!has_arrived_whole(target))
    result_.put(needed_.target(target), is_here_whole(target) ? find(needed_.begin(target)) : assemble(target));
  let_go(target);
}

bool TileAssembly::has_arrived_whole(std::size_t target) const {
  return is_one_piece(target) && needed_.is_elsewhere(needed_.begin(target));
}

// A part of a larger tile is copied, so that the larger tile can be released.
bool TileAssembly::is_here_whole(std::size_t target) const {
  return is_one_piece(target) && needed_.overlap(needed_.begin(target)).is_all_of_source();
}

// The source of a piece: the piece that arrived, or a whole tile at this rank.
TilePtr TileAssembly::find(std::size_t piece) {
  if (needed_.is_elsewhere(piece)) return arrived_.get(needed_[piece].number);
  CHECK(source_ != nullptr || !needed_.is_here(piece), "a piece that is here lies in what the rank holds");
  return needed_.is_here(piece) ? source_->tile(needed_[piece].source) : nullptr;
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

// Begins a tile with zeros for the pieces before the first nonzero one.
CountedTile TileAssembly::begin_tile(std::size_t target, std::size_t first_present) const {
  const auto& grid = result_.grid();
  auto tile = counted_tile(memory_, result_.dtype(), grid.tile_shape(grid.key_of(needed_.target(target))));
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
