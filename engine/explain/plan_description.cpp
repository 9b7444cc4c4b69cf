#include "engine/explain/plan_description.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "engine/query/planning_options.hpp"
#include "engine/query/replanning.hpp"
#include "executor/kernel_description.hpp"
#include "optimizer/partitions/placement.hpp"

namespace eindb {
namespace {

// The predictions of both cost models for the plan, whichever chose it.
struct PlanPrediction {
  Labelling transfers;                   // the labelling, costed in elements moved
  std::vector<VertexId> served;          // by every operator of a fragment
  std::vector<NodePrediction> vertices;  // all that each vertex needs, added up
  NodePrediction total;
};

std::vector<LabelPartition> partitions_of(const Labelling& labelling) {
  std::vector<LabelPartition> partitions;
  for (const auto& vertex : labelling.vertices) partitions.push_back(vertex.partition);
  return partitions;
}

// By the operators that this process runs.
void predict_operators(const OptimizedPlan& plan, const CalibratedModel& model, PlanPrediction& out) {
  out.served = vertices_served(plan.fragment());
  const auto operators = predict(plan.graph, plan.fragment(), model);
  for (std::size_t n = 0; n < out.served.size(); ++n) {
    auto& vertex = out.vertices[out.served[n].index()];
    vertex.seconds += operators.nodes[n].seconds;
    vertex.elements += operators.nodes[n].elements;
  }
  out.total = {operators.seconds, operators.elements};
}

// By the labelling, where it is for ranks to run: the work of all of them together, on machines like this one.
void predict_vertices(const OptimizedPlan& plan, const CalibratedModel& model, PlanPrediction& out) {
  DecompositionOptions in_seconds;
  in_seconds.model = &model;
  const auto seconds = evaluate(plan.graph, partitions_of(out.transfers), in_seconds);
  for (std::size_t n = 0; n < out.vertices.size(); ++n)
    out.vertices[n] = {seconds.vertices[n].cost(), out.transfers.vertices[n].cost()};
  out.total = {seconds.total_cost, out.transfers.total_cost};
}

// The vectors by which the plan runs: those for ranks were chosen by where tiles lie.
const Labelling& labelling_of(const PlannedQuery& planned, const ClusterProfile* cluster) {
  return cluster == nullptr || planned.plan.is_lowered() ? planned.plan.labelling : cluster->made->labelling;
}

PlanPrediction prediction_of(const PlannedQuery& planned, const SessionUser& user, const ClusterProfile* cluster) {
  const auto& plan = planned.plan;
  const CalibratedModel model(user.machine(), user.settings.threads());
  const auto partitions = partitions_of(labelling_of(planned, cluster));
  PlanPrediction out{evaluate(plan.graph, partitions, {}), {}, std::vector<NodePrediction>(plan.graph.size()), {}};
  if (plan.is_lowered()) predict_operators(plan, model, out);
  else predict_vertices(plan, model, out);
  return out;
}

// The sum of the profiles of all operators that serve a vertex. Operators that only bring its inputs add time and
// elements.
NodeProfile vertex_profile(const Fragment& plan, VertexId vertex, const ExecutionProfile& profile,
                           const std::vector<VertexId>& served) {
  CHECK(profile.nodes.size() == plan.nodes.size() && served.size() == plan.nodes.size(),
        "every operator that ran has a profile");
  NodeProfile sum;
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& node = plan.nodes[n];
    const auto role = node.role();
    if (served[n] != vertex || role == OperatorRole::Delivery) continue;
    sum.seconds += profile.nodes[n].seconds;
    sum.elements += profile.nodes[n].elements;
    if (role != OperatorRole::Kernel && role != OperatorRole::Completion) continue;
    sum.tiles_in += profile.nodes[n].tiles_in;
    sum.tiles_out += profile.nodes[n].tiles_out;
    sum.bytes += profile.nodes[n].bytes;
  }
  return sum;
}

// A pass may add a second label of the same name; a number tells them apart.
std::vector<std::pair<std::string, std::int64_t>> partition_of(const LabelPartition& partition,
                                                               const LabelTable& labels) {
  CHECK(partition.labels.size() == partition.parts.size(), "a partition vector has an entry for each label");
  std::vector<std::pair<std::string, std::int64_t>> out;
  for (std::size_t n = 0; n < partition.labels.size(); ++n) {
    const auto& base = labels.name(partition.labels[n]);
    auto name = base;
    const auto is_taken = [&](const auto& entry) { return entry.first == name; };
    for (int k = 2; std::any_of(out.begin(), out.end(), is_taken); ++k) name = base + "_" + std::to_string(k);
    out.emplace_back(std::move(name), partition.parts[n]);
  }
  return out;
}

// Whether the vertex was computed before the run ended, where what is left was planned again.
bool ran(const Fragment& plan, VertexId vertex, const ExecutionProfile& profile) {
  for (std::size_t n = 0; n < plan.nodes.size(); ++n)
    if (plan.nodes[n].vertex == vertex && plan.nodes[n].role() == OperatorRole::Kernel && !profile.ran(n)) return false;
  return true;
}

VertexDescription describe_vertex(const PlannedQuery& planned, std::size_t n, const PlanPrediction& prediction,
                                  const ExecutionProfile* profile) {
  const auto& graph = planned.plan.graph;
  const auto& vertex = graph.vertices()[n];
  CHECK(prediction.transfers.vertices.size() == graph.size(), "every vertex that is described has its costs");
  const auto& labelling = prediction.transfers.vertices[n];
  VertexDescription out{.name = vertex.name,
                        .einsum = graph.describe(VertexId(n)),
                        .bound = vertex.bound.extents(),
                        .type = vertex.dtype,
                        .partition = partition_of(labelling.partition, graph.labels()),
                        .kernel_calls = labelling.partition.kernel_calls(),
                        .cost_join = labelling.cost_join,
                        .cost_agg = labelling.cost_agg,
                        .cost_repart = labelling.cost_repart,
                        .predicted = prediction.vertices[n]};
  if (profile != nullptr && ran(planned.plan.fragment(), VertexId(n), *profile))
    out.actual = vertex_profile(planned.plan.fragment(), VertexId(n), *profile, prediction.served);
  return out;
}

InputDescription::Selected describe_selection(const Selection& selection, std::int64_t tiles) {
  InputDescription::Selected out{{}, tiles, selection.stored.tile_count()};
  for (std::size_t d = 0; d < selection.at.size(); ++d) {
    const auto parameter = selection.parameters.find(d);
    if (parameter != selection.parameters.end()) out.indices.emplace_back("$" + std::to_string(parameter->second + 1));
    else if (selection.at[d]) out.indices.emplace_back(*selection.at[d]);
    else out.indices.emplace_back();
  }
  return out;
}

InputDescription describe_input(const Vertex& vertex) {
  const auto& stored = *vertex.stored;
  InputDescription out{.tensor = stored.name,
                       .bound = vertex.bound.extents(),
                       .type = vertex.dtype,
                       .partition = stored.grid.partition()};
  if (stored.selection) out.selection = describe_selection(*stored.selection, stored.grid.tile_count());
  return out;
}

// How often the operator runs, over all loops around it.
double slices_of(const Fragment& plan, NodeId id) {
  const auto* loop = plan.loop_of(id);
  double slices = 1;
  if (loop != nullptr)
    for (const auto& label : loop->labels) slices *= static_cast<double>(label.parts);
  return slices;
}

// `number_of_vertex` maps a vertex of the graph to its number among the described vertices.
OperatorDescription describe_operator(const PlannedQuery& planned, NodeId id,
                                      const std::vector<std::size_t>& number_of_vertex,
                                      const ExecutionProfile* profile) {
  const auto& fragment = planned.plan.fragment();
  const auto& node = fragment.node(id);
  const auto& vertex = planned.plan.graph.vertex(node.vertex);
  OperatorDescription out{.id = id.index(),
                          .name = operator_name(node),
                          .vertex = vertex.name,
                          .inputs = {},
                          .grid = node.grid.partition(),
                          .own = node.describe(planned.plan.graph),
                          .slices = slices_of(fragment, id)};
  for (const auto input : inputs_of(node)) out.inputs.push_back(input.index());
  if (node.role() == OperatorRole::Kernel) out.computes = number_of_vertex[node.vertex.index()];
  out.cells = node.cells;
  if (node.role() != OperatorRole::Layout && !node.cells) out.density = vertex.density.present;
  if (profile == nullptr || !profile->ran(id.index())) return out;
  CHECK(id.index() < profile->nodes.size(), "an operator that is described has a profile where the plan ran");
  const auto& did = profile->nodes[id.index()];
  out.seconds = did.seconds;
  if (node.cells && node.role() != OperatorRole::Delivery) out.actual_cells = did.cells;
  if (node.role() == OperatorRole::Source) out.tiles_read = did.tiles_in;
  out.skipped_calls = did.skipped_calls;
  return out;
}

PathDescription describe_path(const PathSummary& path, const EinGraph& graph, bool order_given) {
  PathDescription out{.optimizer = std::string(order_given ? "given" : name_of(path.search.optimizer)),
                      .objective = name_of(path.search.objective),
                      .methods = path.search.methods,
                      .naive_flops = path.naive_flops,
                      .flops = path.flops,
                      .largest_intermediate = path.largest_intermediate,
                      .seconds = path.search.seconds,
                      .sliced_labels = {}};
  for (const auto& sliced : graph.sliced()) {
    out.slices += sliced.slices();
    for (const auto& [label, parts] : sliced.labels)
      out.sliced_labels.push_back({graph.labels().name(label), parts, graph.vertex(sliced.result).name});
  }
  return out;
}

// Adds the placement of vertices and inputs to the description.
void describe_placement(const PlannedQuery& planned, std::int64_t workers, const ClusterProfile* cluster,
                        PlanDescription& plan) {
  const auto& graph = planned.plan.graph;
  auto computing = planned.plan.workers > 0 ? planned.plan.workers : workers;
  if (cluster != nullptr) {
    workers = static_cast<std::int64_t>(cluster->computing);
    computing = cluster->made->terms.shape.computing;
  }
  const InputPlaces inputs = cluster == nullptr
                                 ? InputPlaces(graph, computing)
                                 : InputPlaces(graph, holders_by_vertex(graph, cluster->locations->holders), computing);
  const auto placement = place(graph, labelling_of(planned, cluster), inputs);
  CHECK(placement.vertices.size() == planned.plan.graph.size(), "every vertex of the graph is placed");
  std::size_t next_input = 0;
  std::size_t next_vertex = 0;
  for (std::size_t n = 0; n < planned.plan.graph.size(); ++n) {
    const auto& placed = placement.vertices[n];
    if (planned.plan.graph.vertices()[n].is_input()) plan.inputs[next_input++].place = placed.result.to_string();
    else plan.vertices[next_vertex++].place = VertexPlace{placed.result.to_string(), placed.received};
  }
  CHECK(next_input == plan.inputs.size() && next_vertex == plan.vertices.size(), "all that is described has a place");
  plan.workers = WorkersDescription{workers, placement.mesh.rank_count(), placement.mesh.to_string(),
                                    placement.received, placement.most_received};
}

ExecutionDescription describe_execution(const ExecutionProfile& profile) {
  ExecutionDescription out{profile.seconds, 0, profile.peak_bytes};
  for (const auto& node : profile.nodes) out.elements += node.elements;
  return out;
}

// The measurements of the whole run are those of its parts together.
void describe_again(const PlannedAgain& again, const SessionUser& user, PlanDescription& out) {
  auto rest = std::make_shared<const PlanDescription>(
      describe_plan(again.planned, user, {.here = &again.profile, .again = again.next.get()}));
  CHECK(out.execution.has_value() && rest->execution.has_value(), "what is planned again has run");
  out.execution->seconds += rest->planning_seconds + rest->execution->seconds;
  out.execution->elements += rest->execution->elements;
  out.execution->peak_bytes = std::max(out.execution->peak_bytes, rest->execution->peak_bytes);
  out.again = AgainDescription{again.vertex, again.expected, again.found, std::move(rest)};
}

// Of every vertex of the graph that is computed, its number among those that are described.
std::vector<std::size_t> numbers_of_vertices(const EinGraph& graph) {
  std::vector<std::size_t> numbers;
  std::size_t next = 0;
  for (const auto& vertex : graph.vertices()) numbers.push_back(vertex.is_input() ? next : next++);
  return numbers;
}

// Of each vertex of the graph, how a call of its kernel is computed. A vertex may be computed in several steps of a
// fused chain, of which the first one evaluates its EinSum. Empty for inputs, and where there are neither operators nor
// steps.
std::vector<std::string> kernels_of_vertices(const PlannedQuery& planned, const ClusterProfile* cluster) {
  std::vector<std::string> out(planned.plan.graph.size());
  const auto add = [&](VertexId vertex, const JoinNode& join, const LabelTable& labels,
                       const std::vector<JoinInput>& inputs) {
    for (auto& [computed, text] : describe_kernels(vertex, join, labels, inputs))
      if (out[computed.index()].empty()) out[computed.index()] = std::move(text);
  };
  if (planned.plan.is_lowered()) {
    const auto& fragment = planned.plan.fragment();
    for (const auto& node : fragment.nodes) {
      const auto* join = std::get_if<JoinNode>(&node.op);
      if (join == nullptr) continue;
      std::vector<JoinInput> inputs;
      for (const auto input : join->inputs) inputs.push_back(join_input(fragment, input));
      add(node.vertex, *join, planned.plan.graph.labels(), inputs);
    }
  } else if (cluster != nullptr) {
    for (const auto& step : cluster->plan->steps) {
      const auto* compute = std::get_if<ComputeStep>(&step.op);
      if (compute == nullptr) continue;
      std::vector<JoinInput> inputs;
      for (const auto input : compute->inputs) {
        const auto& read = cluster->plan->step(input);
        inputs.push_back({.dtype = read.dtype, .of_cells = read.cells.has_value()});
      }
      add(step.vertex, compute->join, cluster->plan->labels, inputs);
    }
  }
  return out;
}

// The vertices and operators of the plan.
void describe_nodes(const PlannedQuery& planned, const PlanPrediction& prediction, const Measured& measured,
                    PlanDescription& out) {
  const auto& graph = planned.plan.graph;
  const auto* profile = measured.here;
  const auto kernels = kernels_of_vertices(planned, measured.cluster);
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (graph.vertices()[n].is_input()) {
      out.inputs.push_back(describe_input(graph.vertices()[n]));
    } else {
      out.vertices.push_back(describe_vertex(planned, n, prediction, profile));
      out.vertices.back().kernel = kernels[n];
    }
  }
  if (!planned.plan.is_lowered()) return;
  const auto number_of_vertex = numbers_of_vertices(graph);
  for (std::size_t n = 0; n < planned.plan.fragment().nodes.size(); ++n)
    out.operators.push_back(describe_operator(planned, NodeId(n), number_of_vertex, profile));
}

