#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/explain/description_text.hpp"
#include "engine/explain/explain.hpp"
#include "engine/explain/figures.hpp"
#include "optimizer/partitions/machine_figures.hpp"

namespace eindb {
namespace {

std::string count_text(std::int64_t value) { return magnitude(static_cast<double>(value)); }

std::string vertex_text(const VertexDescription& vertex, bool with_prediction) {
  std::string out = "  " + vertex.einsum + "\n      " + std::string(name_of(vertex.type)) + " " +
                    list_text(vertex.bound) + ", parts " + partition_text(vertex.partition) + ", " +
                    count_text(vertex.kernel_calls) + " kernel calls, cost: join " + magnitude(vertex.cost_join) +
                    ", aggregation " + magnitude(vertex.cost_agg) + ", repartition " + magnitude(vertex.cost_repart) +
                    "\n";
  if (!vertex.kernel.empty()) out += "      kernel: " + vertex.kernel + "\n";
  if (vertex.place)
    out +=
        "      on " + vertex.place->type + ", " + magnitude(vertex.place->elements_received) + " elements received\n";
  if (with_prediction) {
    out += "      predicted: " + milliseconds(vertex.predicted.seconds) + ", " + magnitude(vertex.predicted.elements) +
           " elements moved\n";
  }
  if (const auto& actual = vertex.actual) {
    out += "      actual: " + milliseconds(actual->seconds) + ", " + count_text(actual->elements) +
           " elements moved, tiles in " + count_text(actual->tiles_in) + ", tiles out " +
           count_text(actual->tiles_out) + ", " + count_text(actual->bytes) + " bytes\n";
  }
  return out;
}

// The candidates of the model `calibrated`; empty for the model `transfers`.
std::string candidates_text(const PlanDescription& plan) {
  if (!plan.calibrated) return "";
  std::string out;
  for (const auto& candidate : plan.candidates) {
    out += (out.empty() ? "Parallelism " : ", ") + std::to_string(candidate.parallelism) + ": " +
           milliseconds(candidate.seconds);
    if (!candidate.fits) out += " beyond memory_limit";
  }
  return out + "\nFigures " + plan.figures +
         (plan.figures == built_in_figures().source ? "; eindb calibrate measures this machine\n" : "\n");
}

std::string path_text(const PathDescription& path) {
  const auto methods = names_text(path.methods);
  return "Path " + path.optimizer + (methods.empty() ? "" : " (" + methods + ")") +
         (path.objective == "flops" || methods.empty() ? "" : " by " + path.objective) + ": " +
         magnitude(path.naive_flops) + " flops as written, " + magnitude(path.flops) + " as planned, largest result " +
         magnitude(path.largest_intermediate) + " elements, found in " + milliseconds(path.seconds) + "\n";
}

// Empty if nothing is sliced.
std::string slices_text(const PathDescription& path) {
  std::string labels;
  for (const auto& sliced : path.sliced_labels) labels += " " + sliced.label + ":" + std::to_string(sliced.parts);
  return labels.empty() ? "" : "Slices " + magnitude(path.slices) + " of" + labels + "\n";
}

std::string share(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

// How a plan that exceeds the memory limit is made to fit; empty if the plan fits.
std::string memory_text(const std::optional<MemoryChoice>& choice) {
  if (!choice) return "";
  const auto seconds = [](double value) {
    return std::isfinite(value) ? milliseconds(value) : std::string("cannot be done");
  };
  const auto spilled = magnitude(choice->spilled_bytes) + " bytes";
  std::string way = "a scratch file, about " + spilled;
  if (choice->way == MemoryWay::Slice) way = "slices";
  if (choice->way == MemoryWay::Recompute) way = "computing again, a scratch file for about " + spilled;
  return "Memory limit kept by " + way + ": spilling " + seconds(choice->seconds_spilling) + ", slicing " +
         seconds(choice->seconds_slicing) + ", computing again " + seconds(choice->seconds_recomputing) + "\n";
}

std::string inputs_text(std::span<const std::size_t> inputs) {
  std::string out;
  for (const auto input : inputs) out += " #" + std::to_string(input);
  return out;
}

std::string fields_text(const DescriptionFields& fields) {
  std::string out;
  for (const auto& field : fields)
    out += ", " + field.preposition + (field.preposition.empty() ? "" : " ") + value_text(field);
  return out;
}

std::string operator_text(const OperatorDescription& op) {
  std::string out = "  " + std::to_string(op.id) + " " + op.name + " " + op.vertex + inputs_text(op.inputs) +
                    " -> grid " + list_text(op.grid);
  out += fields_text(op.own);
  if (op.density < 1) out += ", density " + share(op.density);
  if (op.cells) out += ", as cells, about " + grouped(std::round(*op.cells));
  if (op.actual_cells) out += ", in fact " + grouped(static_cast<double>(*op.actual_cells));
  if (op.slices > 1) out += ", in " + magnitude(op.slices) + " slices";
  if (op.tiles_read) out += ", " + std::to_string(*op.tiles_read) + " tiles read";
  if (op.skipped_calls > 0) out += ", " + grouped(static_cast<double>(op.skipped_calls)) + " calls skipped for zeros";
  if (op.seconds) out += "  (" + milliseconds(*op.seconds) + ")";
  return out + "\n";
}

// The widths of a table's columns. Longer texts exceed them.
constexpr std::size_t kNameWidth = 20;
constexpr std::size_t kCountWidth = 20;
constexpr std::size_t kRatioWidth = 8;

std::string padding(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ');
}

std::string column(const std::string& text, std::size_t width) { return " " + padding(text, width) + text; }

std::string strategy_text(const StrategyCosts& strategy, double best) {
  const auto name = strategy.strategy.to_string();
  char ratio[32];
  std::snprintf(ratio, sizeof ratio, "%.2f", cost_ratio(strategy.total_cost, best));
  std::string out = "  " + name + padding(name, kNameWidth) + column(magnitude(strategy.total_cost), kCountWidth) +
                    column(ratio, kRatioWidth);
  for (const auto cost : {strategy.cost_join, strategy.cost_agg, strategy.cost_repart})
    out += column(magnitude(cost), kCountWidth);
  if (strategy.received) out += column(magnitude(*strategy.received), kCountWidth);
  if (strategy.bytes) out += column(magnitude(*strategy.bytes), kCountWidth);
  const auto most = magnitude(strategy.most_calls);
  return out + "  " +
         (strategy.fewest_calls == strategy.most_calls ? most : magnitude(strategy.fewest_calls) + " to " + most);
}

// A table of all strategies with right-aligned numbers; empty if there are none.
std::string strategies_text(const std::vector<StrategyCosts>& strategies) {
  if (strategies.empty()) return "";
  const auto& best = strategies.front();  // of EinDecomp, which always applies
  std::string out =
      "Strategies\n  " + padding("", kNameWidth) + column("total cost", kCountWidth) + column("ratio", kRatioWidth);
  for (const auto* title : {"join", "aggregation", "repartition"}) out += column(title, kCountWidth);
  out += (best.received ? column("elements received", kCountWidth) : "") +
         (best.bytes ? column("bytes received", kCountWidth) : "") + "  kernel calls\n";
  for (const auto& s : strategies)
    out += (s.not_applicable.empty() ? strategy_text(s, best.total_cost)
                                     : "  " + s.strategy.to_string() + ": " + s.not_applicable) +
           "\n";
  return out;
}

std::string place_text(const PlaceChoice& place) {
  return std::string(place.here ? "Runs here" : "Runs at workers") + ": predicted " + milliseconds(place.seconds_here) +
         " here, and at least " + milliseconds(place.seconds_at_workers) + " at workers\n";
}

std::string workers_text(const WorkersDescription& plan) {
  return "Placed on " + std::to_string(plan.computing) + " of " + std::to_string(plan.workers) +
         " workers: " + magnitude(plan.elements_received) + " elements received, at most " +
         magnitude(plan.elements_received_by_busiest) + " by one worker\n";
}

// How a relation moves between blocks, and what the other way would take.
std::string exchange_text(const ExchangeDescription& exchange) {
  const auto pieces = milliseconds(exchange.pieces_seconds);
  if (!exchange.collectives_seconds) return ", in pieces (predicted " + pieces + ")";
  const auto collectives = milliseconds(*exchange.collectives_seconds);
  if (!exchange.by_collectives) return ", in pieces (predicted " + pieces + "; by collectives " + collectives + ")";
  return ", by collectives (predicted " + collectives + "; in pieces " + pieces + "; at most " +
         grouped(static_cast<double>(exchange.collectives_bytes)) + " bytes at a rank)";
}

std::string step_text(const StepDescription& step) {
  auto out = "  " + std::to_string(step.id) + " " + step.name + " " + step.vertex + inputs_text(step.inputs) +
             " -> grid " + list_text(step.grid) + ", " + step.placement + fields_text(step.own);
  if (step.density < 1) out += ", density " + share(step.density);
  if (step.cells) out += ", as cells, about " + grouped(std::round(*step.cells));
  if (step.reads_values_of_cells) out += ", as dense tiles";
  if (step.exchange) out += exchange_text(*step.exchange);
  if (step.bytes > 0) out += ", " + grouped(step.bytes) + " bytes received";
  if (const auto& actual = step.actual) {
    out += "  (" + milliseconds(actual->seconds) + ", " + milliseconds(actual->seconds_waiting) + " of it waiting";
    if (actual->bytes > 0) out += ", " + grouped(static_cast<double>(actual->bytes)) + " bytes";
    out += ")";
  }
  out += "\n";
  if (step.exchange && step.exchange->by_collectives)
    for (const auto& line : step.exchange->collectives) out += "      " + line + "\n";
  return out;
}

std::string rank_text(const RankDescription& rank) {
  return "  " + rank.worker + ": " + grouped(static_cast<double>(rank.bytes_sent)) + " bytes sent, " +
         grouped(static_cast<double>(rank.bytes_received)) + " received, " + milliseconds(rank.seconds) +
         ", computing " + milliseconds(rank.seconds_computing) + ", waiting " + milliseconds(rank.seconds_waiting) +
         ", sending and receiving " + milliseconds(rank.seconds_exchanging) + ", assembling tiles " +
         milliseconds(rank.seconds_assembling) + ", at most " + grouped(static_cast<double>(rank.peak_bytes)) +
         " bytes of tiles and workspace\n";
}

std::string cluster_text(const ClusterDescription& cluster) {
  auto out = "Steps of the ranks: " + grouped(cluster.bytes_received) + " bytes received, at most " +
             grouped(cluster.bytes_received_by_busiest) + " by one rank\n";
  for (const auto& step : cluster.steps) out += step_text(step);
  if (!cluster.actual) return out;
  out += "Ranks, of which the busiest computed " + std::to_string(cluster.actual->skew).substr(0, 4) +
         " times as long as the mean\n";
  for (const auto& rank : cluster.actual->ranks) out += rank_text(rank);
  return out;
}

// How long planning and executing took.
std::string time_text(const PlanDescription& plan) {
  auto out = "Planned in " + milliseconds(plan.planning_seconds);
  if (plan.source == PlanSource::Cached) out += " (from the plan cache)";
  if (plan.cluster) {
    out += ", for workers in " + milliseconds(plan.cluster->planning_seconds);
    if (plan.cluster->source == PlanSource::Cached) out += " (from the plan cache)";
  }
  if (plan.cluster && plan.cluster->actual) out += ", executed in " + milliseconds(plan.cluster->actual->seconds);
  if (!plan.execution) return out;
  return out + ", executed in " + milliseconds(plan.execution->seconds) + " (predicted " +
         milliseconds(plan.predicted_seconds) + "), moved " + grouped(static_cast<double>(plan.execution->elements)) +
         " elements (predicted " + grouped(plan.predicted_elements) + "), at most " +
         grouped(static_cast<double>(plan.execution->peak_bytes)) + " bytes of tiles and workspace";
}

std::string again_text(const AgainDescription& again) {
  return "Planned again after vertex " + again.vertex + ": " + grouped(std::round(again.expected)) +
         " cells expected, " + grouped(static_cast<double>(again.found)) + " found\n" + explain_text(*again.rest) +
         "\n";
}

}  // namespace

std::string explain_text(const PlanDescription& plan) {
  auto out = "EinGraph (strategy " + plan.strategy + ", parallelism " + std::to_string(plan.parallelism) +
             ", total cost " + magnitude(plan.total_cost) + " elements moved";
  if (plan.calibrated) out += ", predicted " + milliseconds(plan.predicted_seconds);
  out += ")\n";
  for (const auto& vertex : plan.vertices) out += vertex_text(vertex, plan.calibrated || plan.execution.has_value());
  out += candidates_text(plan) + path_text(plan.path) + slices_text(plan.path) + memory_text(plan.memory);
  if (!plan.recomputed.empty()) out += "Computed again " + names_text(plan.recomputed) + "\n";
  out += strategies_text(plan.strategies);
  if (plan.place) out += place_text(*plan.place);
  if (plan.workers) out += workers_text(*plan.workers);
  if (plan.cluster) out += cluster_text(*plan.cluster);
  if (!plan.operators.empty()) out += "Operators\n";
  for (const auto& op : plan.operators) out += operator_text(op);
  if (plan.again) out += again_text(*plan.again);
  return out + time_text(plan);
}

}  // namespace eindb
