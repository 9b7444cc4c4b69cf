#include "engine/plan_description.hpp"

#include <cmath>

#include "engine/cluster_description.hpp"
#include "engine/figures.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/prediction.hpp"

namespace eindb {
namespace {

using Json = nlohmann::ordered_json;

// What both cost models say of the plan, whichever it was made by.
struct PlanPrediction {
  Labelling transfers;           // the labelling, costed in elements moved
  std::vector<VertexId> served;  // by every operator
  Prediction operators;
};

PlanPrediction prediction_of(const PlannedQuery& planned, const SessionUser& user) {
  const auto& plan = planned.plan;
  std::vector<LabelPartition> partitions;
  for (const auto& vertex : plan.labelling.vertices) partitions.push_back(vertex.partition);
  const CalibratedModel model(user.machine(), user.settings.threads());
  return {evaluate(plan.graph, std::move(partitions), {}), vertices_served(plan.physical),
          predict(plan.graph, plan.physical, model)};
}

// What is predicted of all operators that a vertex needs, added up.
NodePrediction vertex_prediction(const PlanPrediction& prediction, VertexId vertex) {
  NodePrediction sum;
  for (std::size_t n = 0; n < prediction.served.size(); ++n) {
    if (prediction.served[n] != vertex) continue;
    sum.seconds += prediction.operators.nodes[n].seconds;
    sum.elements += prediction.operators.nodes[n].elements;
  }
  return sum;
}

// The profiles of all operators that work for one vertex, added up: of those that bring its inputs, time and elements.
NodeProfile vertex_profile(const PhysicalPlan& plan, VertexId vertex, const ExecutionProfile& profile,
                           const std::vector<VertexId>& served) {
  NodeProfile sum;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& node = plan.nodes[n];
    const auto name = operator_name(node);
    if (served[n] != vertex || name == "sink") continue;
    sum.seconds += profile.nodes[n].seconds;
    sum.elements += profile.nodes[n].elements;
    if (name != "join" && name != "group-by") continue;
    sum.tiles_in += profile.nodes[n].tiles_in;
    sum.tiles_out += profile.nodes[n].tiles_out;
    sum.bytes += profile.nodes[n].bytes;
  }
  return sum;
}

// Labels of one name (a pass may have made the second) are told apart by a number.
Json partition_of(const LabelPartition& partition, const LabelTable& labels) {
  Json out = Json::object();
  for (std::size_t n = 0; n < partition.labels.size(); ++n) {
    const auto& base = labels.name(partition.labels[n]);
    std::string name = base;
    for (int k = 2; out.contains(name); ++k) name = base + "_" + std::to_string(k);
    out[name] = partition.parts[n];
  }
  return out;
}

Json describe_vertex(const PlannedQuery& planned, std::size_t n, const PlanPrediction& prediction,
                     const ExecutionProfile* profile) {
  const auto& graph = planned.plan.graph;
  const auto& vertex = graph.vertices()[n];
  const auto& labelling = prediction.transfers.vertices[n];
  const auto predicted = vertex_prediction(prediction, VertexId(n));
  Json out{{"vertex", vertex.name},
           {"einsum", graph.describe(VertexId(n))},
           {"bound", vertex.bound.extents()},
           {"type", name_of(vertex.dtype)},
           {"partition", partition_of(labelling.partition, graph.labels())},
           {"kernel_calls", labelling.partition.kernel_calls()},
           {"cost_join", number_of(labelling.cost_join)},
           {"cost_agg", number_of(labelling.cost_agg)},
           {"cost_repart", number_of(labelling.cost_repart)},
           {"predicted_seconds", predicted.seconds},
           {"predicted_elements", number_of(predicted.elements)}};
  if (profile != nullptr) {
    const auto actual = vertex_profile(planned.plan.physical, VertexId(n), *profile, prediction.served);
    out["actual_seconds"] = actual.seconds;
    out["tiles_in"] = actual.tiles_in;
    out["tiles_out"] = actual.tiles_out;
    out["bytes"] = actual.bytes;
    out["actual_elements"] = actual.elements;
  }
  return out;
}

// Numbers of kernel calls that were tried, and what each would take.
Json describe_candidates(const std::vector<ParallelismCandidate>& candidates) {
  Json out = Json::array();
  for (const auto& candidate : candidates) {
    out.push_back({{"parallelism", candidate.parallelism},
                   {"predicted_seconds", candidate.seconds},
                   {"predicted_peak_bytes", number_of(candidate.peak_bytes)},
                   {"fits_memory_limit", candidate.fits}});
  }
  return out;
}

// Null: the whole dimension; "$1": whatever index the parameter is.
Json describe_indices(const Selection& selection) {
  Json at = Json::array();
  for (std::size_t d = 0; d < selection.at.size(); ++d) {
    const auto parameter = selection.parameters.find(d);
    if (parameter != selection.parameters.end()) at.push_back("$" + std::to_string(parameter->second + 1));
    else at.push_back(selection.at[d] ? Json(*selection.at[d]) : Json());
  }
  return at;
}

// A selection also tells which indices it holds, and how many tiles that leaves.
Json describe_input(const Vertex& vertex) {
  const auto& stored = *vertex.stored;
  Json out{{"tensor", stored.name},
           {"bound", vertex.bound.extents()},
           {"type", name_of(vertex.dtype)},
           {"partition", stored.grid.partition()}};
  if (!stored.selection) return out;
  out["selection"] = describe_indices(*stored.selection);
  out["tiles"] = stored.grid.tile_count();
  out["stored_tiles"] = stored.selection->stored.tile_count();
  return out;
}

// "4 of 16 tiles"; empty for a whole tensor.
std::string selection_of(const PhysicalNode& node) {
  const auto* scan = std::get_if<ScanNode>(&node.op);
  if (scan == nullptr || !scan->tensor.selection) return "";
  return std::to_string(scan->tensor.grid.tile_count()) + " of " +
         std::to_string(scan->tensor.selection->stored.tile_count()) + " tiles";
}

// How often the operator is run.
double slices_of(const PhysicalPlan& plan, NodeId id) {
  const auto* loop = plan.loop_of(id);
  double slices = 1;
  if (loop != nullptr)
    for (const auto& label : loop->labels) slices *= static_cast<double>(label.parts);
  return slices;
}

// The vertices that a fused join computes, in the order in which it does; empty for any other operator.
std::vector<std::string> fused_vertices(const EinGraph& graph, const PhysicalNode& node) {
  std::vector<std::string> names;
  const auto* join = std::get_if<JoinNode>(&node.op);
  if (join == nullptr) return names;
  for (const auto& step : join->steps) {
    const auto& name = graph.vertex(step.vertex).name;
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

Json describe_operator(const PlannedQuery& planned, std::size_t n, const ExecutionProfile* profile) {
  const auto& node = planned.plan.physical.nodes[n];
  Json inputs = Json::array();
  for (const auto input : inputs_of(node)) inputs.push_back(input.index());
  Json out{{"id", n},
           {"operator", operator_name(node)},
           {"vertex", planned.plan.graph.vertex(node.vertex).name},
           {"inputs", inputs},
           {"grid", node.grid.partition()}};
  if (const auto fused = fused_vertices(planned.plan.graph, node); !fused.empty()) out["fused"] = fused;
  if (const auto selection = selection_of(node); !selection.empty()) out["selection"] = selection;
  if (const auto slices = slices_of(planned.plan.physical, NodeId(n)); slices > 1) out["slices"] = number_of(slices);
  const auto present = planned.plan.graph.vertex(node.vertex).density.present;
  if (present < 1 && !std::holds_alternative<RepartitionNode>(node.op)) out["density"] = present;
  if (profile != nullptr) {
    out["actual_seconds"] = profile->nodes[n].seconds;
    if (std::holds_alternative<ScanNode>(node.op)) out["tiles_read"] = profile->nodes[n].tiles_in;
    if (profile->nodes[n].skipped_calls > 0) out["skipped_calls"] = profile->nodes[n].skipped_calls;
  }
  return out;
}

// How often the bodies of loops are run, added up, and for what labels.
Json describe_slices(const EinGraph& graph) {
  Json labels = Json::array();
  double slices = 0;
  for (const auto& sliced : graph.sliced()) {
    slices += sliced.slices();
    for (const auto& [label, parts] : sliced.labels)
      labels.push_back(
          {{"label", graph.labels().name(label)}, {"parts", parts}, {"result", graph.vertex(sliced.result).name}});
  }
  return {{"slices", number_of(slices)}, {"sliced_labels", labels}};
}

// Of the query's contractions: how they were ordered, and what that is worth.
Json describe_path(const PathSummary& path, const EinGraph& graph, bool order_given) {
  Json out{{"optimizer", order_given ? "given" : name_of(path.search.optimizer)},
           {"objective", name_of(path.search.objective)},
           {"methods", path.search.methods},
           {"naive_flops", number_of(path.naive_flops)},
           {"flops", number_of(path.flops)},
           {"largest_intermediate", number_of(path.largest_intermediate)},
           {"seconds", path.search.seconds}};
  out.update(describe_slices(graph));
  return out;
}

Json describe_strategies(const std::vector<StrategyCosts>& strategies) {
  Json out = Json::array();
  for (const auto& s : strategies) {
    if (!s.not_applicable.empty()) {
      out.push_back({{"strategy", s.strategy.to_string()}, {"not_applicable", s.not_applicable}});
      continue;
    }
    const double best = strategies.front().total_cost;
    out.push_back({{"strategy", s.strategy.to_string()},
                   {"total_cost", number_of(s.total_cost)},
                   {"ratio", s.total_cost == best ? 1 : s.total_cost / best},
                   {"cost_join", number_of(s.cost_join)},
                   {"cost_agg", number_of(s.cost_agg)},
                   {"cost_repart", number_of(s.cost_repart)},
                   {"fewest_calls", number_of(s.fewest_calls)},
                   {"most_calls", number_of(s.most_calls)}});
    if (s.received) out.back()["elements_received"] = number_of(*s.received);
  }
  return out;
}

// Adds where everything lies to what is described already.
void describe_placement(const PlannedQuery& planned, std::int64_t workers, Json& plan) {
  const auto placement = place(planned.plan.graph, planned.plan.labelling, workers);
  std::size_t next_input = 0;
  std::size_t next_vertex = 0;
  for (std::size_t n = 0; n < planned.plan.graph.size(); ++n) {
    const bool is_input = planned.plan.graph.vertices()[n].is_input();
    auto& out = is_input ? plan["inputs"][next_input++] : plan["vertices"][next_vertex++];
    out["placement"] = placement.vertices[n].result.to_string();
    if (!is_input) out["elements_received"] = number_of(placement.vertices[n].received);
  }
  plan["workers"] = workers;
  plan["mesh_axes"] = placement.mesh_axes;
  plan["elements_received"] = number_of(placement.received);
  plan["elements_received_by_busiest"] = number_of(placement.most_received);
}

}  // namespace

Json describe_plan(const PlannedQuery& planned, const SessionUser& user, const Measured& measured) {
  const auto* profile = measured.here;
  const auto prediction = prediction_of(planned, user);
  Json vertices = Json::array();
  Json inputs = Json::array();
  for (std::size_t n = 0; n < planned.plan.graph.size(); ++n) {
    const auto& vertex = planned.plan.graph.vertices()[n];
    if (vertex.is_input()) inputs.push_back(describe_input(vertex));
    else vertices.push_back(describe_vertex(planned, n, prediction, profile));
  }
  Json operators = Json::array();
  for (std::size_t n = 0; n < planned.plan.physical.nodes.size(); ++n)
    operators.push_back(describe_operator(planned, n, profile));
  Json passes = Json::array();
  for (const auto& stage : planned.plan.stages) {
    passes.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
    if (stage.vertices > 0) passes.back()["vertices"] = stage.vertices;
  }

  Json out{{"vertices", vertices},
           {"inputs", inputs},
           {"operators", operators},
           {"parallelism", planned.plan.parallelism},
           {"cost_model", user.settings.calibrated() ? "calibrated" : "transfers"},
           {"parallelism_candidates", describe_candidates(planned.plan.parallelism_candidates)},
           {"figures", user.machine().source},
           {"strategy", user.settings.strategy().to_string()},
           {"path", describe_path(planned.plan.path, planned.plan.graph, planned.order_given)},
           {"total_cost", number_of(prediction.transfers.total_cost)},
           {"predicted_seconds", prediction.operators.seconds},
           {"predicted_elements", number_of(prediction.operators.elements)},
           {"predicted_peak_bytes", number_of(planned.plan.peak_bytes)},
           {"planning_seconds", planned.planning_seconds},
           {"plan_cache", name_of(planned.source)},
           {"passes", passes}};
  if (const auto& choice = planned.plan.memory_choice) {
    const auto seconds = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
    out["memory"] = {{"by", name_of(choice->way)},
                     {"spilled_bytes", number_of(choice->spilled_bytes)},
                     {"seconds_spilling", seconds(choice->seconds_spilling)},
                     {"seconds_slicing", seconds(choice->seconds_slicing)},
                     {"seconds_recomputing", seconds(choice->seconds_recomputing)}};
  }
  if (!planned.plan.recomputed.empty()) out["recomputed"] = planned.plan.recomputed;
  if (!planned.plan.strategies.empty()) out["strategies"] = describe_strategies(planned.plan.strategies);
  if (const auto workers = user.settings.workers(); workers > 0) describe_placement(planned, workers, out);
  if (measured.cluster != nullptr) describe_cluster(planned, *measured.cluster, out);
  if (profile != nullptr) {
    std::int64_t elements = 0;
    for (const auto& node : profile->nodes) elements += node.elements;
    out["execution_seconds"] = profile->seconds;
    out["actual_elements"] = elements;
    out["peak_bytes"] = profile->peak_bytes;
  }
  return out;
}

}  // namespace eindb
