#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "executor/relation.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// The result of a loop over slices (SliceLoop), assembled tile by tile. If several slices add to a tile, it is
/// aggregated in the type that the kernel computes in, and converted to the result's type at the end; otherwise it
/// would be rounded once per slice. Different threads may add tiles of different numbers.
class SlicedResult {
 public:
  /// With `aggregate` None every tile is added at most once. Tiles that are never added are zero.
  SlicedResult(Aggregate aggregate, DType type, TileGrid grid, std::shared_ptr<MemoryBudget> memory);

  /// Whether slices are added up; added tiles are not final then.
  bool aggregates() const { return aggregate_ != Aggregate::None; }
  void add(std::int64_t tile_id, CountedTile tile);
  /// The complete result. If slices are added up, `missing` returns zeros for a tile that no slice added to, or nullopt
  /// if zeros are final, and `complete` is called for all other tiles.
  using Missing = std::function<std::optional<CountedTile>(std::int64_t tile_id)>;
  std::shared_ptr<Relation> finish(const Missing& missing, const std::function<void(Tile&)>& complete);

 private:
  Aggregate aggregate_;
  DType type_;
  TileGrid grid_;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<Relation> result_;
  std::vector<std::unique_ptr<CountedTile>> partial_;  // unused if every tile is added at most once
};

/// The tile in the given type, shared and counted against the limit; null if it is all +0.
TilePtr finished(CountedTile tile, DType type, MemoryBudget& memory);

}  // namespace eindb
