#include "plan/validator.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "plan/einsum_checks.hpp"

namespace eindb {
namespace {

constexpr std::size_t kStepsPerCheck = 100;  // for poll_cancellation_after

void check_input(const Vertex& vertex, const Checker& check) {
  check(vertex.inputs.empty() && vertex.einsum.inputs.empty(), "an input of the computation reads nothing");
  check(vertex.bound == vertex.stored->grid.shape(), "the bound of an input is the shape of its tensor");
  check(vertex.dtype == vertex.stored->dtype, "the type of an input is the type of its tensor");
  const auto& selection = vertex.stored->selection;
  check(!selection || selection->grid() == vertex.stored->grid,
        "the grid of a selection is that of its free dimensions");
}

bool has_extents(const LabelTable& table, const Labels& labels, const Shape& shape) {
  if (labels.size() != shape.rank()) return false;
  for (std::size_t d = 0; d < labels.size(); ++d)
    if (table.extent(labels[d]) != shape[d]) return false;
  return true;
}

void check_reads(const EinGraph& graph, VertexId id, const Checker& check) {
  const auto& vertex = graph.vertex(id);
  check(vertex.inputs.size() == vertex.einsum.inputs.size(), "an EinSum has labels for every input");
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    check(vertex.inputs[n] < id, "inputs come before their readers");
    const auto& labels = vertex.einsum.inputs[n];
    for (const auto label : labels) check(label.index() < graph.labels().size(), "every label is in the label table");
    check(has_extents(graph.labels(), labels, graph.vertex(vertex.inputs[n]).bound),
          "an input is read with one label per dimension, of the same extent");
  }
}

void check_vertex(const EinGraph& graph, VertexId id, std::size_t max_arity) {
  const auto& vertex = graph.vertex(id);
  const Checker check("vertex ", vertex.name);
  if (vertex.is_input()) return check_input(vertex, check);
  check_reads(graph, id, check);
  // A kernel that reads cells joins any number of operands.
  const bool reads_cells = std::any_of(vertex.inputs.begin(), vertex.inputs.end(),
                                       [&](VertexId input) { return graph.vertex(input).cells.has_value(); });
  check(vertex.inputs.size() <= max_arity || reads_cells, "a vertex has no more inputs than the stage allows");
  check_einsum(vertex.einsum, graph.labels(), check);
  check(has_extents(graph.labels(), vertex.einsum.output, vertex.bound), "the bound is the head's extents");
  std::vector<DType> types;
  for (const auto input : vertex.inputs) types.push_back(graph.vertex(input).dtype);
  check_types(vertex.einsum, types, vertex.compute_dtype, vertex.dtype, check);
}

void check_outputs(const EinGraph& graph) {
  CHECK(!graph.outputs().empty(), "a graph has an output");
  std::vector<bool> known(graph.size(), false);
  for (const auto output : graph.outputs()) {
    CHECK(output.index() < graph.size(), "the outputs of a graph are vertices of it");
    const Checker check("output " + graph.vertex(output).name);
    check(!graph.vertex(output).is_input(), "an output is computed");
    check(!known[output.index()], "no vertex is two outputs");
    known[output.index()] = true;
  }
}

void check_sliced_labels(const std::vector<SlicedLabel>& labels, const LabelTable& table, const Checker& check) {
  check(!labels.empty(), "slices are of a label");
  for (const auto& [label, parts] : labels) {
    check(label.index() < table.size(), "every label is in the label table");
    check(parts > 1 && parts <= table.extent(label), "a sliced label has at least two parts and at most its extent");
  }
}

void check_sliced(const EinGraph& graph, const SlicedContraction& sliced, std::vector<bool>& in_a_body) {
  const Checker check("slices of " + graph.vertex(sliced.result).name);
  check_sliced_labels(sliced.labels, graph.labels(), check);
  check(!sliced.body.empty() && std::is_sorted(sliced.body.begin(), sliced.body.end()) &&
            sliced.body.back() == sliced.result,
        "a sliced contraction ends in its result");
  for (const auto id : sliced.body) {
    check(!graph.vertex(id).is_input() && !in_a_body[id.index()],
          "a vertex is computed in the slices of one contraction");
    in_a_body[id.index()] = true;
  }
}

void check_readers_of_slices(const EinGraph& graph) {
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const auto* own = graph.sliced_with(VertexId(n));
    for (const auto input : graph.vertices()[n].inputs) {
      const auto* read = graph.sliced_with(input);
      CHECK(read == nullptr || read == own || read->result == input,
            "what is computed in slices is read in the same slices alone");
    }
  }
  for (const auto output : graph.outputs()) {
    const auto* contraction = graph.sliced_with(output);
    CHECK(contraction == nullptr || contraction->result == output, "what slices hold on their way is no output");
  }
}

