#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/plans/input_locations.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/rank_planner.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

struct QueryPlan;

/// Everything that a plan for the ranks of a cluster depends on beside the query's own plan: equal terms give equal
/// plans. The plan does not depend on which workers the ranks are; InputLocations say where these have their tiles.
struct ClusterTerms {
  ClusterShape shape;
  std::int64_t parallelism = 1;
  Strategy strategy;
  std::vector<bool> stored;  ///< for each result, whether workers store it

  friend bool operator==(const ClusterTerms&, const ClusterTerms&) = default;
};

/// A query planned for the ranks of a cluster. Immutable; shared by the cache and the running queries.
struct ClusterPlan {
  ClusterTerms terms;
  PhysicalPlan plan;                 ///< valid (plan/validator); still contains parameters
  std::vector<PlannedInput> inputs;  ///< by number of the holder list; the lists of stored results follow
};

/// Labelled EinGraph -> partition vectors for `terms.parallelism` calls -> placement -> steps. A pure function.
std::shared_ptr<const ClusterPlan> plan_for_cluster(const QueryPlan& query, ClusterTerms terms);

/// The cluster plan that a query was executed with last, and the locations of the tiles that it read. It is kept beside
/// the query's plan in the session's PlanCache and used by the session's thread. A caller takes the plan, or the
/// locations, only if their terms equal its own: a lost or returned worker, or another setting, makes other terms.
struct LatestClusterPlan {
  std::shared_ptr<const ClusterPlan> plan;          ///< null: none yet
  std::shared_ptr<const InputLocations> locations;  ///< of the tiles that `plan` reads; null: unknown
  static constexpr std::size_t kMostOfLocations = std::size_t{4} << 20U;  ///< bytes; larger ones are not kept
};

}  // namespace eindb
