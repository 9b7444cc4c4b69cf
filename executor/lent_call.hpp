#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "executor/kernels/lent_threads.hpp"

namespace eindb {

/// A kernel's call that idle workers of a plan's run help with. The thread that runs the call computes with for_each()
/// what has parts; helpers come to help(), take parts of one loop after the other, and go when none has come for a
/// while.
///
///     call:     for_each  0 2     wait   ...alone...   for_each  0 1 3  wait
///     helper:   help        1 3      looks out                    2        looks out, goes
///
/// Thread-safe, except that for_each() is of the thread that runs the call, which also closes it at the end.
class LentCall : public LentThreads {
 public:
  /// At most so many helpers come; `summon` is called when there are parts and fewer have come.
  LentCall(std::int64_t most_helpers, std::function<void()> summon);

  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) override;
  /// Helpers go, and none comes any more.
  void close() { closed_ = true; }

  /// Whether a helper would find a part and a place.
  bool wants_help() const { return !closed_ && has_parts_ && helpers_ < most_helpers_; }
  /// Takes a helper's place, before help(); false if there is none.
  bool enter();
  /// Works on parts, in the thread of a helper.
  void help();

 private:
  void work(std::unique_lock<std::mutex>& lock);

  const std::int64_t most_helpers_;
  const std::function<void()> summon_;
  std::atomic<bool> closed_{false};
  std::atomic<bool> has_parts_{false};
  std::atomic<std::int64_t> helpers_{0};
  std::atomic<std::uint64_t> loops_{0};  // begun so far
  std::mutex mutex_;                     // guards the members below
  const std::function<void(std::int64_t)>* task_ = nullptr;
  std::int64_t next_ = 0;
  std::int64_t count_ = 0;
  std::atomic<std::int64_t> running_{0};  // parts that have begun and not ended
  std::exception_ptr error_;
  std::condition_variable ended_;  // signals that no part runs
};

}  // namespace eindb
