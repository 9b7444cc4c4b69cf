#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "executor/tile_buffer.hpp"
#include "executor/tile_exchange.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/annihilation.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {

/// A tensor relation during an execution: the tiles of a grid, as they are put, or read from storage when first asked
/// for. They are in memory as long as somebody holds them, and else where there is room: see BufferedTiles.
/// Thread-safe. Lives from the operator that makes it to its last reader.
class Relation {
 public:
  /// All tiles zero, until others are put.
  Relation(DType type, TileGrid grid, std::shared_ptr<MemoryBudget> memory);
  /// A part of a relation: the tiles of a window of its grid. Nobody puts or reads another one.
  Relation(DType type, TileGrid grid, TileWindow window, std::shared_ptr<MemoryBudget> memory);
  /// Tiles of a stored tensor or of a selection from one, read on demand and kept, by the source or here; those of an
  /// attached one are read each time.
  Relation(const InputTensor& tensor, TileSource& source, std::shared_ptr<MemoryBudget> memory);

  ~Relation();
  Relation(const Relation&) = delete;
  Relation& operator=(const Relation&) = delete;

  DType dtype() const { return dtype_; }
  const TileGrid& grid() const { return grid_; }

  /// Once for a tile, before it is read; null is all zero.
  void put(std::int64_t tile_id, TilePtr tile) { tiles_.put(number_of(tile_id), std::move(tile)); }
  /// Null if the tile is all zero. In memory as long as it is held.
  TilePtr tile(std::int64_t tile_id);
  /// The same, for the last time.
  TilePtr take(std::int64_t tile_id);
  /// Nobody asks for the tile again.
  void release(std::int64_t tile_id);
  /// See BufferedTiles.
  void set_next_use(std::int64_t when) { tiles_.set_next_use(when); }
  /// The tile, zeros written out.
  TilePtr dense_tile(std::int64_t tile_id);
  /// What is known of the tile's values, as far as it is asked: whether all are zero, which the first that is not
  /// settles; if they are not, their magnitude, by a pass over all. Both are found out once. Of tiles of attached
  /// tensors nothing is.
  OperandFacts facts(std::int64_t tile_id, bool with_magnitude);

  /// Of the tiles that were put or read and kept here by now, and are not zero.
  std::int64_t bytes() const { return tiles_.bytes(); }

  /// Counts the tiles read from storage, each once; may outlive the relation.
  using Counter = std::atomic<std::int64_t>;
  std::shared_ptr<Counter> tiles_read() const { return tiles_read_; }
  /// Goes on counting where another reading of the same tensor ended.
  void count_reads_in(std::shared_ptr<Counter> counter) { tiles_read_ = std::move(counter); }

  /// How many tiles the relation has: those of its window.
  std::int64_t tile_count() const { return window_ ? window_->tile_count() : grid_.tile_count(); }
  /// The number of the tile's place: among those that the relation has, in order of tile_id.
  std::int64_t number_of(std::int64_t tile_id) const {
    return window_ ? window_->number_of(grid_.key_of(tile_id)) : tile_id;
  }
  std::int64_t tile_id_of(std::int64_t number) const { return window_ ? grid_.id_of(window_->key_of(number)) : number; }

 private:
  /// Whether the tiles lie with the source, which gives them whenever they are asked for.
  bool is_kept_elsewhere() const;
  TilePtr read(std::int64_t tile_id);
  /// The tile that was read, its bytes counted as long as it lives; borrowed ones are not the statement's.
  TilePtr counted(const TilePtr& present);

  DType dtype_;
  TileGrid grid_;
  std::optional<TileWindow> window_;   // absent: the whole grid
  std::optional<InputTensor> tensor_;  // set exactly if tiles are read on demand
  TileSource* source_ = nullptr;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<Counter> tiles_read_ = std::make_shared<Counter>(0);
  std::vector<std::atomic<bool>> seen_;  // of those read on demand: counted already
  static constexpr int kNothing = 0;
  static constexpr int kZeros = 1;
  static constexpr int kValues = 2;      // some that are not zero
  static constexpr int kBounded = 3;     // from here on: and this is kBounded + their magnitude
  std::vector<std::atomic<int>> known_;  // of every tile
  BufferedTiles tiles_;
};

}  // namespace eindb
