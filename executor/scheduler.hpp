#pragma once

#include <cstdint>
#include <functional>

namespace eindb {

/// Runs tasks on a limited number of threads: the caller's, and others of the process (HelperThreads). One per session.
/// With one thread every task runs in the caller's thread, in order.
class Scheduler {
 public:
  explicit Scheduler(int threads);

  int threads() const { return threads_; }

  /// Calls task(0) ... task(count - 1) in any order, and returns when all are done. The first exception cancels the
  /// tasks that have not begun and is rethrown here.
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) const;

  /// Calls work(0) in the caller's thread and, as threads become free, work(1) ... work(threads() - 1) in others.
  /// Returns when all calls that have begun have ended. Calls other than work(0) may be skipped, and must not throw.
  void run_workers(const std::function<void(std::size_t)>& work) const;

 private:
  int threads_;
};

}  // namespace eindb
