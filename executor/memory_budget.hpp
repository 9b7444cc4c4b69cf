#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "tensor/tile.hpp"

namespace eindb {

class TileBuffer;
struct CountedTile;

/// Keeps tiles for later use, in addition to those that a statement needs. Thread-safe.
class TileKeeper {
 public:
  virtual ~TileKeeper() = default;
  /// The bytes of tiles that count for no statement.
  virtual std::int64_t idle_bytes() const = 0;
  /// Releases about `bytes` of unused tiles, as far as there are any; returns the number of bytes.
  virtual std::int64_t evict(std::int64_t bytes) = 0;
};

/// Counts the bytes of a statement's tiles and kernels, and keeps them within the limit. If they would exceed it, a
/// keeper's tiles are evicted first, then tiles that the buffer can restore (TileBuffer); the tiles in use must then
/// fit. Thread-safe. Tracked tiles keep the budget alive and return their bytes when the last owner releases them.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  /// `limit` is in bytes. Tiles beyond it go to a file in `scratch_directory`; empty: temporary_directory(). Errors
  /// refer to the setting `memory_limit`, of which `limit` is a fixed share; 0: all of it.
  static std::shared_ptr<MemoryBudget> create(std::int64_t limit, std::string scratch_directory = "",
                                              std::int64_t memory_limit = 0);
  ~MemoryBudget();

  /// Sets what makes the hint of errors from the memory_limit that is needed, in bytes. Call before the budget is used;
  /// it may be called from any thread, as long as tiles are tracked.
  void advise(std::function<std::string(std::int64_t)> hint) { hint_ = std::move(hint); }

  /// Takes `bytes`, waiting for other tasks to release memory if necessary: see Task. Throws Error{MemoryLimit} with
  /// the need and the limit if no task can; Error{Io} if a tile cannot be written to make room.
  void reserve(std::int64_t bytes);
  /// Returns false if there is no room without evicting anything.
  bool try_reserve(std::int64_t bytes) noexcept;
  void release(std::int64_t bytes) noexcept;
  /// Counts bytes that are already allocated.
  void add(std::int64_t bytes) noexcept;

  /// Shares a finished tile; its bytes count until the last owner releases it.
  TilePtr track(Tile tile);
  /// The same for a tile that is already counted.
  TilePtr track(CountedTile tile);
  /// Returns a tracked tile to progress; the caller must be its only owner.
  CountedTile untrack(TilePtr tile);

  /// The bytes of tiles written to a file for lack of memory.
  std::int64_t written_bytes() const;
  /// Keeps `share` alive as long as the budget, for example a share of memory.
  void keep(std::shared_ptr<void> share) { kept_ = std::move(share); }

  /// The buffer for tiles that are not needed now.
  TileBuffer& buffer() { return *buffer_; }
  /// Sets a keeper, whose idle bytes then count and are evicted first. Null: none. Only while no task runs.
  void set_keeper(TileKeeper* keeper) { keeper_ = keeper; }

  /// The bytes that can still be taken.
  std::int64_t left() const { return limit_ - used(); }
  std::int64_t limit() const { return limit_; }
  std::int64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  /// The scope of a task that holds tiles while it requests more memory. A task without room waits while others run; if
  /// all tasks wait, nothing can change any more.
  class Task {
   public:
    explicit Task(MemoryBudget& budget) : budget_(budget) { budget_.tasks_.fetch_add(1); }
    ~Task() {
      budget_.ended_.fetch_add(1);
      budget_.tasks_.fetch_sub(1);
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

   private:
    MemoryBudget& budget_;
  };

  /// Bytes that are taken in advance for a thread: during its lifetime reserve() takes them first there, so that the
  /// thread has room however much others take meanwhile. Scopes do not nest. The destructor releases what is left.
  class Advance {
   public:
    /// Takes over bytes of the budget that are already counted.
    Advance(std::shared_ptr<MemoryBudget> budget, std::int64_t bytes) : budget_(std::move(budget)), left_(bytes) {
      CHECK(current_ == nullptr, "a thread has one advance at a time");
      current_ = this;
    }
    ~Advance() {
      current_ = nullptr;
      budget_->release(left_);
    }
    Advance(const Advance&) = delete;
    Advance& operator=(const Advance&) = delete;

