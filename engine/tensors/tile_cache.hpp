#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/tensors/tile_cache_pool.hpp"
#include "executor/memory_budget.hpp"

namespace eindb {

/// Decoded and verified tiles of stored tensors, for repeated reads by one statement and by the next ones. All tiles
/// are of one state of the database and are dropped when the state changes, so the cache is never stale.
///
/// A tile counts in the budget of the statement that requested it. It stays while there is room; the least recently
/// requested tile is evicted first. Between statements the cache keeps only tiles up to a capacity. These are idle:
/// they count against the limit of the next statement as well, and are evicted before anything else.
///
/// Owned by the session, which runs one statement at a time; read() and evict() are called from any of its threads. If
/// several sessions share their memory, a TileCachePool decides how much each keeps between statements, and takes some
/// of it back.
class TileCache final : public TileKeeper {
 public:
  /// Null: this is the only cache.
  explicit TileCache(std::shared_ptr<TileCachePool> pool = nullptr);
  ~TileCache() override;
  TileCache(const TileCache&) = delete;
  TileCache& operator=(const TileCache&) = delete;

  /// The use of the cache by one statement. At its end the cache keeps at most `capacity` bytes.
  class Statement {
   public:
    /// `version` differs between any two states of the database, as SqliteConnection::current_data_version() does.
    Statement(TileCache& cache, std::shared_ptr<MemoryBudget> memory, std::uint64_t version, std::int64_t capacity);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

   private:
    TileCache& cache_;
    std::int64_t capacity_;
  };

  /// Null: this is the only cache.
  TileCachePool* pool() const { return pool_.get(); }
  /// A number for the tensor, valid for this state of the database.
  std::uint32_t number_of(const std::string& tensor);

  /// The tile (null if it is all zero), from the cache or else from read(), which needs bytes() of memory, or reserves
  /// what it needs beyond them itself. Tasks that request the same tile wait for the one that reads it. Only during a
  /// statement.
  template <class Bytes, class Read>
  TilePtr read(std::uint32_t tensor, std::int64_t tile_id, const Bytes& bytes, const Read& read) {
    const auto found = find(tensor, tile_id);
    return found.is_new ? bring(found.entry, bytes, read) : found.tile;
  }

  /// Whether the tile is there, or comes.
  bool has(std::uint32_t tensor, std::int64_t tile_id) const;

  /// The statement no longer needs the tensor: its tiles become idle until they are requested again.
  void let_go(std::uint32_t tensor) noexcept;

  std::int64_t idle_bytes() const override { return idle_.load(std::memory_order_relaxed); }
  std::int64_t evict(std::int64_t bytes) override;
  /// As evict(), between statements; frees hardly more than `bytes`. For the pool; thread-safe.
  std::int64_t drop(std::int64_t bytes);
  /// The number of tiles not found in the cache so far.
  std::int64_t misses() const { return misses_.load(std::memory_order_relaxed); }

 private:
  struct Key {
    std::uint32_t tensor;
    std::int64_t tile_id;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return (static_cast<std::size_t>(key.tile_id) * 0x9E3779B97F4A7C15U) ^ (std::size_t{key.tensor} << 32U);
    }
  };
  struct Entry {
    Key key;
    TilePtr tile;
    std::int64_t bytes = 0;
    std::uint64_t use = 0;  // its tensor's use at the last request
    bool coming = false;    // a task is reading the tile
  };
  /// A tensor, and the number of its current use. Entries of this use count in the statement's budget; older ones are
  /// idle.
  struct Tensor {
    std::uint64_t use = 1;
    std::int64_t counted = 0;  // bytes of the entries of the current use
  };
  using Entries = std::list<Entry>;

  /// A tile that is there, or a new entry whose tile the caller brings.
  struct Found {
    bool is_new = false;
    TilePtr tile = {};
    Entries::iterator entry = {};
  };

  Found find(std::uint32_t tensor, std::int64_t tile_id);
  void begin(std::shared_ptr<MemoryBudget> memory, std::uint64_t version);
  void end(std::int64_t capacity) noexcept;
  void forget() noexcept;
  /// Moves the least recently used idle entries to `gone` until they amount to `bytes`.
  std::int64_t remove(std::int64_t bytes, Entries& gone) noexcept;
  void use(Entries::iterator entry);
  void end_use(Tensor& tensor) noexcept;
  TilePtr bring(Entries::iterator entry, const std::function<std::int64_t()>& bytes,
                const std::function<TilePtr()>& read);

  const std::shared_ptr<TileCachePool> pool_;
  TileCachePool::Members::iterator in_pool_;  // valid if there is a pool
  mutable std::mutex mutex_;                  // guards the members below, except the counters
  std::condition_variable came_;
  Entries entries_;  // the most recently used first
  std::unordered_map<Key, Entries::iterator, Hash> by_key_;
  std::map<std::string, std::uint32_t> numbers_;
  std::uint64_t version_ = 0;
  std::vector<Tensor> tensors_;  // by number
  std::shared_ptr<MemoryBudget> memory_;
  std::atomic<std::int64_t> idle_{0};  // bytes of all entries that count in no budget
  std::atomic<std::int64_t> misses_{0};
};

}  // namespace eindb