// The plans that were tried, in the seconds until each has run: the choice leaves out what is the same for all of them,
// such as reading stored tiles.
std::vector<ParallelismCandidate> candidates_in_full(const OptimizedPlan& plan, double predicted_seconds) {
  auto candidates = plan.parallelism_candidates;
  const auto chosen = std::find_if(candidates.begin(), candidates.end(), [&](const ParallelismCandidate& candidate) {
    return candidate.parallelism == plan.parallelism;
  });
  if (chosen == candidates.end() || !plan.is_lowered()) return candidates;
  const auto left_out = predicted_seconds - chosen->seconds;
  for (auto& candidate : candidates) candidate.seconds += std::max(0.0, left_out);
  return candidates;
}

}  // namespace

PlanDescription describe_plan(const PlannedQuery& planned, const SessionUser& user, const Measured& measured) {
  const auto prediction = prediction_of(planned, user, measured.cluster);
  const auto& plan = planned.plan;
  PlanDescription out;
  describe_nodes(planned, prediction, measured, out);
  out.parallelism = plan.parallelism;
  out.place = planned.shared->place;
  const auto workers = out.place && out.place->here ? 0 : user.settings.workers();
  out.calibrated = user.settings.calibrated(workers);
  out.candidates = candidates_in_full(plan, prediction.total.seconds);
  out.figures = user.machine().source;
  out.strategy = strategy_of(planned.query, user.settings).to_string();
  out.path = describe_path(plan.path, plan.graph, planned.order_given);
  out.total_cost = prediction.transfers.total_cost;
  out.predicted_seconds = prediction.total.seconds;
  out.predicted_elements = prediction.total.elements;
  out.predicted_peak_bytes = plan.peak_bytes;
  out.planning_seconds = planned.planning_seconds;
  out.source = planned.source;
  out.passes = plan.stages;
  out.memory = plan.memory_choice;
  out.recomputed = plan.recomputed;
  out.strategies = measured.strategies != nullptr ? *measured.strategies : plan.strategies;
  if (workers > 0) describe_placement(planned, workers, measured.cluster, out);
  if (measured.cluster != nullptr) {
    out.cluster = describe_cluster(planned, *measured.cluster, numbers_of_vertices(plan.graph));
    if (!plan.is_lowered()) out.predicted_peak_bytes = out.cluster->peak_bytes_of_busiest;
  }
  if (measured.here != nullptr) out.execution = describe_execution(*measured.here);
  if (measured.again != nullptr) describe_again(*measured.again, user, out);
  return out;
}

}  // namespace eindb
