#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "executor/memory_budget.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Where the tiles of stored tensors come from.
class TileSource {
 public:
  virtual ~TileSource() = default;
  /// The tile with this number in the tensor's stored grid, null if it is all zero. Thread-safe.
  virtual TilePtr read(const std::string& tensor, std::int64_t tile_id) = 0;
  /// Whether read() gives a tile again at little cost, and its bytes count already in the statement's budget.
  virtual bool keeps_tiles() const { return false; }
  /// The statement needs no more of the tensor now.
  virtual void let_go(const std::string&) noexcept {}
  /// The tile with this number in `grid` of a tensor that is attached (InputTensor). Thread-safe. Sources for plans
  /// without such tensors leave it as it is.
  virtual TilePtr read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id);
};

/// Where the tiles of a result go.
class TileSink {
 public:
  virtual ~TileSink() = default;
  /// Before the first tile: the budget that their bytes count in.
  virtual void begin(std::shared_ptr<MemoryBudget>) {}
  /// Each tile of the sink's grid once, in order of tile_id, from one thread; null if it is all zero.
  virtual void write(std::int64_t tile_id, TilePtr tile) = 0;
};

}  // namespace eindb
