#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace eindb {

/// What malloc keeps of memory that was given back: left alone it keeps what each thread has needed at most, ever. Has
/// it give memory back to the system where that is much. One in a process. Thread-safe.
class FreedMemory {
 public:
  /// malloc keeps about `bytes` from now on, for so many threads that work at a time.
  void limit(std::int64_t bytes, int threads);
  /// After work: every now and then, looks whether malloc keeps too much.
  void look();

 private:
  std::int64_t bytes_ = 0;
  std::atomic<std::int64_t> next_look_{0};  // of the steady clock
};

}  // namespace eindb
