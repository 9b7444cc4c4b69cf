#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

namespace eindb {

/// Threads that run clients' statements, most of which are short: to wake a thread costs more than to run one. So what
/// comes in waits for a thread that is awake as long as that is soon enough, and others sleep:
///
///     post --a thread is free soon--> it waits its turn, microseconds
///          '--none is, or the turn would come late--> another thread is woken
///
/// What runs long takes its thread out of the count, as soon as a watch sees it: one of the idle threads, which looks
/// from time to time while anything short runs. What waits for something that other tasks must bring says so (Waiting),
/// and there is another thread in its place: tasks that wait never keep those away that would let them go on.
/// Thread-safe.
class WorkerPool {
 public:
  using Task = std::function<void()>;

  /// While it lives, the thread that made it, one of these, is not one of as many as the pool has.
  class Waiting {
   public:
    explicit Waiting(WorkerPool& pool);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    WorkerPool& pool_;
  };

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
    std::thread thread = {};
    bool busy = false;
    bool long_run = false;    // what it runs is out of the count
    std::uint64_t since = 0;  // the look of the watch before which it began
  };

  using Workers = std::list<Worker>;

  void start_worker();
  void run(Workers::iterator self);
  void run_one(std::unique_lock<std::mutex>& lock, Worker& self);
  void rest(std::unique_lock<std::mutex>& lock);
  bool watch(std::unique_lock<std::mutex>& lock);
  void look();
  bool needs_another() const;
  bool one_too_many() const { return workers_.size() > count_ + waiting_; }

  static thread_local Worker* current_;  // that of this thread; null: it is none of a pool

  const std::size_t count_;
  std::mutex mutex_;  // guards all below
  std::condition_variable work_;
  std::condition_variable ended_;  // a worker has
  std::deque<Task> tasks_;
  Workers workers_;
  Workers done_;                // to be joined
  std::size_t waiting_ = 0;     // those for whom there is another
  std::size_t idle_ = 0;        // asleep, the watch among them
  std::size_t awake_ = 0;       // not asleep, and not in what runs long
  std::uint64_t looks_ = 0;     // of the watch
  Clock::duration typical_{0};  // time of a task, of late
  bool has_watch_ = false;
  bool ends_ = false;
};

}  // namespace eindb
