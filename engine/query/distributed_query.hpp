#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "engine/plans/cluster_plan.hpp"
#include "engine/plans/input_locations.hpp"
#include "engine/plans/plan_source.hpp"
#include "engine/plans/planned_query.hpp"
#include "engine/query/query_admission.hpp"
#include "engine/session/session_state.hpp"
#include "executor/execution_context.hpp"
#include "optimizer/rank_planner.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// The record of a query on the ranks of a cluster: its plan and, if it ran, their reports.
struct ClusterProfile {
  std::shared_ptr<const PhysicalPlan> plan;
  std::shared_ptr<const ClusterPlan> made;          ///< the same with parameters, what it was made for, and its vectors
  std::shared_ptr<const InputLocations> locations;  ///< of the tiles that it reads, and of results that workers store
  std::size_t computing = 0;                        ///< the number of ranks that may compute, counted from 0
  std::vector<std::string> ranks;                   ///< addresses of workers; "coordinator"
  double planning_seconds = 0;           ///< to find or make this plan for ranks, and to locate the tiles it reads
  PlanSource source = PlanSource::Made;  ///< of this plan; the query's own plan has a separate source
  std::vector<RankReport> reports;       ///< by rank; empty if the query did not run
};

/// The bytes that each rank is predicted to receive in a step.
std::vector<double> predicted_bytes(const ClusterProfile& profile, StepId step);

/// A query on the session's cluster. It is planned for the workers that are up, and again for the remaining ones if a
/// worker is lost while it runs, as long as others have copies of the lost tiles. Used once, by the session's thread.
///
///     who is up -> where stored tiles lie -> partition vectors for so many -> placement -> PhysicalPlan -> run
///         ^                                                                                               |
///         '------------------------------- Error{WorkerLost} ---------------------------------------------'
class DistributedQuery {
 public:
  /// The arguments must outlive the object.
  DistributedQuery(const PlannedQuery& planned, SessionState& session) : planned_(planned), session_(session) {}

  /// The predicted need of the coordinator's part if the workers that are up now run the query; `stored` tells for each
  /// result whether workers store it. Errors as collect().
  QueryNeed need(const std::vector<bool>& stored);
  /// Hands each result to its sink, when all of it is there. Error{WorkerLost} names workers, and the tensor of which
  /// tiles are with none of those that are up.
  ClusterProfile collect(ExecutionContext& context, std::span<TileSink* const> sinks);
  /// Makes workers store the results for sharded tensors of the catalog, inside the open transaction, and hands the
  /// other results to their sinks, each tile exactly once even if attempts are repeated. Throws the same errors as
  /// collect().
  ClusterProfile store(ExecutionContext& context, std::span<const StoredResult> results,
                       std::span<TileSink* const> sinks);
  /// The plan for the workers that are up, with its transfers; without a cluster for as many as SET workers says, with
  /// stored tensors sharded over them. EXPLAIN shows it for this many at most.
  ClusterProfile explain();
  static constexpr std::int64_t kMostExplained = 64;

 private:
  class Attempt;

  std::unique_ptr<Attempt> plan(const std::vector<bool>& stored);
  template <class Run>
  ClusterProfile until_it_succeeds(const std::vector<bool>& stored, Run run);

  std::int64_t damage_noticed() const;

  const PlannedQuery& planned_;
  SessionState& session_;
};

}  // namespace eindb
