#include "tensor/tile_placement.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

int twos_in(std::int64_t parts) { return std::countr_zero(static_cast<std::uint64_t>(parts)); }

int mesh_axes_of(std::size_t workers) { return std::bit_width(workers) - 1; }

}  // namespace

std::vector<std::vector<int>> axes_between_tiles(const Partition& partition, int mesh_axes) {
  std::vector<std::vector<int>> axes(partition.size());
  int next = 0;
  for (std::size_t d = 0; d < partition.size(); ++d)
    for (int n = twos_in(partition[d]); n > 0 && next < mesh_axes; --n) axes[d].push_back(next++);
  return axes;
}

TilePlacement::TilePlacement(TileGrid grid, std::size_t workers, std::size_t replicas)
    : grid_(std::move(grid)),
      workers_(workers),
      replicas_(std::min(replicas, workers)),
      on_mesh_(std::all_of(grid_.partition().begin(), grid_.partition().end(), is_power_of_two)) {
  CHECK(workers > 0 && replicas > 0, "tiles are placed on workers");
  CHECK(workers <= std::numeric_limits<Rank>::max(), "ranks have sixteen bits");
  if (on_mesh_) axes_ = axes_between_tiles(grid_.partition(), mesh_axes_of(workers));
}

std::size_t TilePlacement::first_holder(std::int64_t tile_id) const {
  if (!on_mesh_)
    return static_cast<std::size_t>(part_of(grid_.tile_count(), static_cast<std::int64_t>(workers_), tile_id));
  const auto key = grid_.key_of(tile_id);
  std::size_t worker = 0;
  for (std::size_t d = 0; d < key.size(); ++d) {
    int bit = twos_in(grid_.partition()[d]);
    for (const auto axis : axes_[d]) worker |= (static_cast<std::size_t>(key[d]) >> --bit & 1U) << axis;
  }
  return worker;
}

std::vector<Rank> TilePlacement::of(std::int64_t tile_id) const {
  const auto first = first_holder(tile_id);
  std::vector<Rank> holders(replicas_);
  for (std::size_t n = 0; n < replicas_; ++n) holders[n] = static_cast<Rank>((first + n) % workers_);
  return holders;
}

TileHolders TilePlacement::all() const {
  TileHolders out;
  for (std::int64_t tile = 0; tile < grid_.tile_count(); ++tile) {
    auto holders = of(tile);
    std::sort(holders.begin(), holders.end());
    out.add(holders);
  }
  return out;
}

}  // namespace eindb
