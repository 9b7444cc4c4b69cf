#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <mutex>

namespace eindb {

/// Measures whether a disk responds. Each disk operation registers here for its duration and reports progress. A slow
/// disk makes progress; a hanging one does not. Thread-safe; never waits for the disk itself.
class StorageWatch {
 public:
  using Clock = std::chrono::steady_clock;

  /// An operation on the disk by one thread, from construction to destruction. A thread that waits for its turn at the
  /// disk registers only afterwards.
  class Operation {
   public:
    explicit Operation(StorageWatch& watch);
    ~Operation();
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    /// Reports progress.
    void note_progress() noexcept;

   private:
    StorageWatch& watch_;
    std::list<Clock::time_point>::iterator place_;
  };

  /// The longest time since any operation made progress; 0 if there is no operation.
  std::chrono::milliseconds silence() const;

  /// For tests of a hanging disk: `intercept` is called in the thread of each later operation, after it is registered.
  /// It may wait.
  void intercept(std::function<void()> intercept);

 private:
  mutable std::mutex mutex_;               // guards the members below
  std::list<Clock::time_point> progress_;  // time of the last progress of each operation
  std::function<void()> intercept_;
};

}  // namespace eindb
