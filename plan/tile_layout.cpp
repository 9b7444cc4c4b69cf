#include "plan/tile_layout.hpp"

#include <algorithm>
#include <utility>

#include "common/checked_math.hpp"

namespace eindb {
namespace {

// The entries of `key`, which has one per label of `all`, for the labels `wanted`.
TileKey project(const TileKey& key, const Labels& all, const Labels& wanted) {
  return LabelPartition{all, key}.project(wanted);
}

// The ranks of each of `count` blocks: rank r has block number_of[r], or none if that is -1.
TileHolders holders_of_blocks(std::int64_t count, const std::vector<std::int64_t>& number_of) {
  std::vector<std::pair<std::int64_t, Rank>> sorted;
  for (std::size_t rank = 0; rank < number_of.size(); ++rank)
    if (number_of[rank] >= 0) sorted.emplace_back(number_of[rank], static_cast<Rank>(rank));
  std::sort(sorted.begin(), sorted.end());
  TileHolders holders;
  std::vector<Rank> ranks;
  for (auto next = sorted.begin(); next != sorted.end();) {
    const auto block = next->first;
    holders.add({}, block - holders.tile_count());
    for (ranks.clear(); next != sorted.end() && next->first == block; ++next) ranks.push_back(next->second);
    holders.add(ranks);
  }
  holders.add({}, count - holders.tile_count());
  return holders;
}

}  // namespace

TileLayout::TileLayout(const PhysicalPlan& plan, StepId step, std::span<const TileHolders> lists)
    : grid_(plan.step(step).grid), windows_(plan.ranks) {
  const auto& made = plan.step(step);
  if (const auto* blocks = std::get_if<BlockPlacement>(&made.placement)) {
    const auto* compute = std::get_if<ComputeStep>(&made.op);
    if (compute != nullptr && compute->is_partial()) place_partial(*compute);
    place_in_blocks(*blocks);
    return;
  }
  lists_ = &lists[std::get<std::size_t>(made.placement)];
  const auto* scan = std::get_if<ScanStep>(&made.op);
  if (scan != nullptr && scan->tensor.selection) place_selection(*scan->tensor.selection, *lists_);
}

void TileLayout::place_partial(const ComputeStep& compute) {
  const auto& labels = compute.join.partition.labels;
  const auto& aggregated = compute.join.einsum.aggregated;
  const auto parts = project(compute.blocks, labels, aggregated);
  layers_ = checked_product(parts);
  const auto all = TileWindow::whole(parts);
  for (const auto& at : compute.at) layer_of_.push_back(at ? all.number_of(project(*at, labels, aggregated)) : 0);
}

void TileLayout::place_in_blocks(const BlockPlacement& placement) {
  parts_ = placement.parts;
  for (std::size_t d = 0; d < parts_.size(); ++d) per_block_.push_back(grid_.partition()[d] / parts_[d]);
  for (std::size_t rank = 0; rank < windows_.size(); ++rank) {
    if (!placement.at[rank]) continue;
    auto begin = *placement.at[rank];
    for (std::size_t d = 0; d < begin.size(); ++d) begin[d] *= per_block_[d];
    windows_[rank] = TileWindow{std::move(begin), per_block_};
  }
  list_holders(placement);
}

void TileLayout::list_holders(const BlockPlacement& placement) {
  const auto blocks = TileWindow::whole(parts_);
  std::vector<std::int64_t> number_of(windows_.size(), -1);
  for (std::size_t rank = 0; rank < windows_.size(); ++rank)
    if (placement.at[rank])
      number_of[rank] = layer_of(static_cast<Rank>(rank)) * blocks.tile_count() + blocks.number_of(*placement.at[rank]);
  own_ = holders_of_blocks(checked_multiply(layers_, blocks.tile_count()), number_of);
}

void TileLayout::place_selection(const Selection& selection, const TileHolders& stored) {
  own_ = {};
  for (std::int64_t id = 0; id < grid_.tile_count(); ++id) own_.add(stored.of(selection.stored_tile(grid_.key_of(id))));
  is_selection_ = true;
}

std::span<const Rank> TileLayout::holders(const TileKey& key, std::int64_t layer) const {
  if (lists_ != nullptr) return tile_lists().of(grid_.id_of(key));
  auto block = layer;
  for (std::size_t d = 0; d < parts_.size(); ++d) block = block * parts_[d] + key[d] / per_block_[d];
  return own_.of(block);
}

bool TileLayout::holds(Rank rank, const TileKey& key, std::int64_t layer) const {
  const auto ranks = holders(key, layer);
  return std::binary_search(ranks.begin(), ranks.end(), rank);
}

std::vector<std::int64_t> TileLayout::tiles_of(Rank rank) const {
  std::vector<std::int64_t> tiles;
  if (lists_ != nullptr) {
    tile_lists().for_each_run_of(rank, [&](const TileHolders::Run& run) {
      for (auto id = run.first; id < run.end; ++id) tiles.push_back(id);
    });
  } else if (const auto& window = windows_[rank]) {
    tiles.reserve(static_cast<std::size_t>(window->tile_count()));
    for (std::int64_t n = 0; n < window->tile_count(); ++n) tiles.push_back(grid_.id_of(window->key_of(n)));
  }
  return tiles;
}

}  // namespace eindb
