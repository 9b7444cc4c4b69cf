#pragma once

#include <atomic>
#include <chrono>

namespace eindb {

/// Asks a running statement to stop. `request` may be called from any thread and from a signal handler;
/// the statement looks at `check` once per tile. Owned by the session, reset at the start of each statement.
class Cancellation {
 public:
  using Clock = std::chrono::steady_clock;

  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  /// Forgets requests; `timeout` of zero means none.
  void reset(std::chrono::milliseconds timeout) noexcept;
  /// Throws Error{Cancelled} after a request or past the deadline.
  void check() const;

 private:
  std::atomic<bool> requested_{false};
  std::atomic<Clock::rep> deadline_{0};  // since the clock's epoch; 0: none
};

}  // namespace eindb
