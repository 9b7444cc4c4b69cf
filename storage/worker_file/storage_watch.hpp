#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <mutex>

namespace eindb {

/// Whether a disk answers: what is asked of it is registered here for as long as that takes, and says whenever it has
/// got on a little. A disk that is slow gets on; one that hangs does not. Thread-safe; never waits for the disk itself.
class StorageWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// Something is asked of the disk, by one thread, until it is destroyed. Whoever waits for another thread's turn at
  /// the disk registers afterwards.
  class Operation {
   public:
    explicit Operation(StorageWatch& watch);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    /// It gets on.
    void note_progress() noexcept;

   private:
    StorageWatch& watch_;
    std::list<Clock::time_point>::iterator place_;
  };

  /// For how long the operation that hangs longest has not got on; 0: nothing is asked of the disk.
  std::chrono::milliseconds silence() const;

  /// For tests of what a disk does that hangs: called in the thread of each operation from now on, once the operation
  /// is registered. May wait.
  void intercept(std::function<void()> intercept);

 private:
  mutable std::mutex mutex_;               // guards what follows
  std::list<Clock::time_point> progress_;  // of each operation, when it got on last
  std::function<void()> intercept_;
};

}  // namespace eindb
