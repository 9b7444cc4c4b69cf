#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/memory_budget.hpp"
#include "storage/tiles/scratch_tiles.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// The tiles of one relation by number, of which only those in use need be in memory: when the statement's budget has
/// no room, its TileBuffer takes others away and get() brings them back.
///
///             put                  evicted, while nobody holds it
///     absent -----> in memory  <------------------------------> in the scratch file, or read again
///        ^           |             get
///        +-----------+ take
///
/// A tile is in use as long as somebody holds the TilePtr that get() gave. Tiles are immutable, so that one that was
/// written once need not be written again. Thread-safe.
class BufferedTiles {
 public:
  /// Makes tile `number`, tracked by the budget or borrowed. From any thread.
  using Source = std::function<TilePtr(std::int64_t number)>;

  /// `count` absent tiles, to be put; with `source`, tiles that it gives when they are asked for, null for absent
  /// ones: they are not written but made again.
  BufferedTiles(std::shared_ptr<MemoryBudget> memory, std::int64_t count, Source source = nullptr);
  ~BufferedTiles();
  BufferedTiles(const BufferedTiles&) = delete;
  BufferedTiles& operator=(const BufferedTiles&) = delete;

  std::int64_t count() const { return static_cast<std::int64_t>(slots_.size()); }
  /// The budget that the tiles count in.
  const std::shared_ptr<MemoryBudget>& memory() const { return memory_; }

  /// Sets a tile that is absent; null leaves it so. The tile is tracked by the budget, or borrowed.
  void put(std::int64_t number, TilePtr tile);
  /// The tile, null if it is absent. May wait for a disk; Error{MemoryLimit} if there is no room to bring it back,
  /// Error{Corrupt} if it comes back changed.
  TilePtr get(std::int64_t number);
  /// The same for the last time: the tile is absent from now on.
  TilePtr take(std::int64_t number);
  /// The same of a tile that was put and that nobody else holds, to be worked on again.
  CountedTile take_alone(std::int64_t number);
  /// Nobody will ask for the tile again: it is absent from now on, its room free as soon as nobody holds it.
  void drop(std::int64_t number);

  /// Which relations give way first: those whose next use is furthest off, in any unit that all relations of the
  /// statement share (the number of the node that reads it next). Among equals the tile that was used last long ago.
  void set_next_use(std::int64_t when) { next_use_.store(when, std::memory_order_relaxed); }

  /// Of the tiles that are there, in memory or not; of a source as far as they were asked for.
  std::int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class TileBuffer;

  /// What is known of a tile that was written.
  struct Written {
    DType dtype;
    Shape shape;
    ScratchTiles::Place place;
  };
  struct Slot {
    TilePtr tile;                      // in memory
    std::unique_ptr<Written> written;  // in the scratch file
    std::int64_t bytes = 0;            // of the tile, wherever it is
    std::uint64_t used = 0;            // the buffer's clock when it was asked for last
    bool away = false;                 // not in memory, though not absent
    bool coming = false;               // somebody brings it back
  };
  /// A tile that is to go, held while it is written.
  struct Victim {
    BufferedTiles* tiles;
    std::int64_t number;
    TilePtr tile;
  };

  Slot& slot(std::int64_t number) { return slots_[static_cast<std::size_t>(number)]; }
  TilePtr bring_back(std::int64_t number, const Written* written);
  std::int64_t let_go(Victim victim);
  std::unique_ptr<Written> write(const Victim& victim);
  bool finish(Victim victim, std::unique_ptr<Written>& written) noexcept;
  void forget(std::unique_ptr<Written> written) noexcept;

  std::shared_ptr<MemoryBudget> memory_;
  Source source_;
  std::atomic<std::int64_t> next_use_{0};
  std::atomic<std::int64_t> bytes_{0};
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  int leaving_ = 0;  // victims among the tiles
};

/// The buffer manager of a statement: knows all of its BufferedTiles, and takes tiles that nobody uses out of memory
/// when its budget asks for room. Owned by the budget. Thread-safe; several threads can make room at the same time.
class TileBuffer {
 public:
  TileBuffer(MemoryBudget& budget, std::string scratch_directory)
      : budget_(budget), scratch_(std::move(scratch_directory)) {}

  /// Makes about `bytes` of room, as far as there are tiles that nobody uses; how much it was. Throws as
  /// ScratchTiles::write.
  std::int64_t evict(std::int64_t bytes);
  /// Whether a thread is about to make room.
  bool is_evicting() const { return evicting_.load() > 0; }

  /// Bytes that were written to the scratch file and read from it.
  std::int64_t written_bytes() const { return written_bytes_.load(std::memory_order_relaxed); }
  std::int64_t read_bytes() const { return read_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class BufferedTiles;

  std::vector<BufferedTiles::Victim> choose(std::int64_t bytes);
  std::int64_t let_go(std::vector<BufferedTiles::Victim> victims);

  MemoryBudget& budget_;
  ScratchTiles scratch_;
  std::atomic<std::uint64_t> clock_{0};
  std::atomic<int> evicting_{0};
  std::atomic<std::int64_t> written_bytes_{0};
  std::atomic<std::int64_t> read_bytes_{0};
  std::mutex mutex_;  // guards known_; taken before the mutex of any of them
  std::vector<BufferedTiles*> known_;
};

}  // namespace eindb
