#include "tensor/tile_placement.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "common/divisors.hpp"

namespace eindb {

std::vector<std::vector<int>> axes_between_tiles(const Partition& partition, std::size_t workers) {
  const auto sizes = prime_factors(static_cast<std::int64_t>(workers));
  std::vector<bool> used(sizes.size(), false);
  std::vector<std::vector<int>> axes(partition.size());
  for (std::size_t d = 0; d < partition.size(); ++d) {
    auto parts = partition[d];
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
      if (used[axis] || parts % sizes[axis] != 0) continue;
      used[axis] = true;
      parts /= sizes[axis];
      axes[d].push_back(static_cast<int>(axis));
    }
  }
  return axes;
}

TilePlacement::TilePlacement(TileGrid grid, std::size_t workers, std::size_t replicas)
    : grid_(std::move(grid)), workers_(workers), replicas_(std::min(replicas, workers)) {
  CHECK(workers > 0 && replicas > 0, "tiles are placed on workers");
  CHECK(workers <= std::numeric_limits<Rank>::max(), "ranks have sixteen bits");
  lay_on_mesh();
}

void TilePlacement::lay_on_mesh() {
  if (grid_.tile_count() > kMostOnMesh) return;
  const auto sizes = prime_factors(static_cast<std::int64_t>(workers_));
  std::vector<std::int64_t> strides;
  std::int64_t next = 1;
  for (const auto size : sizes) {
    strides.push_back(next);
    next *= size;
  }
  std::vector<std::vector<Axis>> axes;
  std::int64_t places = 1;
  for (const auto& of_dimension : axes_between_tiles(grid_.partition(), workers_)) {
    auto& cut = axes.emplace_back();
    for (const auto axis : of_dimension) {
      const auto n = static_cast<std::size_t>(axis);
      cut.push_back({sizes[n], strides[n]});
      places *= sizes[n];
    }
  }
  const bool has_all_axes = places == static_cast<std::int64_t>(workers_);
  if (has_all_axes || places == grid_.tile_count()) axes_ = std::move(axes);
}

std::size_t TilePlacement::first_holder(std::int64_t tile_id) const {
  if (!axes_)
    return static_cast<std::size_t>(part_of(grid_.tile_count(), static_cast<std::int64_t>(workers_), tile_id));
  const auto key = grid_.key_of(tile_id);
  std::int64_t worker = 0;
  for (std::size_t d = 0; d < key.size(); ++d) {
    auto parts = grid_.partition()[d];
    for (const auto& axis : (*axes_)[d]) {
      parts /= axis.size;
      worker += key[d] / parts % axis.size * axis.stride;
    }
  }
  return static_cast<std::size_t>(worker);
}

std::vector<Rank> TilePlacement::of(std::int64_t tile_id) const { return from(first_holder(tile_id)); }

std::vector<Rank> TilePlacement::from(std::size_t first) const {
  CHECK(first < workers_, "a tile lies at one of the workers");
  std::vector<Rank> holders(replicas_);
  for (std::size_t n = 0; n < replicas_; ++n) holders[n] = static_cast<Rank>((first + n) % workers_);
  return holders;
}

TileHolders TilePlacement::all() const {
  TileHolders out;
  const auto workers = static_cast<std::int64_t>(workers_);
  const auto tiles = grid_.tile_count();
  const auto add = [&](std::int64_t tile, std::int64_t count) {
    auto holders = of(tile);
    std::sort(holders.begin(), holders.end());
    out.add(holders, count);
  };
  if (axes_) {
    for (std::int64_t tile = 0; tile < tiles; ++tile) add(tile, 1);
  } else {
    for (std::int64_t worker = 0; worker < workers; ++worker)
      if (const auto run = part_range(tiles, workers, worker); run.size > 0) add(run.begin, run.size);
  }
  return out;
}

RunsOfCells::RunsOfCells(std::int64_t cells, std::size_t workers)
    : cells_(static_cast<double>(std::max<std::int64_t>(1, cells))), workers_(workers) {
  CHECK(workers > 0, "tiles are placed on workers");
}

std::size_t RunsOfCells::next(std::int64_t cells) {
  const auto middle = before_ + static_cast<double>(cells) / 2;
  before_ += static_cast<double>(cells);
  const auto worker = static_cast<std::size_t>(middle / cells_ * static_cast<double>(workers_));
  return std::min(worker, workers_ - 1);
}

}  // namespace eindb
