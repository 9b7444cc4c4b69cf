#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace eindb {

/// Limits the freed memory that malloc keeps. By default malloc keeps the largest amount that each thread has ever
/// needed; this returns large amounts to the system. One per process. Thread-safe.
class FreedMemory {
 public:
  /// Sets the limit to about `bytes`, for `threads` threads that work at a time.
  void limit(std::int64_t bytes, int threads);
  /// Call after work: checks now and then whether malloc keeps too much.
  void look();

 private:
  std::int64_t bytes_ = 0;
  std::atomic<std::int64_t> next_look_{0};  // by the steady clock
};

}  // namespace eindb