   private:
    friend class MemoryBudget;
    static inline constinit thread_local Advance* current_ = nullptr;
    std::shared_ptr<MemoryBudget> budget_;
    std::int64_t left_;
  };

  /// The scope in which a task waits for another one's result. The other may itself wait for memory, so it must be
  /// known that this task does not run.
  class Waiting {
   public:
    explicit Waiting(MemoryBudget& budget) : budget_(budget) { budget_.waiting_.fetch_add(1); }
    ~Waiting() { budget_.waiting_.fetch_sub(1); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    MemoryBudget& budget_;
  };

 private:
  MemoryBudget(std::int64_t limit, std::string scratch_directory, std::int64_t memory_limit);

  std::int64_t idle_bytes() const { return keeper_ == nullptr ? 0 : keeper_->idle_bytes(); }
  void raise_peak(std::int64_t used) noexcept;
  bool take_in_advance(std::int64_t bytes) noexcept;
  void make_room(std::int64_t bytes);
  /// Returns false if no task is left that could release memory.
  bool wait_for_others();

  std::shared_ptr<void> kept_;  // destroyed last
  const std::int64_t limit_;
  const std::int64_t memory_limit_;  // the setting, for messages
  std::function<std::string(std::int64_t)> hint_;
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> peak_{0};
  std::atomic<int> tasks_{0};
  std::atomic<std::uint64_t> ended_{0};  // number of tasks that have ended
  std::atomic<int> waiting_{0};
  std::mutex mutex_;  // for released_ only
  std::condition_variable released_;
  TileKeeper* keeper_ = nullptr;
  std::unique_ptr<TileBuffer> buffer_;
};

/// Bytes of a budget reserved for a scope, for memory that is not a finished tile yet.
class MemoryReservation {
 public:
  MemoryReservation(std::shared_ptr<MemoryBudget> budget, std::int64_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {
    budget_->reserve(bytes_);
  }
  /// Takes over bytes that are already counted.
  static MemoryReservation adopt(std::shared_ptr<MemoryBudget> budget, std::int64_t bytes) {
    return {std::move(budget), bytes, Adopted{}};
  }
  MemoryReservation(MemoryReservation&& other) noexcept : budget_(std::move(other.budget_)), bytes_(other.bytes_) {}
  MemoryReservation(const MemoryReservation&) = delete;
  MemoryReservation& operator=(const MemoryReservation&) = delete;
  MemoryReservation& operator=(MemoryReservation&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryReservation() {
    if (budget_ != nullptr) budget_->release(bytes_);
  }

  std::int64_t bytes() const { return bytes_; }
  /// Takes more bytes, up to this total.
  void raise_to(std::int64_t bytes) {
    if (bytes <= bytes_) return;
    DCHECK(budget_ != nullptr, "who takes more has not handed over what it had");
    budget_->reserve(bytes - bytes_);
    bytes_ = bytes;
  }
  void shrink_to(std::int64_t bytes) noexcept {
    if (bytes >= bytes_) return;
    budget_->release(bytes_ - bytes);
    bytes_ = bytes;
  }
  /// Another owner returns the bytes.
  void hand_over() noexcept { budget_.reset(); }

 private:
  struct Adopted {};
  MemoryReservation(std::shared_ptr<MemoryBudget> budget, std::int64_t bytes, Adopted)
      : budget_(std::move(budget)), bytes_(bytes) {}

  std::shared_ptr<MemoryBudget> budget_;
  std::int64_t bytes_;
};

/// A tile in progress, counted against the limit.
struct CountedTile {
  MemoryReservation reservation;
  Tile tile;
};

/// Creates an uninitialised tile after reserving its bytes, or those of the type `becomes` if they are more. Throws the
/// errors of MemoryBudget::reserve.
CountedTile counted_tile(const std::shared_ptr<MemoryBudget>& memory, DType type, Shape shape, DType becomes);
inline CountedTile counted_tile(const std::shared_ptr<MemoryBudget>& memory, DType type, Shape shape) {
  return counted_tile(memory, type, std::move(shape), type);
}
/// Creates a tile of zeros.
CountedTile counted_zeros(const std::shared_ptr<MemoryBudget>& memory, DType type, Shape shape);

}  // namespace eindb
