#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/settings/admission.hpp"
#include "engine/tensors/tile_cache_pool.hpp"
#include "server/sessions/worker_pool.hpp"

namespace eindb {

/// Decides which statements of all clients run, and divides the server's memory among them.
///
/// Light work needs little memory and a few milliseconds; it begins at once. Heavy work uses all cores, so that more
/// than a few statements at a time would only slow each other down. It waits in one line per user, and the lines take
/// turns (round robin), so a thousand statements of one user delay another user's statements one by one. Nobody
/// overtakes within a line, however much memory its first statement needs. Urgent work, of the session that holds the
/// write lock, waits only for memory.
///
/// Memory is never promised twice:
///
///     light work   an eighth; what does not fit counts as heavy
///     heavy work   the rest, results included until they are fetched
///     tile caches  what these leave free, at most a quarter
///
/// Thread-safe; must outlive its admissions.
class FairQueue final : public AdmissionGate {
 public:
  struct Limits {
    std::int64_t memory;       ///< bytes for all statements and caches
    int heavy;                 ///< number of heavy statements that run at a time
    double light_seconds;      ///< longer work is heavy
    std::int64_t light_bytes;  ///< work that may use more is heavy
    /// How long to wait for memory that only clients can free, by fetching results.
    std::chrono::milliseconds patience = std::chrono::seconds(5);
  };
  struct Waiting {
    ClientUser user;
    std::chrono::steady_clock::time_point since;
  };
  struct Counts {
    int running = 0;  ///< number of heavy statements
    int waiting = 0;
    std::int64_t heavy_bytes = 0;  ///< reserved
    std::int64_t light_bytes = 0;
    std::int64_t cached_bytes = 0;
  };

  /// `threads`: the pool whose threads call admit().
  FairQueue(const Limits& limits, std::shared_ptr<TileCachePool> caches, WorkerPool& threads);
  ~FairQueue() override;

  std::unique_ptr<Admission> admit(const ClientUser& user, const Work& work, const Cancellation& cancellation) override;

  /// The most memory that one statement can have.
  static std::int64_t most_for_one(std::int64_t memory) { return memory - memory / kLightShare; }
  /// The most memory that tile caches keep.
  static std::int64_t most_for_caches(std::int64_t memory) { return memory / kCacheShare; }

  /// The waiting statements, by user in the order of their turns.
  std::vector<Waiting> waiting() const;
  Counts counts() const;

 private:
  class Leave;
  struct Waiter {
    const ClientUser& user;
    const Work& work;
    std::chrono::steady_clock::time_point since;
    bool admitted = false;
  };
  struct Line {
    std::string user;
    std::deque<Waiter*> waiters;
  };

  // Divisors for parts of the memory.
  static constexpr std::int64_t kLightShare = 8;
  static constexpr std::int64_t kCacheShare = 4;

  std::unique_ptr<Admission> admit_light(const Work& work);
  void wait(Waiter& waiter, const Cancellation& cancellation);
  void line_up(Waiter& waiter);
  void leave_line(Waiter& waiter) noexcept;
  void admit_next();
  bool try_admit(Waiter& waiter);
  bool is_hopeless(const Waiter& waiter) const;
  void fit_caches();
  /// The invariants of the members. Call with mutex_ held.
  bool is_valid() const;
  void give_back(bool heavy, bool ran, std::int64_t bytes) noexcept;

  const Limits limits_;
  const std::shared_ptr<TileCachePool> caches_;
  WorkerPool& threads_;
  mutable std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::list<Line> lines_;  // none is empty; the first has the next turn
  std::deque<Waiter*> urgent_;
  int running_ = 0;                              // number of heavy statements
  std::chrono::steady_clock::time_point freed_;  // last time that memory or cores were returned
  std::int64_t heavy_bytes_ = 0;
  std::int64_t light_bytes_ = 0;
};

}  // namespace eindb
