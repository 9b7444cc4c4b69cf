#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/physical_plan.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {

/// The ranks that hold the tiles of a step's result, for every kind of placement.
///
/// Partial results lie in layers, one for each block along the aggregated labels that are cut between ranks: a rank
/// holds the tiles of its block in one layer, and a tile is the sum of all layers. All other results have one layer.
///
/// Immutable, thread-safe. The statement's holder lists must outlive it; the plan need not.
class TileLayout {
 public:
  /// The step must be one of a valid plan (plan/validator), and the lists must be valid.
  TileLayout(const PhysicalPlan& plan, StepId step, std::span<const TileHolders> lists);

  const TileGrid& grid() const { return grid_; }
  std::size_t rank_count() const { return windows_.size(); }
  std::int64_t layers() const { return layers_; }
  /// The layer of the rank's tiles; 0 if there is only one.
  std::int64_t layer_of(Rank rank) const { return layer_of_.empty() ? 0 : layer_of_[rank]; }
  /// Ascending. Empty: no rank has the tile of a stored tensor, which is all zero.
  std::span<const Rank> holders(const TileKey& key, std::int64_t layer) const;
  bool holds(Rank rank, const TileKey& key, std::int64_t layer) const;
  /// The cells that the rank holds, if they form a box.
  const std::optional<TileWindow>& window(Rank rank) const { return windows_[rank]; }
  /// Ascending tile_ids.
  std::vector<std::int64_t> tiles_of(Rank rank) const;
  /// Calls f(tile_id) for each tile of a list of holders that some rank has, ascending; in time in proportion to these.
  template <class F>
  void for_each_listed(F&& f) const {
    const auto& lists = tile_lists();
    for (std::size_t n = 0; n < lists.run_count(); ++n) {
      const auto run = lists.run(n);
      for (auto id = run.ranks.empty() ? run.end : run.first; id < run.end; ++id) f(id);
    }
  }
  /// Whether every rank holds a box.
  bool is_in_blocks() const { return lists_ == nullptr; }

 private:
  void place_in_blocks(const BlockPlacement& placement);
  void place_partial(const ComputeStep& compute);
  void list_holders(const BlockPlacement& placement);
  void place_selection(const Selection& selection, const TileHolders& stored);
  const TileHolders& tile_lists() const { return is_selection_ ? own_ : *lists_; }

  TileGrid grid_;
  std::int64_t layers_ = 1;
  std::vector<std::optional<TileWindow>> windows_;  // for each rank
  // If in blocks: the ranks of block n of layer l are entry l * blocks + n of own_.
  Partition parts_;
  std::vector<std::int64_t> per_block_;  // tiles of a block, per dimension
  std::vector<std::int64_t> layer_of_;   // for each rank; empty: all 0
  TileHolders own_;                      // for blocks, or for the tiles of a selection
  // The holders of tiles, or of the tiles that a selection is taken from; null: in blocks.
  const TileHolders* lists_ = nullptr;
  bool is_selection_ = false;
};

}  // namespace eindb
