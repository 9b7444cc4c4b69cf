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

/// Tiles of stored tensors as they were read, verified and decoded, for the statement that reads them again and for the
/// next ones. They are of one state of the database and forgotten with it: nothing here is ever out of date.
///
/// A tile counts in the budget of the statement that asked for it. It stays as long as there is room, the one that was
/// asked for last longest; between statements only up to a capacity. Then its bytes are idle: they count in the limit
/// of the next statement as well, and go before anything else does.
///
/// Owned by the session, which runs one statement at a time; read() and evict() from any of its threads. Where several
/// sessions share their memory, a TileCachePool says how much each keeps between statements, and takes some back.
class TileCache final : public TileKeeper {
 public:
  /// Null: the cache is the only one.
  explicit TileCache(std::shared_ptr<TileCachePool> pool = nullptr);
  ~TileCache() override;
  TileCache(const TileCache&) = delete;
  TileCache& operator=(const TileCache&) = delete;

  /// What is asked for during a statement; the cache keeps none of it afterwards beyond `capacity` bytes.
  class Statement {
   public:
    /// `version` is another number for every state of the database, as SqliteConnection::current_data_version().
    Statement(TileCache& cache, std::shared_ptr<MemoryBudget> memory, std::uint64_t version, std::int64_t capacity);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

   private:
    TileCache& cache_;
    std::int64_t capacity_;
  };

  /// Null: the cache is the only one.
  TileCachePool* pool() const { return pool_.get(); }
  /// A name for the tensor in this state of the database.
  std::uint32_t number_of(const std::string& tensor);

  /// The tile, null for all zero: as it was read before, or as `read` gives it now, which reads at most `bytes`.
  /// Several tasks that want the same tile wait for one that reads it. In a statement.
  TilePtr read(std::uint32_t tensor, std::int64_t tile_id, std::int64_t bytes, const std::function<TilePtr()>& read);

  /// The statement needs no more of the tensor: its tiles are idle, until somebody asks for them again.
  void let_go(std::uint32_t tensor) noexcept;

  std::int64_t idle_bytes() const override { return idle_.load(std::memory_order_relaxed); }
  std::int64_t evict(std::int64_t bytes) override;
  /// The same between statements, and no more than `bytes` by much. For the pool: any thread.
  std::int64_t drop(std::int64_t bytes);
  /// Tiles that were not found here, so far.
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
    std::uint64_t use = 0;  // of its tensor, when it was asked for last
    bool coming = false;    // somebody reads it
  };
  /// A tensor and its use by a statement: entries of this use count in the statement's budget, older ones are idle.
  struct Tensor {
    std::uint64_t use = 1;
    std::int64_t counted = 0;  // bytes of the entries of this use
  };
  using Entries = std::list<Entry>;

  void begin(std::shared_ptr<MemoryBudget> memory, std::uint64_t version);
  void end(std::int64_t capacity) noexcept;
  void forget() noexcept;
  /// Moves entries that nobody uses, those asked for longest ago first, to `gone`, until `bytes` of them have gone.
  std::int64_t remove(std::int64_t bytes, Entries& gone) noexcept;
  void use(Entries::iterator entry);
  void end_use(Tensor& tensor) noexcept;
  TilePtr bring(Entries::iterator entry, std::int64_t bytes, const std::function<TilePtr()>& read);

  const std::shared_ptr<TileCachePool> pool_;
  TileCachePool::Members::iterator in_pool_;  // where there is one
  std::mutex mutex_;                          // guards what follows, but for the counters
  std::condition_variable came_;
  Entries entries_;  // the one asked for last first
  std::unordered_map<Key, Entries::iterator, Hash> by_key_;
  std::map<std::string, std::uint32_t> numbers_;
  std::uint64_t version_ = 0;
  std::vector<Tensor> tensors_;  // by number
  std::shared_ptr<MemoryBudget> memory_;
  std::atomic<std::int64_t> idle_{0};  // of all entries that count in no budget
  std::atomic<std::int64_t> misses_{0};
};

}  // namespace eindb
