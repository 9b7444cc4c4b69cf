#pragma once

#include <atomic>
#include <chrono>

namespace eindb {

/// Asks a running statement to stop. `request` may be called from any thread and from a signal handler. The statement
/// calls `check` once per tile, and polls within long kernels. Owned by the session, reset at the start of each
/// statement.
class Cancellation {
 public:
  using Clock = std::chrono::steady_clock;

  Cancellation() = default;
  /// A cancellation for a part of the work of `whole`, which must outlive it: the part stops when the whole does.
  explicit Cancellation(const Cancellation* whole) noexcept : whole_(whole) {}

  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  /// Discards requests and sets the timeout; zero means none.
  void reset(std::chrono::milliseconds timeout) noexcept;
  /// Throws Error{Cancelled} after a request or past the deadline.
  void check() const;

 private:
  std::atomic<bool> requested_{false};
  std::atomic<Clock::rep> deadline_{0};  // since the clock's epoch; 0: no deadline
  const Cancellation* whole_ = nullptr;
};

/// During its lifetime, poll_cancellation() in the same thread checks `cancellation`. Scopes nest.
class CancellationScope {
 public:
  explicit CancellationScope(const Cancellation& cancellation) : outer_(current_) { current_ = &cancellation; }
  ~CancellationScope() { current_ = outer_; }
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;

 private:
  friend void poll_cancellation();
  static inline constinit thread_local const Cancellation* current_ = nullptr;
  const Cancellation* outer_;
};

/// For loops deep in a kernel that get no Cancellation: calls check() of the innermost scope of this thread, if there
/// is one. Takes some tens of nanoseconds; should be called about once per millisecond of work.
inline void poll_cancellation() {
  if (CancellationScope::current_ != nullptr) CancellationScope::current_->check();
}

}  // namespace eindb
