#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "common/fixed_array.hpp"
#include "executor/tile_buffer.hpp"
#include "executor/tile_exchange.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/annihilation.hpp"
#include "tensor/partition.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {

/// A tensor relation during an execution: the tiles of a grid, either put, or read from storage on first request. A
/// tile is in memory while somebody holds it, and otherwise if there is room: see BufferedTiles. Thread-safe. Lives
/// from the operator that makes it to its last reader.
class Relation {
 public:
  /// All tiles are zero until they are put.
  Relation(DType type, TileGrid grid, std::shared_ptr<MemoryBudget> memory);
  /// A part of a relation: the tiles of a window of its grid. Other tiles must not be put or read.
  Relation(DType type, TileGrid grid, TileWindow window, std::shared_ptr<MemoryBudget> memory);
  /// Counts the tiles read from storage, each once, and the cells of those that are of cells; may outlive the relation.
  struct Counter {
    std::atomic<std::int64_t> tiles = 0;
    std::atomic<std::int64_t> cells = 0;
  };
  /// The tiles of a stored tensor or of a selection from one, read on demand and kept by the source or here. Tiles of
  /// an attached tensor are read each time. `tensor`, which is one of a plan, must outlive the relation. `counter` goes
  /// on with the count of what was read.
  Relation(const InputTensor& tensor, TileSource& source, std::shared_ptr<MemoryBudget> memory,
           std::shared_ptr<Counter> counter);

  ~Relation();
  Relation(const Relation&) = delete;
  Relation& operator=(const Relation&) = delete;

  DType dtype() const { return dtype_; }
  const TileGrid& grid() const { return grid_; }

  /// At most once for a tile, before it is read; null means all zero.
  void put(std::int64_t tile_id, TilePtr tile) { tiles_.put(number_of(tile_id), std::move(tile)); }
  /// Null if the tile is all zero. The tile stays in memory while the caller holds it.
  TilePtr tile(std::int64_t tile_id);
  /// The same, as it is stored: possibly encoded (Tile::encoding), or a tile of cells.
  TilePtr stored_tile(std::int64_t tile_id);
  /// A tile of this relation with plain values, of one that stored_tile() gave.
  TilePtr plain(TilePtr present);
  /// The same as tile() with plain values, which are kept beside those of a tile of cells, for relations whose tiles
  /// are put and not released.
  TilePtr values(std::int64_t tile_id) { return tiles_.get_values(number_of(tile_id)); }
  /// The same, as the tile's last use.
  TilePtr take(std::int64_t tile_id);
  /// The tile will not be requested again.
  void release(std::int64_t tile_id);
  /// See BufferedTiles.
  void set_next_use(std::int64_t when) { tiles_.set_next_use(when); }
  /// The tile; zeros are stored explicitly.
  TilePtr dense_tile(std::int64_t tile_id);
  /// The same, possibly encoded.
  TilePtr dense_stored_tile(std::int64_t tile_id);
  /// The same; a tile of an attached tensor may be a view of the program's memory.
  TilePtr operand_tile(std::int64_t tile_id, ValueOrder order);
  /// Facts about the tile's values: whether all are zero, which the first nonzero value decides; their magnitude, which
  /// takes a pass over all values; whether they are nonzero, which takes another. Each is found once, where it is asked
  /// for. Tiles of attached tensors give no facts.
  enum class Facts : std::uint8_t { Presence, Magnitude, Zeros };
  OperandFacts facts(std::int64_t tile_id, Facts wanted);

  /// A tile of another grid of a stored tensor's relation, which the source keeps for the next statements: see
  /// TileSource::read_cut. nullopt: it does not, or the relation is another one.
  std::optional<TilePtr> cut_tile(const TileGrid& grid, std::int64_t tile_id,
                                  const std::function<std::optional<Tile>()>& assemble);

  /// The bytes of the nonzero tiles put, or read and kept here, so far.
  std::int64_t bytes() const { return tiles_.bytes(); }

  /// The number of tiles of the relation, which are those of its window.
  std::int64_t tile_count() const { return window_ ? window_->tile_count() : grid_.tile_count(); }
  /// The position of the tile among the relation's tiles, in order of tile_id.
  std::int64_t number_of(std::int64_t tile_id) const {
    return window_ ? window_->number_of(grid_.key_of(tile_id)) : tile_id;
  }
  std::int64_t tile_id_of(std::int64_t number) const { return window_ ? grid_.id_of(window_->key_of(number)) : number; }

 private:
  /// Whether the source keeps the tiles and returns them on every request.
  bool is_kept_elsewhere() const;
  TilePtr read(std::int64_t tile_id);
  TilePtr zeros(std::int64_t tile_id);
  /// The tile with its bytes counted while it lives; borrowed tiles are not the statement's memory.
  TilePtr counted(const TilePtr& present);

  DType dtype_;
  TileGrid grid_;
  std::optional<TileWindow> window_;     // nullopt: the whole grid
  const InputTensor* tensor_ = nullptr;  // set if and only if tiles are read on demand
  TileSource* source_ = nullptr;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<Counter> tiles_read_;  // of a stored tensor
  bool is_counted_first(std::int64_t tile_id);

  FixedArray<std::atomic<bool>, 1> seen_;  // by tile read on demand: whether it is counted
  // The same where the tiles are too many to be listed, as most are absent.
  std::mutex mutex_;  // guards the next member
  std::set<std::int64_t> seen_some_;
  static constexpr int kNothing = 0;
  static constexpr int kZeros = 1;
  static constexpr int kValues = 2;   // some are nonzero
  static constexpr int kBounded = 3;  // from here on: kBounded + 3 * the magnitude, + 1 with zeros, + 2 without any
  FixedArray<std::atomic<int>, 1> known_;  // by tile; empty where there are too many
  BufferedTiles tiles_;
};

}  // namespace eindb
