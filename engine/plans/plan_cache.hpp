#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engine/plans/plan_lookups.hpp"
#include "engine/plans/plan_source.hpp"

namespace eindb {

struct LatestClusterPlan;
struct QueryPlan;

/// A plan and what it was made of, beside its key.
struct CachedPlan {
  std::shared_ptr<const QueryPlan> plan;
  std::shared_ptr<LatestClusterPlan> for_cluster;  ///< never null; what it takes comes and goes
  PlanLookups lookups;
  std::uint64_t data_version = 0;  ///< of the database when the lookups were last found to hold
  std::size_t bytes = 0;           ///< roughly, of the plan
};

/// The plans of one session's queries, by key, the least recently used ones dropped first.
///
///     text -> syntax tree -> key -> CachedPlan -> do its lookups still hold? -> plan
///
/// A key is whatever the plan depends on that is known without a look at the database: the query (query_key), what its
/// result is wanted as, the settings that shape plans, the types of parameters and the values of those that shape the
/// plan. What it depends on beyond that are tensors and macros by name: the lookups, verified at each use. Values of
/// tensors are no part of a plan. Whoever lets planning depend on more adds it to the one or the other.
///
/// Beside the plan of a query stands what it was last lowered to for a cluster (engine/plans/cluster_plan), which
/// depends on who is up, too. That is looked at when the query runs, and made again as often as need be while the entry
/// stays.
///
/// Plans are immutable; one that is in use outlives its entry. Threads: one, that of the session.
class PlanCache {
 public:
  struct Counters {
    std::int64_t hits = 0;
    std::int64_t misses = 0;         ///< plans made while the cache was on; those that no longer held count here too
    std::int64_t evictions = 0;      ///< plans dropped to make room
    std::int64_t worker_hits = 0;    ///< executions for which the plan for workers was there
    std::int64_t worker_misses = 0;  ///< those for which it was made while the cache was on
  };

  /// Bytes of all plans together that are kept, whatever their number. A plan of more than a quarter is not kept.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

  explicit PlanCache(std::size_t most_bytes = kMaxBytes) : most_bytes_(most_bytes) {}

  /// Keeps at most `entries` plans from now on.
  void resize(std::size_t entries);

  /// The plan of this key if there is one and it `holds`; else null, and it is forgotten. Counts a hit or a miss. Valid
  /// until the cache is used again.
  const CachedPlan* find(std::string_view key, const std::function<bool(CachedPlan&)>& holds);
  /// The key is not in the cache.
  void insert(std::string key, CachedPlan plan);

  /// Counts a hit or a miss of a plan for workers, and says which it is.
  PlanSource count_for_cluster(bool is_hit);
  /// What is kept for a cluster beside this plan, if the plan is in the cache, takes more or less than it did.
  void count_again(const QueryPlan& plan);

  std::size_t size() const { return entries_.size(); }
  std::size_t bytes() const { return bytes_; }
  const Counters& counters() const { return counters_; }

 private:
  struct Entry {
    std::string key;
    CachedPlan cached;
    std::size_t for_cluster = 0;  // bytes
    std::size_t bytes() const { return sizeof *this + key.size() + cached.bytes + for_cluster; }
  };
  using Entries = std::list<Entry>;

  void erase(Entries::iterator entry);
  void make_room();
  bool is_valid() const;

  std::size_t most_bytes_;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
  Entries entries_;                                                 // the most recently used first
  std::unordered_map<std::string_view, Entries::iterator> by_key_;  // of keys in entries_
  Counters counters_;
};

}  // namespace eindb
