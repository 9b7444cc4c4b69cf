#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "executor/thread_home.hpp"

namespace eindb {

/// The threads of this process that help callers of run(). They are started on demand, up to the number that the widest
/// statement so far could use, and at least one per core. If the system allows no more threads, the existing ones do
/// the work; without any, the caller does it. Idle threads sleep.
///
/// A helper is kept off the processor of its caller (ThreadHome).
///
///     caller                         helpers
///     run(3, work)  -- announce -->  work(1), work(2), as they become free
///     work(0)
///     withdraws what none has begun, waits for the rest
///
/// Thread-safe. run() allocates no memory except for new threads.
class HelperThreads {
 public:
  static HelperThreads& instance();

  HelperThreads();
  ~HelperThreads();
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  /// Calls work(0) in this thread and work(1) ... work(count - 1) in others, as they become free. Calls that have not
  /// begun when work(0) ends are skipped. Returns when all calls that have begun have ended. Rethrows exceptions of
  /// work(0); the other calls must not throw.
  void run(std::size_t count, const std::function<void(std::size_t)>& work);

  /// The number of threads started.
  std::size_t size();

 private:
  struct Call {
    const std::function<void(std::size_t)>& work;
    std::size_t next;  // number of the next call to begin
    std::size_t count;
    std::size_t running = 0;
    Call* behind = nullptr;  // announced later
  };

  enum class Doing : std::uint8_t { Helping, LookingOut, Sleeping };

  struct Helper {
    std::thread thread;
    std::condition_variable wake;
    Doing doing = Doing::LookingOut;
    ThreadHome home;
    Helper* below = nullptr;  // of the sleeping helpers
  };

  void announce(Call& call);
  void withdraw(Call& call);
  void remove(Call& call);
  void start_threads(std::size_t wanted);
  void help(Helper& self);
  void help_with(Call& call, Helper& self, std::unique_lock<std::mutex>& lock);
  void rest(Helper& self, std::unique_lock<std::mutex>& lock);

  const pid_t process_;
  std::atomic<std::uint64_t> announced_ = 0;  // total number of announced calls
  std::mutex mutex_;                          // guards the members below
  std::condition_variable ended_;             // signals that a helper has ended its part of a call
  Call* first_ = nullptr;                     // of the calls with parts that have not begun
  std::list<Helper> helpers_;
  Helper* sleeping_ = nullptr;  // those that slept last first
  std::size_t idle_ = 0;        // the number of them
  bool ends_ = false;
};

}  // namespace eindb
