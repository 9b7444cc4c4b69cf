#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "engine/plans/input_locations.hpp"
#include "engine/plans/plan_source.hpp"
#include "engine/plans/planned_query.hpp"
#include "engine/query/query_admission.hpp"
#include "engine/session/session_state.hpp"
#include "executor/execution_context.hpp"
#include "plan/distributed_plan.hpp"

namespace eindb {

/// What the ranks of a cluster did for a query, or would do.
struct ClusterProfile {
  std::shared_ptr<const DistributedPlan> plan;
  std::shared_ptr<const InputLocations> locations;  ///< of what it reads, and of results that workers store
  std::size_t computing = 0;                        ///< the ranks from 0 on that may compute
  std::vector<std::string> ranks;                   ///< addresses of workers; "coordinator"
  double planning_seconds = 0;           ///< to find or make this plan for ranks, and to find the tiles it reads
  PlanSource source = PlanSource::Made;  ///< of this plan; the query's own has another
  std::vector<RankReport> reports;       ///< of each rank; empty: it did not run
};

/// The bytes that each rank is predicted to receive in a step.
std::vector<double> predicted_bytes(const ClusterProfile& profile, StepId step);

/// A query on the session's cluster: planned for the workers that are up, and again for those that remain if one is
/// lost meanwhile, as long as others have what it had. Used once, by the session's thread.
///
///     who is up -> partition vectors for so many -> placement -> DistributedPlan -> where stored tiles lie -> run
///         ^                                                                                               |
///         '------------------------------- Error{WorkerLost} ---------------------------------------------'
class DistributedQuery {
 public:
  /// All that is referred to outlives it.
  DistributedQuery(const PlannedQuery& planned, SessionState& session) : planned_(planned), session_(session) {}

  /// What the coordinator's part is predicted to take, if the workers that are up now run the query; `stored` says of
  /// each result whether workers store it. Errors as collect().
  QueryNeed need(const std::vector<bool>& stored);
  /// Hands each result to its sink, when all of it is there. Error{WorkerLost} names workers, and the tensor of which
  /// tiles are with none of those that are up.
  ClusterProfile collect(ExecutionContext& context, std::span<TileSink* const> sinks);
  /// Has workers store those results that are of sharded tensors of the catalog, inside the open transaction; hands
  /// the others to their sinks, each tile once, also where attempts are undone. Errors as collect().
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
