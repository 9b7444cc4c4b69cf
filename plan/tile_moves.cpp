#include "plan/tile_moves.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/check.hpp"
#include "plan/index_box.hpp"
#include "tensor/packed_size.hpp"

namespace eindb {
namespace {

double elements_of(const IndexBox& box) {
  double count = 1;
  for (const auto& range : box) count *= static_cast<double>(range.size);
  return count;
}

double common_elements(const IndexBox& a, const IndexBox& b) {
  double count = 1;
  for (std::size_t d = 0; d < a.size(); ++d)
    count *= static_cast<double>(
        std::max<std::int64_t>(0, std::min(a[d].end(), b[d].end()) - std::max(a[d].begin, b[d].begin)));
  return count;
}

// Between blocks: all layers of the rank's new block, minus the part that it holds.
double elements_received(const TileLayout& from, const TileLayout& to, Rank rank) {
  if (!to.window(rank)) return 0;
  const auto everything = window_box(from.grid(), TileWindow::whole(from.grid().partition()));
  const auto wanted = common_box(window_box(to.grid(), *to.window(rank)), everything);
  auto elements = elements_of(wanted) * static_cast<double>(from.layers());
  if (const auto& held = from.window(rank)) elements -= common_elements(wanted, window_box(from.grid(), *held));
  return elements;
}

double elements_received(const TileMoves& moves, Rank rank) {
  double elements = 0;
  moves.for_each_needed(rank, [&](const TilePiece& piece, std::optional<Rank> giver) {
    if (giver && *giver != rank) elements += static_cast<double>(moves.overlap(piece).shape().element_count());
  });
  return elements;
}

}  // namespace

TileMoves::TileMoves(const TileLayout& from, const TileLayout& to, bool of_cells)
    : from_(from), to_(to), of_cells_(of_cells) {
  CHECK(from.grid().rank() == to.grid().rank(), "tiles move between grids of one rank");
  CHECK(!from.grid().overlaps(), "cells that move lie in one tile of their own");
}

// It is computed for each tile that is asked for: grids may have millions of tiles, of which a rank needs a few.
TileWindow TileMoves::overlapped(const TileGrid& grid, const TileKey& key, const TileGrid& other) {
  TileWindow window;
  for (std::size_t d = 0; d < grid.rank(); ++d) {
    const auto range = grid.range(d, key[d]);
    const auto end = std::min(range.end(), other.shape()[d]);
    const auto parts = other.parts_over(d, {range.begin, end - range.begin});
    window.begin.push_back(parts.begin);
    window.size.push_back(parts.size);
  }
  return window;
}

bool TileMoves::is_covered(std::int64_t target) const {
  const auto key = to_.grid().key_of(target);
  for (std::size_t d = 0; d < key.size(); ++d)
    if (to_.grid().range(d, key[d]).end() > from_.grid().shape()[d]) return false;
  return true;
}

std::optional<Rank> TileMoves::giver(const TileKey& source, std::int64_t layer, Rank receiver) const {
  const auto holders = from_.holders(source, layer);
  if (holders.empty()) return std::nullopt;
  if (std::binary_search(holders.begin(), holders.end(), receiver)) return receiver;
  const auto turn = std::accumulate(source.begin(), source.end(), layer + receiver);
  return holders[static_cast<std::size_t>(turn) % holders.size()];
}

std::vector<TilePiece> TileMoves::listed_pieces(Rank rank) const {
  std::vector<TilePiece> pieces;
  from_.for_each_listed([&](std::int64_t source) {
    const auto box = targets_of(from_.grid().key_of(source));
    for (std::int64_t n = 0; n < box.tile_count(); ++n) {
      const auto target = box.key_of(n);
      if (to_.holds(rank, target, 0)) pieces.push_back({to_.grid().id_of(target), 0, source});
    }
  });
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

std::vector<PartRange> TileMoves::box(const TilePiece& piece) const {
  const auto source = from_.grid().key_of(piece.source);
  const auto target = to_.grid().key_of(piece.target);
  std::vector<PartRange> box;
  for (std::size_t d = 0; d < source.size(); ++d) {
    const auto a = from_.grid().range(d, source[d]);
    const auto b = to_.grid().range(d, target[d]);
    const auto begin = std::max(a.begin, b.begin);
    box.push_back({begin, std::min(a.end(), b.end()) - begin});
  }
  return box;
}

namespace {

// The bytes of an element that travels.
double bytes_of_element(const PlanStep& moved, const TileLayout& from) {
  const auto size = static_cast<double>(size_of(moved.dtype));
  if (!moved.cells || from.is_in_blocks()) return size * moved.packed_share();
  double present = 0;  // elements in tiles that some rank has
  const auto& grid = from.grid();
  from.for_each_listed(
      [&](std::int64_t tile) { present += static_cast<double>(grid.tile_shape(grid.key_of(tile)).element_count()); });
  return present > 0 ? std::min(size, packed_bytes_of_cells(moved.dtype, present, *moved.cells) / present) : 0;
}

}  // namespace

std::vector<double> bytes_received(const PhysicalPlan& plan, StepId step, std::span<const TileHolders> lists) {
  const auto& made = plan.step(step);
  std::vector<double> bytes(plan.ranks, 0);
  if (!std::holds_alternative<RedistributeStep>(made.op) && !std::holds_alternative<ReduceStep>(made.op)) return bytes;
  const auto input = inputs_of(made).front();
  if (const auto* moved = std::get_if<RedistributeStep>(&made.op); moved != nullptr && moved->sequence) {
    for (std::size_t r = 0; r < plan.ranks; ++r)
      bytes[r] = static_cast<double>(size_of(made.dtype)) *
                 static_cast<double>(received_elements(*moved->sequence, static_cast<Rank>(r)));
    return bytes;
  }
  const TileLayout from(plan, input, lists);
  const TileLayout to(plan, step, lists);
  const TileMoves moves(from, to, plan.step(input).cells.has_value());
  const auto size = bytes_of_element(plan.step(input), from);
  for (std::size_t r = 0; r < plan.ranks; ++r) {
    const auto rank = static_cast<Rank>(r);
    const bool blocks = from.is_in_blocks() && to.is_in_blocks() && !to.grid().overlaps();
    bytes[r] = size * (blocks ? elements_received(from, to, rank) : elements_received(moves, rank));
    if (plan.step(input).cells) bytes[r] = std::ceil(bytes[r]);
  }
  return bytes;
}

}  // namespace eindb
