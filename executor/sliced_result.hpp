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
  /// `aggregate` None: every tile is added once.
  SlicedResult(Aggregate aggregate, DType type, TileGrid grid, std::shared_ptr<MemoryBudget> memory);

  /// Whether slices add up: what is added is not final then.
  bool aggregates() const { return aggregate_ != Aggregate::None; }
  void add(std::int64_t tile_id, CountedTile tile);
  /// The whole result. Every tile has been added; `complete` is called for tiles that slices added up.
  std::shared_ptr<Relation> finish(const std::function<void(Tile&)>& complete);

 private:
  Aggregate aggregate_;
  DType type_;
  TileGrid grid_;
  std::shared_ptr<MemoryBudget> memory_;
  std::vector<TilePtr> finished_;                      // if every tile is added once
  std::vector<std::unique_ptr<CountedTile>> partial_;  // otherwise
};

/// The tile in the given type, shared and counted against the limit.
TilePtr finished(CountedTile tile, DType type, MemoryBudget& memory);

}  // namespace eindb
