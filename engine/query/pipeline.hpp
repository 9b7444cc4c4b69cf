#pragma once

#include <cstdint>
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

struct PlannedAgain;    // engine/query/replanning.hpp
struct ClusterProfile;  // engine/query/distributed_query.hpp

/// Runs the stages of a query up to the plan, or takes the plan from the session's cache. The caller holds a snapshot
/// of the database, where one is possible. Throws Error with spans into the statement.
PlannedQuery plan_query(const ast::Query& query, SessionState& session, ResultRequest request = {});

/// Whether queries run on a cluster, unless they are small (engine/query/query_place): the database has one, and SET
/// workers = 0 does not disable it.
bool runs_on_cluster(const OpenDatabase& database, const Settings& settings);

/// The measurements of a query, from this process or from the ranks of the session's cluster.
struct QueryProfile {
  ExecutionProfile local;
  std::shared_ptr<const PlannedAgain> again = nullptr;  ///< what was planned again while it ran here, if anything was
  std::shared_ptr<const ClusterProfile> cluster = nullptr;  ///< null: this process alone ran the query
};

/// Runs a plan on the tiles of `snapshot`, on the session's cluster if there is one, and gives each result to its sink.
QueryProfile run_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                       std::span<TileSink* const> sinks);

/// Runs a plan and stores result n as results[n], inside the open transaction. The tiles go to the tensor's table or,
/// if the transaction continues after the statement, may stay among the session's unwritten tensors.
void store_query(const PlannedQuery& planned, SessionState& session, ReadSnapshot& snapshot,
                 std::span<const StoredResult> results);

/// The grid in which a result is read that is not stored: that of the plan, or a finer one where tiles are of cells,
/// and so large that their values may not fit in memory.
TileGrid grid_to_read(const PlannedQuery& planned, std::size_t result, const SessionState& session);

/// Runs a plan and returns the tiles of its results, in memory or in a scratch file. Error{MemoryLimit} if they are
/// predicted to fit neither. In one piece: a result of several tiles has its values in one piece, too, where the plan
/// allows it (ResultTiles::whole).
enum class Pieces : std::uint8_t { Tiles, One };
std::vector<std::shared_ptr<ResultTiles>> collect(const PlannedQuery& planned, SessionState& session,
                                                  ReadSnapshot& snapshot, Pieces pieces = Pieces::Tiles);

/// Plans and runs a query in a snapshot of its own; returns all its results.
std::vector<std::shared_ptr<const TensorRelation>> evaluate_results(const ast::Query& query, SessionState& session);
/// The same for a query with one result.
std::shared_ptr<const TensorRelation> evaluate_query(const ast::Query& query, SessionState& session);

}  // namespace eindb
