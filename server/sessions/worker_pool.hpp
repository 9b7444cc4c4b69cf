#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

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
///
/// Users have a line each and take turns. Nobody locks others out with what never ends: whoever runs less than his
/// share, the pool's threads over the users who have anything to run, begins soon, by a thread more than the pool has
/// where all of those run long. There is always one to spare that nobody has. Thread-safe.
class WorkerPool {
 public:
  using Task = std::function<void()>;

  /// While it lives, the thread that made it, one of these, is not one of as many as the pool has. A thread has one.
  class Waiting {
   public:
    explicit Waiting(WorkerPool& pool);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    WorkerPool& pool_;
  };

  /// As many tasks run at a time, but for those that wait, and for users' shares.
  /// `afterwards`: after each of them, in its thread; throws nothing.
  explicit WorkerPool(std::size_t threads, Task afterwards = nullptr);
  /// As join().
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs the task on some thread, in the order of the user's posts but for what runs long. Tasks do not throw.
  void post(Task task, std::string_view user = {});
  /// Returns when all that was posted has run; nothing may be posted any more.
  void join();

 private:
  using Clock = std::chrono::steady_clock;

  // What one user has here.
  struct Load {
    std::deque<Task> tasks;
    std::size_t begun = 0;    // and not ended
    std::size_t waiting = 0;  // of these

    bool is_active() const { return begun > 0 || !tasks.empty(); }
    std::size_t running() const { return begun - waiting; }
  };

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  struct Worker {
    std::thread thread = {};
    Load* load = nullptr;  // of the user whose task runs
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
  Load& load_of(std::string_view user);
  Load& take_turn();
  bool may_run(const Load& load) const;
  bool has_work() const;
  bool needs_watch() const;
  bool needs_another() const;
  void begin_to_wait();
  void end_to_wait();
  // One more than can be running.
  std::size_t wanted() const { return std::max(count_, running_) + waiting_ + 1; }
  // What the counts promise, between two changes of them.
  bool is_valid() const;
  bool one_too_many() const { return workers_.size() > wanted(); }

  static thread_local Worker* current_;  // that of this thread; null: it is none of a pool

  const std::size_t count_;
  const Task afterwards_;
  std::mutex mutex_;  // guards all below
  std::condition_variable work_;
  std::condition_variable ended_;  // a worker has
  std::unordered_map<std::string, Load, TextHash, std::equal_to<>> loads_;
  std::deque<Load*> turns_;    // of those who have tasks, each once
  std::size_t queued_ = 0;     // tasks of all of them
  std::size_t active_ = 0;     // users who have anything to run
  std::size_t running_ = 0;    // tasks that have begun and do not wait
  std::size_t long_runs_ = 0;  // of these
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
