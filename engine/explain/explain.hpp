#pragma once

#include <string>

#include "engine/explain/plan_description.hpp"

namespace eindb {

/// EXPLAIN: what a query's plan is, and with a profile what its execution did. One description of every vertex and
/// operator (engine/explain/plan_description); text, JSON and dot (graphviz) are three ways to write it.
std::string explain_text(const PlanDescription& plan);
std::string explain_dot(const PlanDescription& plan);

/// JSON keys. Of the plan: vertices, inputs, operators, parallelism, cost_model, parallelism_candidates (those that
/// `calibrated` tried: parallelism, predicted_seconds, predicted_peak_bytes, fits_memory_limit), figures (the file of
/// the machine's), strategy, path, total_cost, predicted_seconds, predicted_elements, predicted_peak_bytes,
/// planning_seconds, plan_cache (hit, miss or off), passes (name, seconds, and vertices of the graph after it, which a
/// stage after the passes lacks); with ANALYZE also execution_seconds, actual_elements,
/// peak_bytes. Of a vertex: vertex, einsum, bound, partition (label -> parts), kernel_calls, cost_join, cost_agg,
/// cost_repart, predicted_seconds, predicted_elements; with ANALYZE also actual_seconds, actual_elements, tiles_in,
/// tiles_out, bytes: seconds and elements are of its join, its aggregation and the repartitions made for it, each
/// counted at its first reader. Of an input: tensor, bound, type, partition; of X[3,j] also selection (the index held
/// per dimension, or null), tiles (read) and stored_tiles. Of an operator: id, operator, vertex, inputs, grid, and what
/// it alone has to say (its `describe`); with ANALYZE also actual_seconds, and for a scan tiles_read. Of the path:
/// optimizer ('given' where the statement orders), methods (those that found the paths of n-ary contractions),
/// naive_flops (every operation that the statement has in one nest of loops), flops, largest_intermediate, seconds,
/// slices (how often the loops over slices are run; 0 without) and sliced_labels (label, parts and the result of the
/// loop, for each); an operator of such a loop has slices, too. Costs and predicted elements are numbers of elements
/// moved, by the model `transfers`; predicted seconds are those of the model `calibrated`; whichever of them chose the
/// plan.
///
/// With workers set: of the plan also workers, mesh_axes, elements_received, elements_received_by_busiest; of a vertex
/// or an input placement (optimizer/partitions/placement, as text), of a vertex elements_received. With COMPARE:
/// strategies, each with strategy, total_cost, ratio (to EinDecomp's), cost_join, cost_agg, cost_repart, fewest_calls,
/// most_calls, and elements_received where the plan is made for workers; or with strategy and not_applicable.
///
/// For a plan that ranks of a cluster run, `operators` is empty, predicted_seconds is the work of all ranks together,
/// predicted_peak_bytes is what the busiest rank holds, and the plan has: steps, bytes_received (by all ranks, if no
/// tile is all zero), bytes_received_by_busiest, worker_planning_seconds (to find or make these steps, and to find the
/// tiles that they read) and worker_plan_cache (hit, miss or off: of the steps, as plan_cache is of the query's own
/// plan). Of a step: id, step (scan, redistribute, compute, reduce), vertex, inputs, grid, placement (as a distributed
/// type, or "stored"), bytes, bytes_by_busiest, and what its operator alone has to say; of a redistribution between
/// blocks also collectives, a line for each step of the plan that gets there by collectives alone, and
/// collective_elements, what these cost (optimizer/redistribution), next to elements_by_busiest of the direct exchange
/// that is made. With ANALYZE, of a step: actual_bytes, seconds and seconds_waiting (of the slowest rank); of the plan:
/// execution_seconds, seconds_before_delivery (until the last worker had its part of the result, before the result's
/// last step), actual_bytes_received, skew (the computing time of the busiest rank over the mean), and ranks: rank,
/// worker, seconds, seconds_waiting, bytes_sent, bytes_received, peak_bytes.
std::string explain_json(const PlanDescription& plan);

}  // namespace eindb
