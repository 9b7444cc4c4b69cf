#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace eindb {

/// Runs tasks on a fixed number of threads (a oneTBB arena). One per session.
/// With one thread every task runs in the caller's thread, in order.
class Scheduler {
 public:
  explicit Scheduler(int threads);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  int threads() const { return threads_; }

  /// Calls task(0) ... task(count - 1), in any order, and returns when all are done. The first exception stops the
  /// tasks that have not begun and is thrown here.
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& task);

  /// Calls work(0) in the caller's thread and, as threads become free, work(1) ... work(threads() - 1) in others, and
  /// returns when all have. A call may begin late, after the others have ended. `work` throws nothing.
  void run_workers(const std::function<void(std::size_t)>& work);

 private:
  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace eindb
