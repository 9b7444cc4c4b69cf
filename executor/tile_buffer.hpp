#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/fixed_array.hpp"
#include "executor/memory_budget.hpp"
#include "storage/tiles/scratch_tiles.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The tiles of one relation by number. Only tiles in use must be in memory: if the statement's budget has no room, its
/// TileBuffer evicts others, and get() restores them.
///
///             put                  evicted, while nobody holds it
///     absent -----> in memory  <------------------------------> in the scratch file, or read again
///        ^           |             get
///        +-----------+ take
///
/// A tile is in use while somebody holds the TilePtr from get(). Tiles are immutable, so a tile is written at most
/// once. Thread-safe.
class BufferedTiles {
 public:
  /// Makes tile `number`, tracked by the budget or borrowed. Called from any thread.
  using Source = std::function<TilePtr(std::int64_t number)>;

  /// `count` absent tiles, to be put; with `source`, tiles that it makes on request (null for absent ones): these are
  /// not written but made again.
  BufferedTiles(std::shared_ptr<MemoryBudget> memory, std::int64_t count, Source source = nullptr);
  ~BufferedTiles();
  BufferedTiles(const BufferedTiles&) = delete;
  BufferedTiles& operator=(const BufferedTiles&) = delete;

  std::int64_t count() const { return count_; }
  /// The budget that the tiles count in.
  const std::shared_ptr<MemoryBudget>& memory() const { return memory_; }

  /// Sets an absent tile; null leaves it absent. The tile must be tracked by the budget, or borrowed.
  void put(std::int64_t number, TilePtr tile);
  /// The tile; null if it is absent. May wait for a disk. Error{MemoryLimit} if there is no room to restore it,
  /// Error{Corrupt} if its data has changed on disk.
  TilePtr get(std::int64_t number);
  /// The same with all values: those of a tile of cells are made on request, and again if memory was short since. Not
  /// for tiles that are taken or dropped later.
  TilePtr get_values(std::int64_t number);
  /// The same as a last use: the tile is absent afterwards.
  TilePtr take(std::int64_t number);
  /// The same for a tile without other owners, to continue work on it.
  CountedTile take_alone(std::int64_t number);
  /// The first tile from `from` on that may be present; nullopt if there is none.
  std::optional<std::int64_t> next(std::int64_t from);
  /// Makes the tile absent; its memory is freed as soon as nobody holds it.
  void drop(std::int64_t number);

  /// Sets the relation's next use, in any unit that all relations of the statement share (the number of the next node
  /// that reads it). Tiles with the furthest next use are evicted first, among equals the least recently used ones.
  void set_next_use(std::int64_t when) { next_use_.store(when, std::memory_order_relaxed); }

  /// The bytes of the present tiles, in memory or not; with a source, of those requested so far.
  std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class TileBuffer;

  struct Slot {
    TilePtr tile;                                  // in memory
    std::unique_ptr<ScratchTiles::Place> written;  // in the scratch file
    std::int64_t bytes = 0;                        // of the tile, wherever it is
    std::uint64_t used = 0;                        // the buffer's clock at its last request
    bool away = false;                             // present, but not in memory
    bool coming = false;                           // a thread is restoring it
  };
  /// A tile to be evicted, held while it is written.
  struct Victim {
    BufferedTiles* tiles;
    std::int64_t number;
    TilePtr tile;
  };

  Slot& slot(std::int64_t number);
  bool was_never_there(std::int64_t number) const;
  TilePtr expand(std::int64_t number);
  TilePtr bring_back(std::int64_t number, const ScratchTiles::Place* written);
  std::int64_t let_go(Victim victim);
  std::unique_ptr<ScratchTiles::Place> write(const Victim& victim);
  bool finish(Victim victim, std::unique_ptr<ScratchTiles::Place>& written) noexcept;
  void forget(std::unique_ptr<ScratchTiles::Place> written) noexcept;

  std::shared_ptr<MemoryBudget> memory_;
  std::int64_t count_;
  Source source_;
  std::atomic<std::int64_t> next_use_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  FixedArray<Slot, 1> slots_;          // of all tiles, or empty where there are many
  std::map<std::int64_t, Slot> some_;  // then: of those that were ever asked for, as most are absent
  int leaving_ = 0;                    // number of victims among the tiles
  std::once_flag expanding_;
  std::unique_ptr<BufferedTiles> expanded_;  // the values of tiles of cells, where anybody asked for them
  // The neighbours among those that the buffer knows, guarded by its mutex.
  BufferedTiles* before_ = nullptr;
  BufferedTiles* behind_ = nullptr;
};

/// The buffer manager of a statement: knows all its BufferedTiles, and evicts unused tiles when the budget needs room.
/// Owned by the budget. Thread-safe; several threads can evict concurrently.
class TileBuffer {
 public:
  TileBuffer(MemoryBudget& budget, std::string scratch_directory)
      : budget_(budget), scratch_(std::move(scratch_directory)) {}

  /// Frees about `bytes`, as far as there are unused tiles; returns the number of bytes freed. Throws the errors of
  /// ScratchTiles::write.
  std::int64_t evict(std::int64_t bytes);
  /// Whether a thread is evicting.
  bool is_evicting() const { return evicting_.load() > 0; }

  /// The bytes written to the scratch file and read from it.
  std::int64_t written_bytes() const { return written_bytes_.load(std::memory_order_relaxed); }
  std::int64_t read_bytes() const { return read_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class BufferedTiles;

  void add(BufferedTiles& tiles) noexcept;
  void remove(BufferedTiles& tiles) noexcept;
  std::vector<BufferedTiles::Victim> choose(std::int64_t bytes);
  std::int64_t let_go(std::vector<BufferedTiles::Victim> victims);

  MemoryBudget& budget_;
  ScratchTiles scratch_;
  std::atomic<std::uint64_t> clock_{0};
  std::atomic<int> evicting_{0};
  std::atomic<std::int64_t> written_bytes_{0};
  std::atomic<std::int64_t> read_bytes_{0};
  std::mutex mutex_;                // guards the list below; locked before the mutex of any of its members
  BufferedTiles* first_ = nullptr;  // those that are known, linked in the order in which they were made
  BufferedTiles* last_ = nullptr;
};

}  // namespace eindb
