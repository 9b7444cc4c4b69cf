#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/plans/input_locations.hpp"
#include "optimizer/partitions/input_places.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/partitions/strategy_comparison.hpp"
#include "optimizer/rank_planner.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

struct QueryPlan;

/// Everything that a plan for the ranks of a cluster depends on beside the query's own plan: equal terms give equal
/// plans. The plan does not depend on which workers the ranks are, but on the ranks that have the tiles it reads.
struct ClusterTerms {
  ClusterShape shape;
  std::int64_t parallelism = 1;
  Strategy strategy;
  std::vector<bool> stored;  ///< for each result, whether workers store it
  /// InputLocations::places. A plan gives the right result wherever tiles lie, so that different places with one number
  /// cost bytes only.
  std::uint64_t input_places = 0;

  friend bool operator==(const ClusterTerms&, const ClusterTerms&) = default;
};

/// A query planned for the ranks of a cluster. Immutable; shared by the cache and the running queries.
struct ClusterPlan {
  ClusterTerms terms;
  Labelling labelling;  ///< the partition vectors of the ranks' calls
  PhysicalPlan plan;    ///< valid (plan/validator); still contains parameters
};

/// The stored tensors that a plan for ranks reads, by number of the holder list; the lists of stored results follow.
std::vector<PlannedInput> planned_inputs(const QueryPlan& query);
/// The holders of planned_inputs() by vertex of the query's graph.
InputHolders holders_by_vertex(const EinGraph& graph, std::span<const TileHolders> holders);

/// Labelled EinGraph -> partition vectors for `terms.parallelism` calls -> placement -> steps. `holders`: of
/// planned_inputs(). A pure function.
std::shared_ptr<const ClusterPlan> plan_for_cluster(const QueryPlan& query, ClusterTerms terms,
                                                    std::span<const TileHolders> holders);
/// The costs of all strategies for the ranks of a cluster, and the bytes that they receive by each.
std::vector<StrategyCosts> compare_for_cluster(const QueryPlan& query, const ClusterTerms& terms,
                                               std::span<const TileHolders> holders);

/// The ranks that store the tiles of a result. A tile is stored at the rank that makes it, or most of it, if that is
/// one of `stores`, and at the following ones of these; others as newly written ones are, and tiles that are larger
/// than blocks. `replicas` is at least 1.
TileHolders holders_of_result(const PhysicalPlan& plan, std::size_t result, const TileGrid& grid,
                              std::span<const Rank> stores, std::size_t replicas);

/// The cluster plan that a query was executed with last, and the locations of the tiles that it read. It is kept beside
/// the query's plan in the session's PlanCache and used by the session's thread. A caller takes the plan, or the
/// locations, only if their terms equal its own: a lost or returned worker, or another setting, makes other terms.
struct LatestClusterPlan {
  std::vector<PlannedInput> inputs;                 ///< of the query; empty: not yet listed, or it reads no tensor
  std::shared_ptr<const ClusterPlan> plan;          ///< null: none yet
  std::shared_ptr<const InputLocations> locations;  ///< of the tiles that `plan` reads; null: unknown
  static constexpr std::size_t kMostOfLocations = std::size_t{4} << 20U;  ///< bytes; larger ones are not kept
};

}  // namespace eindb
