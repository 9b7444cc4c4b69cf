#include "optimizer/partitions/labelling.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "optimizer/partitions/cost_model.hpp"

namespace eindb {
namespace {

double cost_of_edges(const EinGraph& graph, const Vertex& vertex, const std::vector<VertexLabelling>& known,
                     const DecompositionOptions& options) {
  const auto& own = known.back().partition;
  double cost = 0;
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    const auto& producer = graph.vertex(vertex.inputs[n]);
    if (is_free_in_any_partition(producer, options)) continue;
    cost += options.model->repartition(result_partition(producer, known[vertex.inputs[n].index()].partition),
                                       own.project(vertex.einsum.inputs[n]), producer.bound.extents(),
                                       size_of(producer.dtype));
  }
  return cost;
}

double cost_of_output(const EinGraph& graph, const Labelling& labelling, const DecompositionOptions& options) {
  const auto& output = graph.vertex(graph.output());
  if (!options.output_partition || is_free_in_any_partition(output, options)) return 0;
  const auto& partition = labelling.vertices[graph.output().index()].partition;
  return options.model->repartition(result_partition(output, partition), *options.output_partition,
                                    output.bound.extents(), size_of(output.dtype));
}

}  // namespace

bool is_free_in_any_partition(const Vertex& vertex, const DecompositionOptions& options) {
  if (!vertex.is_input()) return false;
  return options.free_inputs || (vertex.stored->attached && !vertex.stored->selection);
}

Partition result_partition(const Vertex& vertex, const LabelPartition& partition) {
  return vertex.is_input() ? vertex.stored->grid.partition() : partition.project(vertex.einsum.output);
}

std::vector<LabelPartition> fitted_to_slices(const EinGraph& graph, std::vector<LabelPartition> partitions) {
  for (const auto& contraction : graph.sliced()) {
    for (const auto id : contraction.body) {
      auto& partition = partitions[id.index()];
      const auto slices = graph.slices_of(id);
      for (std::size_t n = 0; n < slices.size(); ++n) {
        if (partition.parts[n] % slices[n] == 0) continue;
        const auto most = graph.labels().extent(partition.labels[n]) / slices[n];
        partition.parts[n] = slices[n] * std::min(most, std::max<std::int64_t>(1, partition.parts[n] / slices[n]));
      }
    }
  }
  return partitions;
}

Labelling evaluate(const EinGraph& graph, std::vector<LabelPartition> partitions, const DecompositionOptions& options) {
  CHECK(partitions.size() == graph.size(), "a labelling has an entry for every vertex");
  Labelling out;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& vertex = graph.vertex(VertexId(v));
    auto& labelled = out.vertices.emplace_back();
    if (vertex.is_input()) continue;
    labelled.partition = std::move(partitions[v]);
    const auto shape = shape_of(graph, vertex);
    labelled.cost_join = options.model->join(shape, labelled.partition.parts);
    labelled.cost_agg = options.model->aggregation(shape, labelled.partition.parts);
    labelled.cost_repart = cost_of_edges(graph, vertex, out.vertices, options);
    out.total_cost += labelled.cost();
  }
  out.cost_output = cost_of_output(graph, out, options);
  out.total_cost += out.cost_output;
  return out;
}

}  // namespace eindb
