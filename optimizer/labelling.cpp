#include "optimizer/labelling.hpp"

#include "common/check.hpp"
#include "optimizer/cost_model.hpp"

namespace eindb {
namespace {

double cost_of_edges(const EinGraph& graph, const Vertex& vertex, const std::vector<VertexLabelling>& known,
                     bool free_inputs) {
  const auto& own = known.back().partition;
  double cost = 0;
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    const auto& producer = graph.vertex(vertex.inputs[n]);
    if (producer.is_input() && free_inputs) continue;
    cost += cost_repart(result_partition(producer, known[vertex.inputs[n].index()].partition),
                        own.project(vertex.einsum.inputs[n]), producer.bound.extents());
  }
  return cost;
}

double cost_of_output(const EinGraph& graph, const Labelling& labelling, const DecompositionOptions& options) {
  const auto& output = graph.vertex(graph.output());
  if (!options.output_partition || (output.is_input() && options.free_inputs)) return 0;
  const auto& partition = labelling.vertices[graph.output().index()].partition;
  return cost_repart(result_partition(output, partition), *options.output_partition, output.bound.extents());
}

}  // namespace

Partition result_partition(const Vertex& vertex, const LabelPartition& partition) {
  return vertex.is_input() ? vertex.stored->grid.partition() : partition.project(vertex.einsum.output);
}

Labelling evaluate(const EinGraph& graph, std::vector<LabelPartition> partitions, const DecompositionOptions& options) {
  CHECK(partitions.size() == graph.size(), "a labelling has an entry for every vertex");
  Labelling out;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& vertex = graph.vertex(VertexId(v));
    auto& labelled = out.vertices.emplace_back();
    if (vertex.is_input()) continue;
    labelled.partition = std::move(partitions[v]);
    const auto shape = shape_of(vertex.einsum, graph.labels());
    labelled.cost_join = cost_join(shape, labelled.partition.parts);
    labelled.cost_agg = cost_agg(shape, labelled.partition.parts);
    labelled.cost_repart = cost_of_edges(graph, vertex, out.vertices, options.free_inputs);
    out.total_cost += labelled.cost();
  }
  out.cost_output = cost_of_output(graph, out, options);
  out.total_cost += out.cost_output;
  return out;
}

}  // namespace eindb