void check_chain(const EinGraph& graph, const FusedChain& chain, std::vector<bool>& in_a_chain) {
  const Checker check("chain of " + graph.vertex(chain.result).name);
  check(chain.body.size() > 1 && std::is_sorted(chain.body.begin(), chain.body.end()) &&
            chain.body.back() == chain.result,
        "a chain ends in its result");
  check(!chain.rows.empty(), "a chain has rows");
  for (const auto id : chain.body) {
    const auto& vertex = graph.vertex(id);
    check(!vertex.is_input() && !in_a_chain[id.index()], "a vertex is computed in one chain");
    in_a_chain[id.index()] = true;
    check(id == chain.result || !graph.is_output(id), "what a chain computes on its way is no output");
    for (const auto row : chain.rows)
      check(contains(vertex.einsum.output, row) || (id != chain.result && is_window_of(graph, vertex)),
            "every vertex of a chain has its rows");
  }
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const auto& reader = graph.vertices()[n];
    const bool inside = std::binary_search(chain.body.begin(), chain.body.end(), VertexId(n));
    for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
      const auto read = reader.inputs[i];
      if (read == chain.result || !std::binary_search(chain.body.begin(), chain.body.end(), read)) continue;
      check(inside, "what a chain computes on its way nobody else reads");
      check(reader.einsum.inputs[i] == graph.vertex(read).einsum.output, "a chain reads by the labels of the head");
    }
  }
}

void check_loop(const Fragment& plan, const SliceLoop& loop) {
  const Checker check("loop to node " + std::to_string(loop.result.index()));
  check(loop.begin <= loop.result && loop.result.index() + 1 < plan.nodes.size(), "a loop ends before a sink");
  check_sliced_labels(loop.labels, plan.labels, check);
  check(loop.dimensions.size() == loop.result.index() - loop.begin.index() + 1, "a loop knows the labels of its nodes");
  for (auto n = loop.begin.index(); n <= loop.result.index(); ++n) {
    const auto& grid = plan.nodes[n].grid;
    const auto& labels = loop.dimensions[n - loop.begin.index()];
    check(labels.size() == grid.rank(), "a loop knows the label of every dimension of its nodes");
    if (plan.nodes[n].role() == OperatorRole::Source) continue;
    for (const auto& sliced : loop.labels)
      for (std::size_t d = 0; d < labels.size(); ++d)
        check(labels[d] != sliced.label || grid.partition()[d] % sliced.parts == 0, "tiles lie in one slice each");
  }
  for (auto n = loop.result.index() + 1; n < plan.nodes.size(); ++n)
    for (const auto input : inputs_of(plan.nodes[n]))
      check(!loop.contains(input) || input == loop.result, "nothing but its result is read outside of a loop");
}

void check_checkpoints(const Fragment& plan) {
  for (std::size_t n = 0; n < plan.checkpoints.size(); ++n) {
    const auto id = plan.checkpoints[n];
    const Checker check("checkpoint " + std::to_string(id.index()));
    check(id.index() < plan.nodes.size() && (n == 0 || plan.checkpoints[n - 1] < id), "checkpoints ascend");
    check(plan.node(id).role() == OperatorRole::Kernel && plan.node(id).cells.has_value(),
          "cells are counted where they are computed");
    check(plan.loop_of(id) == nullptr && plan.window.empty(), "what is counted is complete");
  }
}

