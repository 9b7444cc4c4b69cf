#include "plan/validator.hpp"

#include <algorithm>
#include <string>

#include "common/check.hpp"
#include "plan/einsum_checks.hpp"

namespace eindb {
namespace {

void check_input(const Vertex& vertex, const Checker& check) {
  check(vertex.inputs.empty() && vertex.einsum.inputs.empty(), "an input of the computation reads nothing");
  check(vertex.bound == vertex.stored->grid.shape(), "the bound of an input is the shape of its tensor");
  check(vertex.dtype == vertex.stored->dtype, "the type of an input is the type of its tensor");
  const auto& selection = vertex.stored->selection;
  check(!selection || selection->grid() == vertex.stored->grid,
        "the grid of a selection is that of its free dimensions");
}

void check_reads(const EinGraph& graph, VertexId id, const Checker& check) {
  const auto& vertex = graph.vertex(id);
  check(vertex.inputs.size() == vertex.einsum.inputs.size(), "an EinSum has labels for every input");
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    check(vertex.inputs[n] < id, "inputs come before their readers");
    const auto& labels = vertex.einsum.inputs[n];
    for (const auto label : labels) check(label.index() < graph.labels().size(), "every label is in the label table");
    check(graph.labels().extents(labels) == graph.vertex(vertex.inputs[n]).bound.extents(),
          "an input is read with one label per dimension, of the same extent");
  }
}

void check_vertex(const EinGraph& graph, VertexId id, std::size_t max_arity) {
  const auto& vertex = graph.vertex(id);
  const Checker check("vertex " + vertex.name);
  if (vertex.is_input()) return check_input(vertex, check);
  check_reads(graph, id, check);
  check(vertex.inputs.size() <= max_arity, "a vertex has no more inputs than the stage allows");
  check_einsum(vertex.einsum, graph.labels(), check);
  check(vertex.bound.extents() == graph.labels().extents(vertex.einsum.output), "the bound is the head's extents");
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
      check(contains(vertex.einsum.output, row), "every vertex of a chain has its rows");
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

bool cuts_aggregated_label(const JoinNode& join) {
  const auto parts = join.partition.project(join.einsum.aggregated);
  return std::any_of(parts.begin(), parts.end(), [](std::int64_t d) { return d > 1; });
}

// One overload per operator: what must hold between a node and its inputs.
struct NodeChecker {
  const PhysicalPlan& plan;
  const PhysicalNode& node;
  const Checker& check;

  void operator()(const ScanNode& scan) const {
    check(node.grid == scan.tensor.grid, "a scan has the grid of its tensor");
    check(node.dtype == scan.tensor.dtype, "a scan has the type of its tensor");
  }

  void operator()(const RepartitionNode& repartition) const {
    const auto& input = plan.node(repartition.input);
    check(node.grid.shape() == input.grid.shape(), "a repartition keeps the shape");
    check(node.dtype == input.dtype, "a repartition keeps the type");
    check(node.grid != input.grid, "a repartition changes the partition");
  }

  void operator()(const JoinNode& join) const {
    check_einsum(join.einsum, plan.labels, check);
    check_partition(join);
    check(join.inputs.size() == join.einsum.inputs.size(), "a join has labels for every input");
    std::vector<DType> types;
    for (std::size_t n = 0; n < join.inputs.size(); ++n) {
      check(plan.node(join.inputs[n]).grid == grid_of(join, join.einsum.inputs[n]),
            "the inputs of a join are cut as its partition vector says");
      types.push_back(plan.node(join.inputs[n]).dtype);
    }
    if (!join.steps.empty()) check_steps(join);
    check(node.grid == grid_of(join, join.einsum.output), "the result of a join is cut as its partition vector says");
    if (join.steps.empty()) check_types(join.einsum, types, join.compute_dtype, node.dtype, check);
  }

  void operator()(const GroupByNode& group_by) const {
    const auto& input = plan.node(group_by.input);
    const auto* join = std::get_if<JoinNode>(&input.op);
    check(join != nullptr && cuts_aggregated_label(*join), "a group-by follows a join whose aggregated labels are cut");
    check(node.grid == input.grid && node.dtype == input.dtype, "a group-by keeps grid and type of its groups");
  }

  void operator()(const SinkNode& sink) const {
    const auto& input = plan.node(sink.input);
    check(node.grid == input.grid && node.dtype == input.dtype, "a sink keeps grid and type");
    check(!std::holds_alternative<SinkNode>(input.op), "nobody reads a sink");
  }

 private:
  void check_steps(const JoinNode& join) const {
    check(!join.rows.empty(), "a chain has rows");
    for (std::size_t n = 0; n < join.partition.labels.size(); ++n)
      check(join.partition.parts[n] == 1 || contains(join.rows, join.partition.labels[n]),
            "nothing but the rows of a chain is cut");
    for (std::size_t s = 0; s < join.steps.size(); ++s) {
      const auto& step = join.steps[s];
      check_einsum(step.einsum, plan.labels, check);
      for (const auto label : step.einsum.labels())
        check(contains(join.partition.labels, label), "every label of a step is one of the chain");
      check(step.einsum.epilogue == nullptr, "epilogues are steps of their own");
      check(step.inputs.size() == step.einsum.inputs.size(), "a step has labels for every input");
      for (const auto row : join.rows) check(contains(step.einsum.output, row), "every step of a chain has its rows");
      for (std::size_t n = 0; n < step.inputs.size(); ++n) {
        const auto input = step.inputs[n];
        check(input < join.inputs.size() + s, "a step reads inputs of the chain and earlier steps");
        check(step.einsum.inputs[n] == (input < join.inputs.size()
                                            ? join.einsum.inputs[input]
                                            : join.steps[input - join.inputs.size()].einsum.output),
              "a step reads by the labels of what it reads");
      }
    }
    check(
        join.steps.back().einsum.output == join.einsum.output && join.steps.back().compute_dtype == join.compute_dtype,
        "the last step gives the result");
  }

  void check_partition(const JoinNode& join) const {
    check(join.partition.labels == join.einsum.labels() && join.partition.labels.size() == join.partition.parts.size(),
          "a partition vector has one entry for each label of its vertex");
    for (std::size_t n = 0; n < join.partition.labels.size(); ++n) {
      const auto extent = plan.labels.extent(join.partition.labels[n]);
      check(join.partition.parts[n] >= 1 && join.partition.parts[n] <= std::max<std::int64_t>(1, extent),
            "a label is cut into at least one part and at most its extent");
    }
  }

  TileGrid grid_of(const JoinNode& join, const Labels& labels) const {
    return {Shape(plan.labels.extents(labels)), join.partition.project(labels)};
  }
};

void check_loop(const PhysicalPlan& plan, const SliceLoop& loop) {
  const Checker check("loop to node " + std::to_string(loop.result.index()));
  check(loop.begin <= loop.result && loop.result.index() + 1 < plan.nodes.size(), "a loop ends before a sink");
  check_sliced_labels(loop.labels, plan.labels, check);
  check(loop.dimensions.size() == loop.result.index() - loop.begin.index() + 1, "a loop knows the labels of its nodes");
  for (auto n = loop.begin.index(); n <= loop.result.index(); ++n) {
    const auto& grid = plan.nodes[n].grid;
    const auto& labels = loop.dimensions[n - loop.begin.index()];
    check(labels.size() == grid.rank(), "a loop knows the label of every dimension of its nodes");
    if (std::holds_alternative<ScanNode>(plan.nodes[n].op)) continue;
    for (const auto& sliced : loop.labels)
      for (std::size_t d = 0; d < labels.size(); ++d)
        check(labels[d] != sliced.label || grid.partition()[d] % sliced.parts == 0, "tiles lie in one slice each");
  }
  for (auto n = loop.result.index() + 1; n < plan.nodes.size(); ++n)
    for (const auto input : inputs_of(plan.nodes[n]))
      check(!loop.contains(input) || input == loop.result, "nothing but its result is read outside of a loop");
}

// Scans, one join, its group-by if it has one, and a sink.
bool is_single_join(const PhysicalPlan& plan) {
  std::size_t n = 0;
  while (std::holds_alternative<ScanNode>(plan.nodes[n].op)) ++n;
  if (!std::holds_alternative<JoinNode>(plan.nodes[n++].op)) return false;
  if (std::holds_alternative<GroupByNode>(plan.nodes[n].op)) ++n;
  return n + 1 == plan.nodes.size();
}

void check_window(const PhysicalPlan& plan) {
  const Checker check("the plan's window");
  check(plan.loops.empty() && is_single_join(plan), "only a plan of a single join has a window");
  const auto join = std::find_if(plan.nodes.begin(), plan.nodes.end(),
                                 [](const auto& node) { return std::holds_alternative<JoinNode>(node.op); });
  const auto& partition = std::get<JoinNode>(join->op).partition;
  Labels labels;
  for (const auto& [label, parts, part] : plan.window) {
    check(contains(partition.labels, label) && !contains(labels, label), "a window has labels of the join, each once");
    check(parts >= 1 && part >= 0 && part < parts, "a window is a part of a label's range");
    check(partition.of(label) % parts == 0, "tiles lie in the window or outside of it");
    labels.push_back(label);
  }
}

void check_sinks(const PhysicalPlan& plan) {
  const auto count = plan.result_count();
  CHECK(count > 0, "a physical plan has a sink");
  std::vector<bool> known(count, false);
  for (const auto& node : plan.nodes) {
    const auto* sink = std::get_if<SinkNode>(&node.op);
    if (sink == nullptr) continue;
    CHECK(sink->result < count && !known[sink->result], "every result has one sink");
    known[sink->result] = true;
  }
}

void check_readers(const PhysicalPlan& plan) {
  std::vector<std::vector<NodeId>> readers(plan.nodes.size());
  for (std::size_t n = 0; n < plan.nodes.size(); ++n)
    for (const auto input : inputs_of(plan.nodes[n])) readers[input.index()].emplace_back(n);
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const Checker check("node " + std::to_string(n) + " (" + operator_name(plan.nodes[n]) + ")");
    const bool is_sink = std::holds_alternative<SinkNode>(plan.nodes[n].op);
    check(is_sink == readers[n].empty(), "every node but the sinks is read");
    const auto* join = std::get_if<JoinNode>(&plan.nodes[n].op);
    if (join == nullptr || !cuts_aggregated_label(*join)) continue;
    check(readers[n].size() == 1 && std::holds_alternative<GroupByNode>(plan.node(readers[n][0]).op),
          "a join whose aggregated labels are cut is read by its group-by alone");
  }
}

}  // namespace

void validate(const EinGraph& graph, std::size_t max_arity) {
  check_outputs(graph);
  for (std::size_t n = 0; n < graph.size(); ++n) check_vertex(graph, VertexId(n), max_arity);
  std::vector<bool> in_a_chain(graph.size(), false);
  for (const auto& chain : graph.chains()) check_chain(graph, chain, in_a_chain);
  if (graph.sliced().empty()) return;
  std::vector<bool> in_a_body(graph.size(), false);
  for (const auto& sliced : graph.sliced()) check_sliced(graph, sliced, in_a_body);
  check_readers_of_slices(graph);
}

void validate(const PhysicalPlan& plan) {
  check_sinks(plan);
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    const auto& node = plan.nodes[n];
    const Checker check("node " + std::to_string(n) + " (" + operator_name(node) + ")");
    for (const auto input : inputs_of(node)) check(input.index() < n, "inputs come before their readers");
    std::visit(NodeChecker{plan, node, check}, node.op);
  }
  for (const auto& loop : plan.loops) check_loop(plan, loop);
  if (!plan.window.empty()) check_window(plan);
  check_readers(plan);
}

}  // namespace eindb
