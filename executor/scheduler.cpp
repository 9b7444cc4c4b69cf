#include "executor/scheduler.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "common/check.hpp"
#include "executor/helper_threads.hpp"

namespace eindb {
namespace {

/// The tasks of one loop, which several threads take one at a time.
class ParallelLoop {
 public:
  ParallelLoop(std::int64_t count, const std::function<void(std::int64_t)>& task) : count_(count), task_(task) {}

  void run() noexcept {
    try {
      for (auto n = next_.fetch_add(1); n < count_; n = next_.fetch_add(1)) task_(n);
    } catch (...) {
      next_.store(count_);
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  /// Call when no thread runs any more.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::int64_t count_;
  const std::function<void(std::int64_t)>& task_;
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_;  // guards error_
  std::exception_ptr error_;
};

}  // namespace

Scheduler::Scheduler(int threads) : threads_(threads) {
  CHECK(threads > 0, "a scheduler has the thread of its caller");
}

void Scheduler::for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) const {
  if (threads_ == 1 || count < 2) {
    for (std::int64_t n = 0; n < count; ++n) task(n);
    return;
  }
  ParallelLoop loop(count, task);
  const auto threads = std::min<std::int64_t>(threads_, count);
  HelperThreads::instance().run(static_cast<std::size_t>(threads), [&loop](std::size_t) { loop.run(); });
  loop.rethrow();
}

void Scheduler::run_workers(const std::function<void(std::size_t)>& work) const {
  if (threads_ == 1) return work(0);
  HelperThreads::instance().run(static_cast<std::size_t>(threads_), work);
}

}  // namespace eindb
