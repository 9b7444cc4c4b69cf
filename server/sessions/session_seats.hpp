#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "common/check.hpp"

namespace eindb {

/// Limits the number of sessions. Some seats are reserved for administrators, who can then log in when all other seats
/// are taken. Thread-safe; must outlive its seats.
class SessionSeats {
 public:
  /// The destructor returns the seat.
  class Seat {
   public:
    explicit Seat(SessionSeats& seats) : seats_(&seats) {}
    Seat(Seat&& other) noexcept : seats_(std::exchange(other.seats_, nullptr)) {}
    Seat& operator=(Seat&& other) noexcept {
      std::swap(seats_, other.seats_);
      return *this;
    }
    ~Seat() {
      if (seats_ != nullptr) seats_->taken_.fetch_sub(1, std::memory_order_relaxed);
    }

   private:
    SessionSeats* seats_;
  };

  explicit SessionSeats(std::size_t most = std::numeric_limits<std::size_t>::max()) : most_(most) {}

  /// nullopt if no seat is free for such a client.
  std::optional<Seat> take(bool administrator = true) {
    const auto most = administrator ? most_ : most_ - std::min(kReserved, most_ / kReservedShare);
    auto taken = taken_.load(std::memory_order_relaxed);
    CHECK(taken <= most_, "no more seats are taken than there are");
    do {
      if (taken >= most) return std::nullopt;
    } while (!taken_.compare_exchange_weak(taken, taken + 1, std::memory_order_relaxed));
    return Seat(*this);
  }

 private:
  static constexpr std::size_t kReserved = 3;
  static constexpr std::size_t kReservedShare = 10;  // divisor: at most a tenth is reserved

  const std::size_t most_;
  std::atomic<std::size_t> taken_{0};
};

}  // namespace eindb
