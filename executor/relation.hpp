#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/memory_budget.hpp"
#include "executor/tile_exchange.hpp"
#include "executor/tile_window.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// A tensor relation during an execution: the tiles of a grid, in memory, or read from storage when first asked for.
/// Thread-safe. Lives from the operator that makes it to its last reader.
class Relation {
 public:
  /// All tiles present; null for all zero.
  Relation(DType type, TileGrid grid, std::vector<TilePtr> tiles);
  /// A slice of a relation: the tiles of a window of its grid, in the window's order. Nobody reads another one.
  Relation(DType type, TileGrid grid, TileWindow window, std::vector<TilePtr> tiles);
  /// Tiles of a stored tensor or of a selection from one, read on demand and kept; those of an attached one are read
  /// each time.
  Relation(const InputTensor& tensor, TileSource& source, std::shared_ptr<MemoryBudget> memory);

  DType dtype() const { return dtype_; }
  const TileGrid& grid() const { return grid_; }

  /// Null if the tile is all zero.
  TilePtr tile(std::int64_t tile_id);
  /// The tile, zeros written out.
  TilePtr dense_tile(std::int64_t tile_id);

  /// Of the tiles that are there by now and not zero.
  std::int64_t bytes() const;

  /// Counts the tiles read from storage; may outlive the relation.
  using Counter = std::atomic<std::int64_t>;
  std::shared_ptr<Counter> tiles_read() const { return tiles_read_; }
  /// Goes on counting where another reading of the same tensor ended.
  void count_reads_in(std::shared_ptr<Counter> counter) { tiles_read_ = std::move(counter); }

 private:
  struct Slot {
    std::once_flag once;
    TilePtr tile;
  };

  Slot& slot_of(std::int64_t tile_id);

  TilePtr read(std::int64_t tile_id);
  /// The tile that was read, its bytes counted as long as it lives; borrowed ones are not the statement's.
  TilePtr counted(const TilePtr& present);

  DType dtype_;
  TileGrid grid_;
  std::optional<TileWindow> window_;  // absent: the whole grid
  std::vector<Slot> slots_;
  std::optional<InputTensor> tensor_;  // set exactly if tiles are read on demand
  TileSource* source_ = nullptr;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<Counter> tiles_read_ = std::make_shared<Counter>(0);
};

}  // namespace eindb
