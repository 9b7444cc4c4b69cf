#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "catalog/catalog.hpp"
#include "common/check.hpp"
#include "engine/tensors/tile_cache.hpp"
#include "engine/tensors/unwritten_tensors.hpp"
#include "executor/tile_buffer.hpp"
#include "executor/tile_exchange.hpp"
#include "plan/ein_graph.hpp"
#include "storage/tiles/read_snapshot.hpp"
#include "storage/tiles/tile_store.hpp"

namespace eindb {

/// The tensors of the catalog that a plan reads, looked up once for a state of the database. Immutable, thread-safe.
class StoredInputs {
 public:
  // Cells of a cut, which have a number of their own in the cache.
  struct CutOfCells {
    Partition partition;
    std::uint32_t number;
  };
  struct Store {
    std::string name;  // of the tensor in the cache
    TileStore tiles;
    TileGrid grid;                             // in which plans read it
    DType type;                                // of the values that the plan reads
    std::uint32_t number;                      // the tensor's number in the cache
    std::shared_ptr<BufferedTiles> unwritten;  // null: the tiles are in the table
    std::vector<CutOfCells> cuts = {};         // in which plans read its cells
  };

  /// `tensors`: what is read, none of them null or attached.
  StoredInputs(Catalog& catalog, std::span<const InputTensor* const> tensors, TileCache& cache,
               const UnwrittenTensors& unwritten);
  /// Of a tensor by the name that its plan knows.
  const Store& store(const std::string& tensor) const;
  /// The same; null if it is none of them.
  const Store* find(const std::string& tensor) const noexcept;

 private:
  std::vector<std::pair<std::string, Store>> stores_;  // by name
};

/// StoredInputs for the next statement that runs the same plan on the same state of the database, in one session.
/// Unwritten tiles change without it, so that nothing is kept beside them. A copy is empty.
class KeptInputs {
 public:
  KeptInputs() = default;
  KeptInputs(const KeptInputs& /*other*/) : KeptInputs() {}
  KeptInputs& operator=(const KeptInputs&) = delete;

  /// `make` makes those of this state of the database, of which `version` is the number (TileCache::Statement).
  template <class Make>
  std::shared_ptr<const StoredInputs> at(std::uint64_t version, bool has_unwritten, const Make& make) {
    if (has_unwritten) return make();
    if (inputs_ == nullptr || version_ != version) inputs_ = make();
    version_ = version;
    return inputs_;
  }

 private:
  std::uint64_t version_ = 0;
  std::shared_ptr<const StoredInputs> inputs_;
};

/// The tiles of the catalog's tensors: unwritten tiles, and all others from one snapshot of the database, by way of the
/// session's cache. Used during one statement of the cache.
class StoredTiles final : public TileSource {
 public:
  StoredTiles(ReadSnapshot& snapshot, std::shared_ptr<const StoredInputs> inputs, TileCache& cache,
              std::shared_ptr<MemoryBudget> memory)
      : snapshot_(snapshot), cache_(cache), memory_(std::move(memory)), inputs_(std::move(inputs)) {}
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override;
  TilePtr read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) override;
  std::optional<TilePtr> read_cut(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                  const std::function<std::optional<Tile>()>& assemble) override;
  bool keeps_tiles() const override { return true; }
  void let_go(const std::string& tensor) noexcept override;

  /// Brings the tiles of these tensors that lie at workers into the cache, in one round trip per worker, before tasks
  /// read them one by one. Does nothing if they would take much of the statement's memory. Errors as those of read().
  void bring(std::span<const InputTensor* const> tensors);

 private:
  using Store = StoredInputs::Store;

  static std::int64_t bytes_of(const Store& store, std::int64_t tile_id);
  Tile gather_cells(const Store& store, const TileGrid& grid, std::int64_t tile_id);
  TilePtr assemble(const TileStore& tiles, const TileGrid& grid, std::int64_t tile_id, DType type);

  ReadSnapshot& snapshot_;
  TileCache& cache_;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<const StoredInputs> inputs_;
  std::atomic<std::int64_t> cut_bytes_{0};  // of the tiles that were assembled in other cuts
};

/// Collects the result's tiles, in memory or, if the statement's memory does not suffice, in a scratch file.
class CollectingSink final : public TileSink {
 public:
  /// `in_one_piece`: the type of values that are wanted so. They are made so if there are several tiles, and they take
  /// a small part of the statement's memory: they cannot be moved to the file.
  explicit CollectingSink(const TileGrid& grid, std::optional<DType> in_one_piece = std::nullopt)
      : grid_(grid), type_(in_one_piece) {}
  void begin(std::shared_ptr<MemoryBudget> memory) override;
  void write(std::int64_t tile_id, TilePtr tile) override;
  std::shared_ptr<Tile> whole() override;
  bool takes_cells() const override { return true; }
  /// The values in one piece, if the executor has made them so; else null. Once all tiles are written.
  const std::shared_ptr<Tile>& made_whole() const { return whole_; }
  std::shared_ptr<BufferedTiles> take() {
    CHECK(tiles_ != nullptr, "tiles are taken once, of a sink that has begun");
    return std::move(tiles_);
  }

 private:
  TilePtr copy_if_there_is_room(TilePtr tile);

  TileGrid grid_;
  std::optional<DType> type_;  // of values that are wanted in one piece
  std::shared_ptr<Tile> whole_;
  std::shared_ptr<MemoryBudget> memory_;
  std::shared_ptr<BufferedTiles> tiles_;
};

/// Discards the result, for EXPLAIN ANALYZE.
class DiscardingSink final : public TileSink {
 public:
  void write(std::int64_t, TilePtr) override {}
  bool takes_cells() const override { return true; }
};

}  // namespace eindb
