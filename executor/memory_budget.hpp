#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "tensor/tile.hpp"

namespace eindb {

class TileBuffer;
struct CountedTile;

/// Tiles that are kept because somebody may ask for them again, beside those that a statement needs. Thread-safe.
class TileKeeper {
 public:
  virtual ~TileKeeper() = default;
  /// Bytes of tiles that count for no statement.
  virtual std::int64_t idle_bytes() const = 0;
  /// Lets go of tiles that nobody uses, about `bytes` of them as far as there are any; how many bytes it was.
  virtual std::int64_t evict(std::int64_t bytes) = 0;
};

/// Counts the bytes that a statement holds in tiles and for its kernels, and keeps them within the limit: where they
/// would exceed it, tiles of a keeper go first, then those that the buffer can bring back (TileBuffer), and what is in
/// use then must fit. Thread-safe. Tracked tiles keep the budget alive and give their bytes back when the last owner
/// lets go.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  /// `limit` in bytes. What does not fit goes to a file in `scratch_directory`; empty: temporary_directory(). Errors
  /// speak of the setting `memory_limit`, of which `limit` is a fixed share; 0: all of it.
  static std::shared_ptr<MemoryBudget> create(std::int64_t limit, std::string scratch_directory = "",
                                              std::int64_t memory_limit = 0);
  ~MemoryBudget();

  /// Sets the advice that errors give; by default they advise to raise the setting. To be called before the budget is
  /// used.
  void advise(std::string hint) { hint_ = std::move(hint); }

  /// Takes `bytes`, if necessary when others have let go of some: see Task. Throws Error{MemoryLimit}, which says what
  /// is needed and what the limit is, if nobody will; Error{Io} if a tile that makes room cannot be written.
  void reserve(std::int64_t bytes);
  /// False if there is no room without letting go of anything.
  bool try_reserve(std::int64_t bytes) noexcept;
  void release(std::int64_t bytes) noexcept;
  /// Counts bytes that are held already.
  void add(std::int64_t bytes) noexcept;

  /// Shares a finished tile; its bytes count until the last owner lets go.
  TilePtr track(Tile tile);
  /// The same for a tile that counts already.
  TilePtr track(CountedTile tile);
  /// A tracked tile that nobody else holds, to be worked on again.
  CountedTile untrack(TilePtr tile);

  /// Bytes of tiles that were put aside in a file for want of room.
  std::int64_t written_bytes() const;
  /// Keeps whatever it is as long as anything counts here: somebody else's share of memory, say.
  void keep(std::shared_ptr<void> share) { kept_ = std::move(share); }

  /// Where tiles that are not needed now can go.
  TileBuffer& buffer() { return *buffer_; }
  /// Also counts what a keeper keeps, and evicts it first. Null: nobody keeps any. While no task runs.
  void set_keeper(TileKeeper* keeper) { keeper_ = keeper; }

  /// The bytes that are left to take, if nothing else takes any.
  std::int64_t left() const { return limit_ - used(); }
  std::int64_t limit() const { return limit_; }
  std::int64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  /// The scope of a task that holds tiles while it asks for more. A task that finds no room waits as long as others
  /// go on; only if all wait nothing can change any more.
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

  /// The scope in which a task waits for what another brings, which may itself wait for room: that it does not go on
  /// has to be known to the other.
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
  void make_room(std::int64_t bytes);
  /// False if nobody is left who could.
  bool wait_for_others();

  std::shared_ptr<void> kept_;  // destroyed last
  const std::int64_t limit_;
  const std::int64_t memory_limit_;  // the setting, for messages
  std::string hint_ = "raise it with SET memory_limit = '...'";
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> peak_{0};
  std::atomic<int> tasks_{0};
  std::atomic<std::uint64_t> ended_{0};  // tasks, ever
  std::atomic<int> waiting_{0};
  std::mutex mutex_;  // for released_ alone
  std::condition_variable released_;
  TileKeeper* keeper_ = nullptr;
  std::unique_ptr<TileBuffer> buffer_;
};

/// Bytes of a budget, held for a scope: for memory that is no finished tile yet.
class MemoryReservation {
 public:
  MemoryReservation(std::shared_ptr<MemoryBudget> budget, std::int64_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {
    budget_->reserve(bytes_);
  }
  /// Bytes that count already.
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
  /// Takes more, if it has less than that.
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
  /// Somebody else gives the bytes back.
  void hand_over() noexcept { budget_.reset(); }

 private:
  struct Adopted {};
  MemoryReservation(std::shared_ptr<MemoryBudget> budget, std::int64_t bytes, Adopted)
      : budget_(std::move(budget)), bytes_(bytes) {}

  std::shared_ptr<MemoryBudget> budget_;
  std::int64_t bytes_;
};

/// A tile that is still worked on; counts against the limit.
struct CountedTile {
  MemoryReservation reservation;
  Tile tile;
};

/// One whose elements are not initialised. Room first, as for elements of type `becomes` if those are larger: throws as
/// MemoryBudget::reserve.
CountedTile counted_tile(const std::shared_ptr<MemoryBudget>& memory, DType type, Shape shape, DType becomes);
inline CountedTile counted_tile(const std::shared_ptr<MemoryBudget>& memory, DType type, Shape shape) {
  return counted_tile(memory, type, std::move(shape), type);
}
/// The same of zeros.
CountedTile counted_zeros(const std::shared_ptr<MemoryBudget>& memory, DType type, Shape shape);

}  // namespace eindb
