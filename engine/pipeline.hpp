#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/query_plan.hpp"
#include "engine/result.hpp"
#include "engine/session_state.hpp"
#include "executor/execution_profile.hpp"
#include "executor/tile_exchange.hpp"
#include "optimizer/optimizer.hpp"
#include "parser/ast.hpp"
#include "parser/binder/binder.hpp"
#include "storage/read_snapshot.hpp"

namespace eindb {

struct ClusterProfile;     // engine/distributed_query.hpp
struct LatestClusterPlan;  // engine/cluster_plan.hpp

/// What a query's results are wanted as.
struct ResultRequest {
  std::optional<DType> dtype = {};           ///< of a query with one result: another element type than the query gives
  bool stored = false;                       ///< cut as stored tensors are
  WantedPartitions partitions = {};          ///< cut exactly so
  std::vector<ast::Identifier> wanted = {};  ///< results, or definitions, by name; empty: the query's results
  bool compare_strategies = false;           ///< with the plan's cost under every strategy
  bool for_workers = false;                  ///< to be run by workers, which have the memory limit each to itself
};

/// A query with a plan to run, now: the values of its parameters are the session's.
struct PlannedQuery {
  PlannedQuery(std::shared_ptr<const QueryPlan> shared_plan, std::shared_ptr<LatestClusterPlan> cluster_plan,
               PlanSource plan_source, double seconds)
      : shared(std::move(shared_plan)),
        for_cluster(std::move(cluster_plan)),
        query(shared->query),
        plan(shared->plan),
        planning_seconds(seconds),
        order_given(shared->order_given),
        source(plan_source) {}

  std::shared_ptr<const QueryPlan> shared;
  std::shared_ptr<LatestClusterPlan> for_cluster;  ///< of this query, shared with the cache
  const BoundQuery& query;                         ///< of `shared`, as the next two
  const OptimizedPlan& plan;
  double planning_seconds;  ///< binding and optimising, or finding the plan in the cache
  bool order_given;
  PlanSource source;

  std::size_t result_count() const { return query.results.size(); }
  const Vertex& output(std::size_t result = 0) const { return query.graph.vertex(query.graph.outputs()[result]); }
  const TileGrid& result_grid(std::size_t result = 0) const { return plan.physical.sink(result).grid; }
};

/// The stages of a query, up to the plan, which comes from the session's cache if it was made before. A snapshot of the
/// database is held, where there can be one. Throws Error with spans into the statement.
PlannedQuery plan_query(const ast::Query& query, SessionState& session, ResultRequest request = {});

/// Whether the session's queries run on its cluster: there is one, and SET workers = 0 did not say otherwise.
bool runs_on_cluster(const SessionState& session);

/// What was done for a query: here, or by the ranks of the session's cluster.
struct QueryProfile {
  ExecutionProfile local;
  std::shared_ptr<const ClusterProfile> cluster = nullptr;  ///< null: by this process alone
};

/// Runs a plan on the tiles of `snapshot`, with a sink for each result; on the session's cluster, if there is one.
QueryProfile run_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                       std::span<TileSink* const> sinks);

/// A tensor of the catalog that gets the tiles of a result. It has the result's type and grid.
struct StoredResult {
  TensorInfo tensor;
  bool has_tiles = false;  ///< of before, which go; what the query reads of them is as it was before
};
/// The same into tensors, inside the open transaction: result n becomes results[n], in its table or, where the
/// transaction goes on after the statement, among the session's unwritten tensors.
void store_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                 std::span<const StoredResult> results);

/// The same with the results' tiles for whoever asks for them.
std::vector<std::shared_ptr<BufferedTiles>> evaluate(const PlannedQuery& planned, SessionState& session,
                                                     ReadSnapshot& snapshot);

/// All results of a query, in a snapshot of its own.
std::vector<std::shared_ptr<const TensorRelation>> evaluate_results(const ast::Query& query, SessionState& session);
/// The same of a query with one result.
std::shared_ptr<const TensorRelation> evaluate_query(const ast::Query& query, SessionState& session);

}  // namespace eindb