// For a plan of sources, one kernel, its completion if it has one, and a delivery: the number of the kernel. Else
// nullopt.
std::optional<std::size_t> single_kernel(const Fragment& plan) {
  std::size_t n = 0;
  while (plan.nodes[n].role() == OperatorRole::Source) ++n;
  const auto kernel = n;
  if (plan.nodes[n++].role() != OperatorRole::Kernel) return std::nullopt;
  if (plan.nodes[n].role() == OperatorRole::Completion) ++n;
  return n + 1 == plan.nodes.size() ? std::optional(kernel) : std::nullopt;
}

void check_window(const Fragment& plan) {
  const Checker check("the plan's window");
  const auto kernel = single_kernel(plan);
  check(plan.loops.empty() && kernel.has_value(), "only a plan of a single join has a window");
  const auto* partition = plan.nodes[*kernel].label_partition();
  check(partition != nullptr, "a window is of a space of labels");
  Labels labels;
  for (const auto& [label, parts, part] : plan.window) {
    check(contains(partition->labels, label) && !contains(labels, label), "a window has labels of the join, each once");
    check(parts >= 1 && part >= 0 && part < parts, "a window is a part of a label's range");
    check(partition->of(label) % parts == 0, "tiles lie in the window or outside of it");
    labels.push_back(label);
  }
}

void check_sinks(const Fragment& plan) {
  const auto count = plan.result_count();
  CHECK(count > 0, "a fragment has a sink");
  std::vector<bool> known(count, false);
  for (const auto& node : plan.nodes) {
    const auto result = node.result_number();
    if (!result) continue;
    CHECK(*result < count && !known[*result], "every result has one sink");
    known[*result] = true;
  }
}

void check_readers(const Fragment& plan) {
  std::vector<std::vector<NodeId>> readers(plan.nodes.size());
  for (std::size_t n = 0; n < plan.nodes.size(); ++n)
    for (const auto input : inputs_of(plan.nodes[n])) readers[input.index()].emplace_back(n);
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const Checker check("node " + std::to_string(n) + " (" + operator_name(plan.nodes[n]) + ")");
    const bool is_sink = plan.nodes[n].role() == OperatorRole::Delivery;
    check(is_sink == readers[n].empty(), "every node but the sinks is read");
    if (!plan.nodes[n].is_partial()) continue;
    check(readers[n].size() == 1 && plan.node(readers[n][0]).role() == OperatorRole::Completion,
          "a join whose aggregated labels are cut is read by its group-by alone");
  }
}

// Whether the vertex and all that it reads are the same objects in both graphs. Graphs only ever add labels.
bool is_as_in(const EinGraph& graph, const EinGraph& other, std::size_t n) {
  const auto is_shared = [&](std::size_t m) { return graph.vertices().shares(m, other.vertices()); };
  if (!is_shared(n)) return false;
  const auto& inputs = graph.vertices()[n].inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](VertexId input) { return is_shared(input.index()); });
}

}  // namespace

void validate(const EinGraph& graph, std::size_t max_arity, const EinGraph* valid) {
  check_outputs(graph);
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (valid != nullptr && is_as_in(graph, *valid, n)) continue;
    poll_cancellation_after(kStepsPerCheck);
    check_vertex(graph, VertexId(n), max_arity);
  }
  std::vector<bool> in_a_chain(graph.size(), false);
  for (const auto& chain : graph.chains()) check_chain(graph, chain, in_a_chain);
  if (graph.sliced().empty()) return;
  std::vector<bool> in_a_body(graph.size(), false);
  for (const auto& sliced : graph.sliced()) check_sliced(graph, sliced, in_a_body);
  check_readers_of_slices(graph);
}

void validate(const Fragment& plan) {
  check_sinks(plan);
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& node = plan.nodes[n];
    poll_cancellation_after(kStepsPerCheck);
    const Checker check("node " + std::to_string(n) + " (" + operator_name(node) + ")");
    for (const auto input : inputs_of(node)) check(input.index() < n, "inputs come before their readers");
    const auto view = plan.view(NodeId(n));
    std::visit([&](const auto& op) { op.check(view, check); }, node.op);
  }
  for (const auto& loop : plan.loops) check_loop(plan, loop);
  if (!plan.window.empty()) check_window(plan);
  check_checkpoints(plan);
  check_readers(plan);
}

}  // namespace eindb
