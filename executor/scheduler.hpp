#pragma once

#include <cstdint>
#include <functional>

namespace eindb {

/// Runs tasks on up to a number of threads: the caller's, and others of the process (HelperThreads). One per session.
/// With one thread every task runs in the caller's thread, in order.
class Scheduler {
 public:
  explicit Scheduler(int threads);

  int threads() const { return threads_; }

  /// Calls task(0) ... task(count - 1), in any order, and returns when all are done. The first exception stops the
  /// tasks that have not begun and is thrown here.
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) const;

  /// Calls work(0) in the caller's thread and, as threads become free, work(1) ... work(threads() - 1) in others, and
  /// returns when all that have begun have ended. Others than work(0) may never begin, and throw nothing.
  void run_workers(const std::function<void(std::size_t)>& work) const;

 private:
  int threads_;
};

}  // namespace eindb
