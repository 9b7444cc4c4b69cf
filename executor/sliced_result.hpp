#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "executor/relation.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// The result of a loop over slices (SliceLoop), put together tile by tile. Where several slices add to one tile, it is
/// aggregated in the type that the kernel computes in, and becomes one of the result's type when all have: what is
/// converted in between would be rounded once per slice. Tiles of different numbers may be added by different threads.
class SlicedResult {
 public:
  /// `aggregate` None: every tile is added at most once. Tiles that are never added are zero.
  SlicedResult(Aggregate aggregate, DType type, TileGrid grid, std::shared_ptr<MemoryBudget> memory);

  /// Whether slices add up: what is added is not final then.
  bool aggregates() const { return aggregate_ != Aggregate::None; }
  void add(std::int64_t tile_id, CountedTile tile);
  /// The whole result. Where slices add up, `missing` gives zeros for a tile that none added to, or nothing if they are
  /// final, and `complete` is called for each of the others.
  using Missing = std::function<std::optional<CountedTile>(std::int64_t tile_id)>;
  std::shared_ptr<Relation> finish(const Missing& missing, const std::function<void(Tile&)>& complete);

 private:
  Aggregate aggregate_;
  DType type_;
  TileGrid grid_;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<Relation> result_;
  std::vector<std::unique_ptr<CountedTile>> partial_;  // unless every tile is added once
};

/// The tile in the given type, shared and counted against the limit; null if it is all +0.
TilePtr finished(CountedTile tile, DType type, MemoryBudget& memory);

}  // namespace eindb
