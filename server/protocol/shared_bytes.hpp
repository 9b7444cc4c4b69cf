#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>

namespace eindb {

/// A limit on the memory that a server holds for all its clients together. Thread-safe.
class SharedBytes {
 public:
  explicit SharedBytes(std::size_t most = std::numeric_limits<std::size_t>::max()) : most_(most) {}

  /// Returns false if fewer bytes are left.
  bool try_take(std::size_t bytes) noexcept {
    auto taken = taken_.load(std::memory_order_relaxed);
    do {
      if (bytes > most_ - taken) return false;
    } while (!taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::size_t bytes) noexcept { taken_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t most() const { return most_; }

 private:
  const std::size_t most_;
  std::atomic<std::size_t> taken_{0};
};

/// A reserved part of SharedBytes. The destructor returns it. Not thread-safe.
class BytesTaken {
 public:
  BytesTaken() = default;
  ~BytesTaken() { give_back(); }
  BytesTaken(BytesTaken&& other) noexcept : from_(std::move(other.from_)), bytes_(std::exchange(other.bytes_, 0)) {}
  BytesTaken& operator=(BytesTaken&& other) noexcept {
    std::swap(from_, other.from_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  /// Replaces the reservation. On failure returns false and reserves nothing.
  bool try_take(std::shared_ptr<SharedBytes> from, std::size_t bytes) {
    give_back();
    if (from == nullptr || !from->try_take(bytes)) return from == nullptr;
    from_ = std::move(from);
    bytes_ = bytes;
    return true;
  }
  void give_back() noexcept {
    if (from_ != nullptr) from_->give_back(std::exchange(bytes_, 0));
    from_ = nullptr;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<SharedBytes> from_;
  std::size_t bytes_ = 0;
};

}  // namespace eindb
