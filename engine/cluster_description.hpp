#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "engine/distributed_query.hpp"

namespace eindb {

/// Adds to a plan what the ranks of a cluster do for it, in ordered pairs of key and value for EXPLAIN.
///
/// JSON keys. Of the plan: steps, bytes_received (by all ranks, if no tile is all zero), bytes_received_by_busiest,
/// worker_planning_seconds (to find or make these steps, and to find the tiles that they read) and worker_plan_cache
/// (hit, miss or off: of the steps, as plan_cache is of the query's own plan). Of a step: id, step (scan, redistribute,
/// compute, reduce), vertex, inputs, grid, placement (as a distributed type, or "stored"), bytes, bytes_by_busiest; of
/// a redistribution between blocks also collectives, a line for each step of the plan that gets there by collectives
/// alone, and collective_elements, what these cost (optimizer/redistribution), next to elements_by_busiest of the
/// direct exchange that is made. With ANALYZE, of a step: actual_bytes, seconds and seconds_waiting (of the slowest
/// rank); of the plan: execution_seconds, seconds_before_delivery (until the last worker had its part of the result,
/// before the result's last step), actual_bytes_received, skew (the computing time of the busiest rank over the mean),
/// and ranks: rank, worker, seconds, seconds_waiting, bytes_sent, bytes_received, peak_bytes.
void describe_cluster(const PlannedQuery& planned, const ClusterProfile& profile, nlohmann::ordered_json& plan);

/// The same as lines of EXPLAIN's text.
std::string cluster_text(const nlohmann::ordered_json& plan);

}  // namespace eindb
