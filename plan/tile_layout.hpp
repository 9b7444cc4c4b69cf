#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/distributed_plan.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {

/// Which ranks hold which tiles of a step's result, however it is placed.
///
/// Partial results lie in layers, one for each block along the aggregated labels that are cut between ranks: a rank
/// holds the tiles of its block in one layer, and a tile is what all layers together give. Every other result has one.
///
/// Immutable, thread-safe. The statement's holder lists outlive it, the plan need not.
class TileLayout {
 public:
  /// Of a step of a valid plan (plan/validator), and valid lists.
  TileLayout(const DistributedPlan& plan, StepId step, std::span<const TileHolders> lists);

  const TileGrid& grid() const { return grid_; }
  std::size_t rank_count() const { return windows_.size(); }
  std::int64_t layers() const { return layers_; }
  /// The layer that the rank has tiles of; 0 if there is but one.
  std::int64_t layer_of(Rank rank) const { return layer_of_.empty() ? 0 : layer_of_[rank]; }
  /// In ascending order. None: nobody has a tile of a stored tensor that is all zero.
  std::span<const Rank> holders(const TileKey& key, std::int64_t layer) const;
  bool holds(Rank rank, const TileKey& key, std::int64_t layer) const;
  /// The cells that the rank holds, if they are a box.
  const std::optional<TileWindow>& window(Rank rank) const { return windows_[rank]; }
  /// In ascending order of tile_id.
  std::vector<std::int64_t> tiles_of(Rank rank) const;
  /// Whether ranks hold boxes.
  bool is_in_blocks() const { return lists_ == nullptr; }

 private:
  void place_in_blocks(const BlockPlacement& placement);
  void place_partial(const ComputeStep& compute);
  void list_holders(const BlockPlacement& placement);
  void place_selection(const Selection& selection, const TileHolders& stored);
  const TileHolders& tile_lists() const { return is_selection_ ? own_ : *lists_; }

  TileGrid grid_;
  std::int64_t layers_ = 1;
  std::vector<std::optional<TileWindow>> windows_;  // of each rank
  // In blocks: the ranks of block n of layer l are those of number l * blocks + n.
  Partition parts_;
  std::vector<std::int64_t> per_block_;  // tiles, per dimension
  std::vector<std::int64_t> layer_of_;   // of each rank; empty: all 0
  TileHolders own_;                      // of blocks, or of a selection's tiles
  const TileHolders* lists_ = nullptr;   // of tiles, or of those that a selection is from; null: in blocks
  bool is_selection_ = false;
};

}  // namespace eindb
