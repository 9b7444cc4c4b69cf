#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/explain/explain.hpp"
#include "engine/explain/figures.hpp"

namespace eindb {
namespace {

using Json = nlohmann::ordered_json;

// An integer if the value is one that a double holds exactly.
Json json_number(double value) {
  if (std::abs(value) < 9e15 && value == std::floor(value)) return static_cast<std::int64_t>(value);
  return value;
}

Json json_of(const VertexDescription& vertex) {
  Json partition = Json::object();
  for (const auto& [label, parts] : vertex.partition) partition[label] = parts;
  Json out{{"vertex", vertex.name},
           {"einsum", vertex.einsum},
           {"bound", vertex.bound},
           {"type", name_of(vertex.type)},
           {"partition", std::move(partition)},
           {"kernel_calls", vertex.kernel_calls},
           {"cost_join", json_number(vertex.cost_join)},
           {"cost_agg", json_number(vertex.cost_agg)},
           {"cost_repart", json_number(vertex.cost_repart)},
           {"predicted_seconds", vertex.predicted.seconds},
           {"predicted_elements", json_number(vertex.predicted.elements)}};
  if (!vertex.kernel.empty()) out["kernel"] = vertex.kernel;
  if (vertex.actual) {
    out["actual_seconds"] = vertex.actual->seconds;
    out["tiles_in"] = vertex.actual->tiles_in;
    out["tiles_out"] = vertex.actual->tiles_out;
    out["bytes"] = vertex.actual->bytes;
    out["actual_elements"] = vertex.actual->elements;
  }
  if (vertex.place) {
    out["placement"] = vertex.place->type;
    out["elements_received"] = json_number(vertex.place->elements_received);
  }
  return out;
}

// Null stands for the whole dimension.
Json json_of(const std::variant<std::monostate, std::int64_t, std::string>& index) {
  if (const auto* number = std::get_if<std::int64_t>(&index)) return *number;
  if (const auto* parameter = std::get_if<std::string>(&index)) return *parameter;
  return {};
}

Json json_of(const InputDescription& input) {
  Json out{
      {"tensor", input.tensor}, {"bound", input.bound}, {"type", name_of(input.type)}, {"partition", input.partition}};
  if (input.selection) {
    out["selection"] = Json::array();
    for (const auto& index : input.selection->indices) out["selection"].push_back(json_of(index));
    out["tiles"] = input.selection->tiles;
    out["stored_tiles"] = input.selection->stored_tiles;
  }
  if (input.place) out["placement"] = *input.place;
  return out;
}

void add_fields(const DescriptionFields& fields, Json& out) {
  for (const auto& field : fields) std::visit([&](const auto& value) { out[field.key] = value; }, field.value);
}

Json json_of(const OperatorDescription& op) {
  Json out{{"id", op.id}, {"operator", op.name}, {"vertex", op.vertex}, {"inputs", op.inputs}, {"grid", op.grid}};
  if (op.computes) out["computes"] = *op.computes;
  add_fields(op.own, out);
  if (op.slices > 1) out["slices"] = json_number(op.slices);
  if (op.density < 1) out["density"] = op.density;
  if (op.cells) out["cells"] = json_number(std::round(*op.cells));
  if (op.actual_cells) out["actual_cells"] = *op.actual_cells;
  if (op.seconds) out["actual_seconds"] = *op.seconds;
  if (op.tiles_read) out["tiles_read"] = *op.tiles_read;
  if (op.skipped_calls > 0) out["skipped_calls"] = op.skipped_calls;
  return out;
}

Json json_of(const ParallelismCandidate& candidate) {
  return {{"parallelism", candidate.parallelism},
          {"predicted_seconds", candidate.seconds},
          {"predicted_peak_bytes", json_number(candidate.peak_bytes)},
          {"fits_memory_limit", candidate.fits}};
}

Json json_of(const StageTiming& stage) {
  Json out{{"name", stage.name}, {"seconds", stage.seconds}};
  if (stage.vertices > 0) out["vertices"] = stage.vertices;
  return out;
}

Json json_of(const PathDescription::Slices& sliced) {
  return {{"label", sliced.label}, {"parts", sliced.parts}, {"result", sliced.result}};
}

Json json_of(const StepDescription& step) {
  Json out{{"id", step.id},
           {"step", step.name},
           {"vertex", step.vertex},
           {"inputs", step.inputs},
           {"grid", step.grid},
           {"placement", step.placement},
           {"bytes", json_number(step.bytes)},
           {"bytes_by_busiest", json_number(step.bytes_by_busiest)}};
  if (step.computes) out["computes"] = *step.computes;
  add_fields(step.own, out);
  if (step.density < 1) out["density"] = step.density;
  if (step.cells) out["cells"] = json_number(std::round(*step.cells));
  if (step.reads_values_of_cells) out["dense"] = true;
  if (const auto& exchange = step.exchange) {
    out["exchange"] = exchange->by_collectives ? "collectives" : "pieces";
    out["pieces_predicted_seconds"] = json_number(exchange->pieces_seconds);
    if (exchange->collectives_seconds) {
      out["collectives_predicted_seconds"] = json_number(*exchange->collectives_seconds);
      out["collectives"] = exchange->collectives;
      out["collectives_peak_bytes"] = exchange->collectives_bytes;
    }
  }
  if (step.actual) {
    out["actual_bytes"] = step.actual->bytes;
    out["seconds"] = step.actual->seconds;
    out["seconds_waiting"] = step.actual->seconds_waiting;
  }
  return out;
}

template <class Description>
Json array_of(const std::vector<Description>& descriptions) {
  Json out = Json::array();
  for (const auto& each : descriptions) out.push_back(json_of(each));
  return out;
}

Json json_of(const PathDescription& path) {
  return {{"optimizer", path.optimizer},
          {"objective", path.objective},
          {"methods", path.methods},
          {"naive_flops", json_number(path.naive_flops)},
          {"flops", json_number(path.flops)},
          {"largest_intermediate", json_number(path.largest_intermediate)},
          {"seconds", path.seconds},
          {"slices", json_number(path.slices)},
          {"sliced_labels", array_of(path.sliced_labels)}};
}

Json json_of(const MemoryChoice& choice) {
  const auto seconds = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  return {{"by", name_of(choice.way)},
          {"spilled_bytes", json_number(choice.spilled_bytes)},
          {"seconds_spilling", seconds(choice.seconds_spilling)},
          {"seconds_slicing", seconds(choice.seconds_slicing)},
          {"seconds_recomputing", seconds(choice.seconds_recomputing)}};
}

// `best` is the lowest cost of all strategies.
Json json_of(const StrategyCosts& strategy, double best) {
  if (!strategy.not_applicable.empty())
    return {{"strategy", strategy.strategy.to_string()}, {"not_applicable", strategy.not_applicable}};
  Json out{{"strategy", strategy.strategy.to_string()},          {"total_cost", json_number(strategy.total_cost)},
           {"ratio", cost_ratio(strategy.total_cost, best)},     {"cost_join", json_number(strategy.cost_join)},
           {"cost_agg", json_number(strategy.cost_agg)},         {"cost_repart", json_number(strategy.cost_repart)},
           {"fewest_calls", json_number(strategy.fewest_calls)}, {"most_calls", json_number(strategy.most_calls)}};
  if (strategy.received) out["elements_received"] = json_number(*strategy.received);
  if (strategy.bytes) out["bytes_received"] = json_number(*strategy.bytes);
  return out;
}

Json json_of(const RankDescription& rank, std::size_t number) {
  return {{"rank", number},
          {"worker", rank.worker},
          {"seconds", rank.seconds},
          {"seconds_computing", rank.seconds_computing},
          {"seconds_waiting", rank.seconds_waiting},
          {"seconds_exchanging", rank.seconds_exchanging},
          {"seconds_assembling", rank.seconds_assembling},
          {"bytes_sent", rank.bytes_sent},
          {"bytes_received", rank.bytes_received},
          {"peak_bytes", rank.peak_bytes}};
}

void add(const ClusterDescription& cluster, Json& out) {
  out["steps"] = array_of(cluster.steps);
  out["bytes_received"] = json_number(cluster.bytes_received);
  out["bytes_received_by_busiest"] = json_number(cluster.bytes_received_by_busiest);
  out["worker_planning_seconds"] = cluster.planning_seconds;
  out["worker_plan_cache"] = name_of(cluster.source);
  if (!cluster.actual) return;
  out["execution_seconds"] = cluster.actual->seconds;
  out["seconds_before_delivery"] = cluster.actual->seconds_before_delivery;
  out["actual_bytes_received"] = cluster.actual->bytes_received;
  out["skew"] = cluster.actual->skew;
  out["ranks"] = Json::array();
  for (const auto& rank : cluster.actual->ranks) out["ranks"].push_back(json_of(rank, out["ranks"].size()));
}

void add(const PlaceChoice& place, Json& out) {
  out["runs"] = place.here ? "here" : "at workers";
  out["predicted_seconds_here"] = place.seconds_here;
  out["predicted_seconds_at_workers"] = place.seconds_at_workers;
}

void add(const WorkersDescription& workers, Json& out) {
  out["workers"] = workers.workers;
  out["computing_workers"] = workers.computing;
  out["mesh"] = workers.mesh;
  out["elements_received"] = json_number(workers.elements_received);
  out["elements_received_by_busiest"] = json_number(workers.elements_received_by_busiest);
}

void add(const ExecutionDescription& execution, Json& out) {
  out["execution_seconds"] = execution.seconds;
  out["actual_elements"] = execution.elements;
  out["peak_bytes"] = execution.peak_bytes;
}

}  // namespace

namespace {

Json json_of(const PlanDescription& plan) {
  Json out{{"vertices", array_of(plan.vertices)},
           {"inputs", array_of(plan.inputs)},
           {"operators", array_of(plan.operators)},
           {"parallelism", plan.parallelism},
           {"cost_model", plan.calibrated ? "calibrated" : "transfers"},
           {"parallelism_candidates", array_of(plan.candidates)},
           {"figures", plan.figures},
           {"strategy", plan.strategy},
           {"path", json_of(plan.path)},
           {"total_cost", json_number(plan.total_cost)},
           {"predicted_seconds", plan.predicted_seconds},
           {"predicted_elements", json_number(plan.predicted_elements)},
           {"predicted_peak_bytes", json_number(plan.predicted_peak_bytes)},
           {"planning_seconds", plan.planning_seconds},
           {"plan_cache", name_of(plan.source)},
           {"passes", array_of(plan.passes)}};
  if (plan.memory) out["memory"] = json_of(*plan.memory);
  if (!plan.recomputed.empty()) out["recomputed"] = plan.recomputed;
  for (const auto& strategy : plan.strategies)
    out["strategies"].push_back(json_of(strategy, plan.strategies.front().total_cost));
  if (plan.place) add(*plan.place, out);
  if (plan.workers) add(*plan.workers, out);
  if (plan.cluster) add(*plan.cluster, out);
  if (plan.execution) add(*plan.execution, out);
  if (plan.again)
    out["planned_again"] = {{"vertex", plan.again->vertex},
                            {"cells", json_number(std::round(plan.again->expected))},
                            {"actual_cells", plan.again->found},
                            {"plan", json_of(*plan.again->rest)}};
  return out;
}

}  // namespace

std::string explain_json(const PlanDescription& plan) { return json_of(plan).dump(2); }

}  // namespace eindb
