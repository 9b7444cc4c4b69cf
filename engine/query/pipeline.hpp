#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/plans/planned_query.hpp"
#include "engine/results/result.hpp"
#include "engine/session/session_state.hpp"
#include "executor/execution_profile.hpp"
#include "executor/tile_exchange.hpp"
#include "parser/ast.hpp"
#include "storage/tiles/read_snapshot.hpp"

namespace eindb {

struct ClusterProfile;  // engine/query/distributed_query.hpp

/// The stages of a query, up to the plan, which comes from the session's cache if it was made before. A snapshot of the
/// database is held, where there can be one. Throws Error with spans into the statement.
PlannedQuery plan_query(const ast::Query& query, SessionState& session, ResultRequest request = {});

/// Whether queries run on the database's cluster: there is one, and SET workers = 0 did not say otherwise.
bool runs_on_cluster(const OpenDatabase& database, const Settings& settings);

/// What was done for a query: here, or by the ranks of the session's cluster.
struct QueryProfile {
  ExecutionProfile local;
  std::shared_ptr<const ClusterProfile> cluster = nullptr;  ///< null: by this process alone
};

/// Runs a plan on the tiles of `snapshot`, with a sink for each result; on the session's cluster, if there is one.
QueryProfile run_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                       std::span<TileSink* const> sinks);

/// Runs a plan into tensors, inside the open transaction: result n becomes results[n], in its table or, where the
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
