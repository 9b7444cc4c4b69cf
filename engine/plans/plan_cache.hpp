#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/plans/plan_lookups.hpp"
#include "engine/plans/plan_source.hpp"

namespace eindb {

struct LatestClusterPlan;
struct QueryPlan;

/// A plan and everything it depends on, beside its key.
struct CachedPlan {
  std::shared_ptr<const QueryPlan> plan;
  std::shared_ptr<LatestClusterPlan> for_cluster;  ///< never null; its contents may change
  PlanLookups lookups;
  std::uint64_t data_version = 0;  ///< of the database when the lookups were last verified
  std::size_t bytes = 0;           ///< approximate size of the plan
};

/// The plans of one session's queries, by key. The least recently used plans are dropped first.
///
///     text -> syntax tree -> key -> CachedPlan -> do its lookups still hold? -> plan
///
/// A key has everything that the plan depends on and that is known without reading the database: the query (query_key),
/// the requested form of the result, the settings that shape plans, the types of parameters, and the values of those
/// parameters that shape the plan. The plan also depends on tensors and macros by name: these are the lookups, verified
/// at each use. Values of tensors are no part of a plan. If you let planning depend on anything more, add it to the key
/// or to the lookups. One thing is in neither: the cells that runs of the same plan have found (QueryPlan::observed).
/// A session that finds such a plan outdated drops it, and gives the observed numbers of cells to the new plan.
///
/// Beside the plan of a query the cache keeps its last plan for a cluster (engine/plans/cluster_plan), which also
/// depends on the workers that are up. The query checks it when it runs, and replaces it as often as needed while the
/// entry stays.
///
/// Plans are immutable; a plan in use outlives its entry. Used by the session's thread only.
class PlanCache {
 public:
  struct Counters {
    std::int64_t hits = 0;
    /// Plans made while the cache was on, including replacements of plans that no longer held.
    std::int64_t misses = 0;
    std::int64_t evictions = 0;      ///< plans dropped to make room
    std::int64_t worker_hits = 0;    ///< executions that reused the plan for workers
    std::int64_t worker_misses = 0;  ///< executions that made the plan for workers while the cache was on
  };

  /// The limit for all plans together, in bytes. A plan larger than a quarter of it is not kept.
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;

  /// Plans of one key for different states of what it names, as for a tensor that has one shape now and another then.
  static constexpr std::size_t kMostOfKey = 4;

  explicit PlanCache(std::size_t most_bytes = kMaxBytes) : most_bytes_(most_bytes) {}

  /// Keeps at most `entries` plans from now on.
  void resize(std::size_t entries);

  /// Returns the plan of this key for which `holds` returns true, the most recently used first; null if there is none.
  /// Where a key has its number of plans then, the least recently used one is dropped. Counts a hit or a miss. The
  /// pointer is valid until the next use of the cache.
  template <class Holds>
  const CachedPlan* find(std::string_view key, const Holds& holds) {
    if (capacity_ == 0) return nullptr;
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) return miss(nullptr);
    for (auto found = known->second.begin(); found != known->second.end(); ++found)
      if (holds((*found)->cached)) return hit(known->second, found);
    return miss(&known->second);
  }
  /// Drops a plan that another one takes the place of. Does nothing if it is not in the cache.
  void drop(const QueryPlan& plan);
  /// To be called after `find` has found no plan of this key.
  void insert(std::string key, CachedPlan plan);

  /// Counts a hit or a miss of a plan for workers, and returns which it was.
  PlanSource count_for_cluster(bool is_hit);
  /// Updates the size of the cluster plan beside this plan after it changed. Does nothing if the plan is not in the
  /// cache.
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
  // Of a key that is looked for, without a copy of it.
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };

  using OfKey = std::vector<Entries::iterator>;  // the most recently used first

  const CachedPlan* hit(OfKey& plans, OfKey::iterator found);
  const CachedPlan* miss(const OfKey* plans);
  void erase(Entries::iterator entry);
  void make_room();
  bool is_valid() const;

  std::size_t most_bytes_;
  std::size_t capacity_ = 0;
  std::size_t bytes_ = 0;
  Entries entries_;  // the most recently used first
  std::unordered_map<std::string, OfKey, Hash, std::equal_to<>> by_key_;
  Counters counters_;
};

}  // namespace eindb
