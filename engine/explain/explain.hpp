#pragma once

#include <string>

#include "engine/explain/plan_description.hpp"

namespace eindb {

/// Writers of a query's description (engine/explain/plan_description) as text, JSON, dot (graphviz) or a page of HTML,
/// which draws the JSON by web/plan and needs no other file. The description has the plan and, with a profile, the
/// measurements of its execution.
std::string explain_text(const PlanDescription& plan);
std::string explain_dot(const PlanDescription& plan);
std::string explain_html(const PlanDescription& plan);

/// JSON keys. The plan has: vertices, inputs, operators, parallelism, cost_model, parallelism_candidates (the
/// candidates that the model `calibrated` tried: parallelism, predicted_seconds, predicted_peak_bytes,
/// fits_memory_limit), figures (the file with the figures of the machine), strategy, path, total_cost,
/// predicted_seconds, predicted_elements, predicted_peak_bytes, planning_seconds, plan_cache (hit, miss or off), passes
/// (name, seconds, and the number of vertices after the pass, which stages after the passes lack); with ANALYZE also
/// execution_seconds, actual_elements, peak_bytes, and, where the rest was planned again, planned_again: vertex (after
/// which), cells (that were expected), actual_cells, and plan (of the rest, with these keys). A vertex has: vertex,
/// einsum, bound, partition (label -> parts), kernel_calls, kernel (how a call is computed: Kernel::describe),
/// cost_join, cost_agg, cost_repart, predicted_seconds, predicted_elements; with ANALYZE also actual_seconds,
/// actual_elements, tiles_in, tiles_out, bytes. Its seconds and elements cover its join, its aggregation and the
/// repartitions made for it; a repartition with several readers counts at the first one. An input has: tensor, bound,
/// type, partition; X[3,j] also has selection (the selected index per dimension, or null), tiles (the number read) and
/// stored_tiles. An operator has: id, operator, vertex, inputs, grid, computes (which of the vertices its kernel
/// computes, from 0; only if it computes one), and the fields of its own `describe`; with ANALYZE also actual_seconds,
/// and for a scan tiles_read. The path has: optimizer ('given' if the statement fixes the order), methods (the methods
/// that found the paths of n-ary contractions), naive_flops (the operations of the statement as one nest of loops),
/// flops, largest_intermediate, seconds, slices (how often the loops over slices run; 0 without slicing) and
/// sliced_labels (label, parts and result of each loop); an operator in such a loop also has slices. Costs and
/// predicted elements are numbers of elements moved, by the model `transfers`; predicted seconds are by the model
/// `calibrated`. Both are given whichever model chose the plan.
///
/// With SET workers, the plan also has workers, computing_workers (those of them that compute), mesh (of these, as
/// text), elements_received, elements_received_by_busiest; a vertex or an input has placement
/// (optimizer/partitions/placement, as text), and a vertex has elements_received. With COMPARE the plan has strategies,
/// each with strategy, total_cost, ratio (to EinDecomp's), cost_join, cost_agg, cost_repart, fewest_calls, most_calls,
/// and elements_received if the plan is made for workers, with bytes_received (by all ranks, of the whole plan) if it
/// has their steps; a strategy that does not apply has only strategy and not_applicable.
///
/// A plan that the ranks of a cluster run has: steps, bytes_received (by all ranks, if no tile is all zero),
/// bytes_received_by_busiest, worker_planning_seconds (to find or make the steps and to locate the tiles that they
/// read) and worker_plan_cache (hit, miss or off, for the steps; plan_cache is for the query's own plan). A step has:
/// id, step (scan, redistribute, compute, reduce), vertex, inputs, grid, computes as an operator has it, placement (as
/// a distributed type, or "stored"), bytes, bytes_by_busiest. A redistribution between blocks also has exchange (pieces
/// or collectives: how it moves) and pieces_predicted_seconds and, where a sequence of collectives can be run, whether
/// it is taken or not, collectives_predicted_seconds, collectives (one line for each step of the sequence) and
/// collectives_peak_bytes (the most that a rank has of it in blocks and buffers at once). With ANALYZE a step has
/// actual_bytes, seconds and seconds_waiting (of the slowest rank); the plan has execution_seconds,
/// seconds_before_delivery (until the last worker had its part of the result, before the result's last step),
/// actual_bytes_received, skew (the computing time of the busiest rank over the mean), and ranks: rank, worker,
/// seconds, and of these seconds_computing, seconds_waiting (for other ranks), seconds_exchanging (sending and
/// receiving, without waiting) and seconds_assembling (tiles of what is here and what has come), bytes_sent,
/// bytes_received, peak_bytes.
std::string explain_json(const PlanDescription& plan);

}  // namespace eindb
