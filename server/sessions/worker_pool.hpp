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

/// Threads that run clients' statements. Most statements are short, and waking a thread costs more than running one. A
/// task therefore waits for an awake thread if one will be free soon, while other threads sleep:
///
///     post --a thread is free soon--> it waits its turn, microseconds
///          '--none is, or the turn would come late--> another thread is woken
///
/// A long task no longer counts as running once the watch detects it. The watch is an idle thread that checks
/// periodically while any short task runs. A task that waits for other tasks declares that (Waiting), and another
/// thread takes its place, so waiting tasks never block the tasks they wait for.
///
/// Each user has a queue, and the users take turns. Endless tasks cannot lock others out: a user's share is the number
/// of threads divided by the number of active users, and a user with fewer running tasks soon gets a thread. If all
/// running tasks are long, the pool adds a thread for this. One thread is always in reserve. Thread-safe.
class WorkerPool {
 public:
  using Task = std::function<void()>;

  /// While it lives, the pool's thread that created it does not count as running. At most one per thread.
  class Waiting {
   public:
    explicit Waiting(WorkerPool& pool);
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    WorkerPool& pool_;
  };

  /// `threads`: the number of tasks that run at a time, not counting those that wait and the additional threads for
  /// users' shares. `afterwards` is called after each task in its thread, and must not throw.
  explicit WorkerPool(std::size_t threads, Task afterwards = nullptr);
  /// Calls join().
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs the task on some thread, in the order of the user's posts, except that tasks do not wait for long ones. Tasks
  /// must not throw.
  void post(Task task, std::string_view user = {});
  /// Returns once all posted tasks have run. Nothing may be posted afterwards.
  void join();

 private:
  using Clock = std::chrono::steady_clock;

  // The tasks of one user.
  struct Load {
    std::deque<Task> tasks;
    std::size_t begun = 0;    // started and not ended
    std::size_t waiting = 0;  // started tasks that wait

    bool is_active() const { return begun > 0 || !tasks.empty(); }
    std::size_t running() const { return begun - waiting; }
  };

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  struct Worker {
    std::thread thread = {};
    Load* load = nullptr;  // of the user of the running task
    bool busy = false;
    bool long_run = false;    // its task is not counted as running
    std::uint64_t since = 0;  // number of the watch's check before which its task began
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
  // One more than the number of threads that can run tasks.
  std::size_t wanted() const { return std::max(count_, running_) + waiting_ + 1; }
  // The invariants of the counts.
  bool is_valid() const;
  bool one_too_many() const { return workers_.size() > wanted(); }

  static thread_local Worker* current_;  // of this thread; null: it belongs to no pool

  const std::size_t count_;
  const Task afterwards_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable work_;
  std::condition_variable ended_;  // signals that a worker has ended
  std::unordered_map<std::string, Load, TextHash, std::equal_to<>> loads_;
  std::deque<Load*> turns_;    // of users with tasks, without duplicates
  std::size_t queued_ = 0;     // queued tasks of all users
  std::size_t active_ = 0;     // users with running or queued tasks
  std::size_t running_ = 0;    // started tasks that do not wait
  std::size_t long_runs_ = 0;  // long tasks among them
  Workers workers_;
  Workers done_;                // to be joined
  std::size_t waiting_ = 0;     // waiting threads with a replacement
  std::size_t idle_ = 0;        // asleep, including the watch
  std::size_t awake_ = 0;       // neither asleep nor in a long task
  std::uint64_t looks_ = 0;     // number of the watch's checks
  Clock::duration typical_{0};  // recent time of a task
  bool has_watch_ = false;
  bool ends_ = false;
};

}  // namespace eindb
