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

/// Decides which statements of all clients run, and shares the server's memory out to them.
///
/// Light work begins at once: little memory, and over within milliseconds. Heavy work takes all cores by itself, so
/// that more than a few at a time would only slow each other down: it waits in line, one line for each user, and the
/// first of each line has its turn after those of all other users (round robin). A user's thousand statements thus
/// delay another's one by one. Nobody overtakes within a line, however much memory the first one needs. Urgent work,
/// of the one session that keeps others from writing, waits for memory alone.
///
/// Memory, of which nothing is promised twice:
///
///     light work   an eighth; what does not fit counts as heavy
///     heavy work   the rest, results included until they are fetched
///     tile caches  what these leave free, at most a quarter
///
/// Thread-safe; outlives what it admitted.
class FairQueue final : public AdmissionGate {
 public:
  struct Limits {
    std::int64_t memory;       ///< bytes, of all statements and caches
    int heavy;                 ///< heavy statements that run at a time
    double light_seconds;      ///< what takes longer is heavy
    std::int64_t light_bytes;  ///< what may take more is heavy
    /// How long memory that only clients could free, by fetching results, is waited for.
    std::chrono::milliseconds patience = std::chrono::seconds(5);
  };
  struct Waiting {
    ClientUser user;
    std::chrono::steady_clock::time_point since;
  };
  struct Counts {
    int running = 0;  ///< heavy statements
    int waiting = 0;
    std::int64_t heavy_bytes = 0;  ///< promised
    std::int64_t light_bytes = 0;
    std::int64_t cached_bytes = 0;
  };

  /// `threads`: those that call admit().
  FairQueue(const Limits& limits, std::shared_ptr<TileCachePool> caches, WorkerPool& threads);
  ~FairQueue() override;

  std::unique_ptr<Admission> admit(const ClientUser& user, const Work& work, const Cancellation& cancellation) override;

  /// The most that one statement can have.
  static std::int64_t most_for_one(std::int64_t memory) { return memory - memory / kLightShare; }
  /// The most that tile caches keep.
  static std::int64_t most_for_caches(std::int64_t memory) { return memory / kCacheShare; }

  /// Those that wait, user by user in the order of their turns.
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

  // Parts of the memory, inverted.
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
  /// What the members promise each other, with mutex_ held.
  bool is_valid() const;
  void give_back(bool heavy, bool ran, std::int64_t bytes) noexcept;

  const Limits limits_;
  const std::shared_ptr<TileCachePool> caches_;
  WorkerPool& threads_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::list<Line> lines_;  // none is empty; the first one has its turn
  std::deque<Waiter*> urgent_;
  int running_ = 0;                              // heavy
  std::chrono::steady_clock::time_point freed_;  // when something was given back last
  std::int64_t heavy_bytes_ = 0;
  std::int64_t light_bytes_ = 0;
};

}  // namespace eindb
