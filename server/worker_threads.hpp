#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace eindb {

/// Threads that run tasks: at most a number of them at a time, not counting those that wait for something that other
/// tasks must bring (Waiting). As many more are started then, so that tasks which wait never keep those away that would
/// let them go on. Thread-safe.
class WorkerThreads {
 public:
  explicit WorkerThreads(std::size_t count) : count_(count) {}
  ~WorkerThreads() { join(); }
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  /// Runs `task` when a thread is free. It throws nothing. Not after join().
  void post(std::function<void()> task);
  /// Returns when all tasks are done.
  void join();

  /// While it lives, the thread that made it, one of these, does not count.
  class Waiting {
   public:
    explicit Waiting(WorkerThreads& threads);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    WorkerThreads& threads_;
  };

 private:
  void run(std::list<std::thread>::iterator self);
  void start_as_needed();

  const std::size_t count_;
  std::mutex mutex_;                 // guards what follows
  std::condition_variable changed_;  // there are tasks, or it ends
  std::condition_variable ended_;    // a thread
  std::deque<std::function<void()>> tasks_;
  std::list<std::thread> threads_;
  std::list<std::thread> done_;  // to be joined
  std::size_t idle_ = 0;         // threads without a task
  std::size_t waiting_ = 0;      // threads that do not count
  bool ends_ = false;
};

}  // namespace eindb
