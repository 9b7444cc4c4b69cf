#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "tensor/tile.hpp"

namespace eindb {

/// Counts the bytes of the tiles that a statement holds and refuses more than the limit.
/// Thread-safe. Tracked tiles keep the budget alive and give their bytes back when the last owner lets go.
class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  /// `limit` in bytes.
  static std::shared_ptr<MemoryBudget> create(std::int64_t limit);

  /// Takes `bytes` or throws Error{MemoryLimit}, which says what was asked for and what the limit is.
  void reserve(std::int64_t bytes);
  void release(std::int64_t bytes) noexcept;

  /// Shares a finished tile; its bytes count until the last owner lets go.
  TilePtr track(Tile tile);

  /// What is left to take, if nothing else takes any.
  std::int64_t left() const { return limit_ - used(); }
  std::int64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  explicit MemoryBudget(std::int64_t limit) : limit_(limit) {}

  const std::int64_t limit_;
  std::atomic<std::int64_t> used_{0};
  std::atomic<std::int64_t> peak_{0};
};

/// Bytes of a budget, held for a scope: for memory that is no finished tile yet.
class MemoryReservation {
 public:
  MemoryReservation(std::shared_ptr<MemoryBudget> budget, std::int64_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {
    budget_->reserve(bytes_);
  }
  MemoryReservation(MemoryReservation&& other) noexcept : budget_(std::move(other.budget_)), bytes_(other.bytes_) {}
  MemoryReservation(const MemoryReservation&) = delete;
  MemoryReservation& operator=(const MemoryReservation&) = delete;
  MemoryReservation& operator=(MemoryReservation&&) = delete;
  ~MemoryReservation() {
    if (budget_ != nullptr) budget_->release(bytes_);
  }

 private:
  std::shared_ptr<MemoryBudget> budget_;
  std::int64_t bytes_;
};

/// A tile that is still worked on; counts against the limit.
struct CountedTile {
  MemoryReservation reservation;
  Tile tile;
};

}  // namespace eindb
