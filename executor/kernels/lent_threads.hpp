#pragma once

#include <cstdint>
#include <functional>

namespace eindb {

/// The threads that the executor lends to a kernel's call that works on its own for long, as the factorisation of a
/// large matrix does: those that have nothing else to do. They come and go as they like.
class LentThreads {
 public:
  LentThreads() = default;
  virtual ~LentThreads() = default;
  LentThreads(const LentThreads&) = delete;
  LentThreads& operator=(const LentThreads&) = delete;

  /// Calls task(0) ... task(count - 1), in any order, in this thread and in those that have come. Returns when all are
  /// done; the first exception is rethrown, and tasks that have not begun then are left out.
  virtual void for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) = 0;

  /// During its lifetime, for_each_part() in the same thread uses these threads. Scopes nest.
  class Scope {
   public:
    explicit Scope(LentThreads* threads) : outer_(current_) { current_ = threads; }
    ~Scope() { current_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LentThreads* outer_;
  };
  /// Those of the innermost scope of this thread; null without one.
  static LentThreads* of_this_thread() { return current_; }

 private:
  static inline constinit thread_local LentThreads* current_ = nullptr;
};

/// Calls task(0) ... task(count - 1): on lent threads, or in order in this one where none are lent, and where all take
/// too little time for others to come. `operations` is a rough number of floating-point operations of all, in loops
/// that find their operands in the caches. The threads that help have none lent to them, so that parts of parts are
/// computed in order.
inline void for_each_part(std::int64_t count, std::int64_t operations, const std::function<void(std::int64_t)>& task) {
  constexpr std::int64_t kTooFewOperations = 1 << 18;  // some ten microseconds
  auto* threads = operations < kTooFewOperations ? nullptr : LentThreads::of_this_thread();
  if (threads != nullptr && count > 1) {
    const LentThreads::Scope none(nullptr);
    return threads->for_each(count, task);
  }
  for (std::int64_t n = 0; n < count; ++n) task(n);
}

}  // namespace eindb
