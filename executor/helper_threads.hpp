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

namespace eindb {

/// The threads of this process that help those who run statements. They are started when they are first wanted, as many
/// as the widest statement so far has had use for and at least as there are cores; where the system lets no more begin,
/// those there are do the work, and if there are none the caller does it. Idle ones sleep.
///
///     caller                         helpers
///     run(3, work)  -- announce -->  work(1), work(2), as they become free
///     work(0)
///     withdraws what none has begun, waits for the rest
///
/// Thread-safe. Nothing of run() takes memory but what a new thread does.
class HelperThreads {
 public:
  static HelperThreads& instance();

  HelperThreads();
  ~HelperThreads();
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  /// Calls work(0) in this thread and work(1) ... work(count - 1) in others, as they become free; those that none has
  /// begun when work(0) ends are not made. Returns when all that were begun have ended. Throws what work(0) does;
  /// the others throw nothing.
  void run(std::size_t count, const std::function<void(std::size_t)>& work);

  /// Threads that were started.
  std::size_t size();

 private:
  struct Call {
    const std::function<void(std::size_t)>& work;
    std::size_t next;  // to be begun
    std::size_t count;
    std::size_t running = 0;
    Call* behind = nullptr;  // announced after it
  };

  void announce(Call& call);
  void withdraw(Call& call);
  void remove(Call& call);
  void start_threads(std::size_t wanted);
  void help();
  void help_with(Call& call, std::unique_lock<std::mutex>& lock);
  void rest(std::unique_lock<std::mutex>& lock);

  const pid_t process_;
  std::atomic<std::uint64_t> announced_ = 0;  // calls, all in all
  std::mutex mutex_;                          // guards what follows
  std::condition_variable wake_;
  std::condition_variable ended_;  // a helper's part of a call
  Call* first_ = nullptr;          // of those of which something is to be begun
  std::list<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ends_ = false;
};

}  // namespace eindb
