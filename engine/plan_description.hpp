#pragma once

#include <nlohmann/json.hpp>

#include "engine/planned_query.hpp"
#include "engine/session_user.hpp"
#include "executor/execution_profile.hpp"

namespace eindb {

struct ClusterProfile;  // engine/distributed_query.hpp

/// What is known of a query's execution; all may be null.
struct Measured {
  const ExecutionProfile* here = nullptr;   ///< it ran in this process
  const ClusterProfile* cluster = nullptr;  ///< it ran on the session's workers, or would
};

/// What a query's plan is, and with a profile what its execution did, in ordered pairs of key and value: that which
/// EXPLAIN writes, whatever the form.
///
/// JSON keys. Of the plan: vertices, inputs, operators, parallelism, cost_model, parallelism_candidates (those that
/// `calibrated` tried: parallelism, predicted_seconds, predicted_peak_bytes, fits_memory_limit), figures (the file of
/// the machine's), strategy, path, total_cost, predicted_seconds, predicted_elements, predicted_peak_bytes,
/// planning_seconds, plan_cache (hit, miss or off), passes (name, seconds, and vertices of the graph after it, which a
/// stage after the passes lacks); with ANALYZE also execution_seconds, actual_elements,
/// peak_bytes. Of a vertex: vertex, einsum, bound, partition (label -> parts), kernel_calls, cost_join, cost_agg,
/// cost_repart, predicted_seconds, predicted_elements; with ANALYZE also actual_seconds, actual_elements, tiles_in,
/// tiles_out, bytes: seconds and elements are of its join, its aggregation and the repartitions made for it, each
/// counted at its first reader. Of an input: tensor, bound, type, partition; of X[3,j] also selection (the index held
/// per dimension, or null), tiles (read) and stored_tiles. Of an operator: id, operator, vertex, inputs, grid; with
/// ANALYZE also actual_seconds, and for a scan tiles_read. Of the path: optimizer ('given' where the statement orders),
/// methods (those that found the paths of n-ary contractions), naive_flops (every operation that the statement has in
/// one nest of loops), flops, largest_intermediate, seconds, slices (how often the loops over slices are run; 0
/// without) and sliced_labels (label, parts and the result of the loop, for each); an operator of such a loop has
/// slices, too. Costs and predicted elements are numbers of elements moved, by the model `transfers`; predicted seconds
/// are those of the model `calibrated`; whichever of them chose the plan.
///
/// With workers set: of the plan also workers, mesh_axes, elements_received, elements_received_by_busiest; of a vertex
/// or an input placement (optimizer/partitions/placement, as text), of a vertex elements_received. With COMPARE:
/// strategies, each with strategy, total_cost, ratio (to EinDecomp's), cost_join, cost_agg, cost_repart, fewest_calls,
/// most_calls, and elements_received where the plan is made for workers; or with strategy and not_applicable.
nlohmann::ordered_json describe_plan(const PlannedQuery& planned, const SessionUser& user, const Measured& measured);

}  // namespace eindb
