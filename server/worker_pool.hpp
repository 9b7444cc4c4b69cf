#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace eindb {

/// Threads that run clients' statements, most of which are short: to wake a thread costs more than to run one. So what
/// comes in waits for a thread that is awake as long as that is soon enough, and others sleep:
///
///     post --a thread is free soon--> it waits its turn, microseconds
///          '--none is, or the turn would come late--> another thread is woken
///
/// What runs long takes its thread out of the count, as soon as a watch sees it: one of the idle threads, which looks
/// from time to time while anything short runs. Thread-safe.
class WorkerPool {
 public:
  using Task = std::function<void()>;

  explicit WorkerPool(std::size_t threads);
  /// As join().
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs the task on some thread, in the order of posts but for what runs long. Tasks do not throw.
  void post(Task task);
  /// Returns when all that was posted has run; nothing may be posted any more.
  void join();

 private:
  using Clock = std::chrono::steady_clock;

  struct Worker {
    bool busy = false;
    bool long_run = false;    // what it runs is out of the count
    std::uint64_t since = 0;  // the look of the watch before which it began
  };

  void run(Worker& self);
  void run_one(std::unique_lock<std::mutex>& lock, Worker& self);
  void rest(std::unique_lock<std::mutex>& lock);
  bool watch(std::unique_lock<std::mutex>& lock);
  void look();
  bool needs_another() const;

  std::mutex mutex_;  // guards all below but the threads
  std::condition_variable work_;
  std::deque<Task> tasks_;
  std::vector<Worker> workers_;
  std::size_t idle_ = 0;        // asleep, the watch among them
  std::size_t awake_ = 0;       // not asleep, and not in what runs long
  std::uint64_t looks_ = 0;     // of the watch
  Clock::duration typical_{0};  // time of a task, of late
  bool has_watch_ = false;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace eindb
