#pragma once

#include <optional>

#include "engine/result.hpp"
#include "engine/session_state.hpp"
#include "executor/execution_profile.hpp"
#include "executor/tile_exchange.hpp"
#include "optimizer/optimizer.hpp"
#include "parser/ast.hpp"
#include "parser/binder.hpp"
#include "storage/read_snapshot.hpp"

namespace eindb {

/// What a query's result is wanted as.
struct ResultRequest {
  std::optional<DType> dtype = {};          ///< another element type than the query gives
  bool stored = false;                      ///< cut as stored tensors are
  std::optional<Partition> partition = {};  ///< cut exactly so
  bool compare_strategies = false;          ///< with the plan's cost under every strategy
};

/// A query with a plan to run.
struct PlannedQuery {
  BoundQuery query;
  OptimizedPlan plan;
  double planning_seconds = 0;  ///< binding and optimising
  bool order_given = false;     ///< by USING PATH with pairs or 'left', or by nested subscripts

  const Vertex& output() const { return query.graph.vertex(query.graph.output()); }
  const TileGrid& result_grid() const { return plan.physical.nodes.back().grid; }
};

/// The stages of a query, up to the plan. Throws Error with spans into the statement.
PlannedQuery plan_query(const ast::Query& query, SessionState& session, const ResultRequest& request = {});

/// Runs a plan on the tiles of `snapshot` into `sink`.
ExecutionProfile run_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot, TileSink& sink);

/// The same with the result in memory: tiles in order of tile_id.
std::vector<TilePtr> evaluate(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot);

/// Both, in a snapshot of its own; the result stays in memory.
std::shared_ptr<const TensorRelation> evaluate_query(const ast::Query& query, SessionState& session);

}  // namespace eindb
