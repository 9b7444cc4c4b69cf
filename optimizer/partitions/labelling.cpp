#include "optimizer/partitions/labelling.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/partitions/viable.hpp"

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
                                       size_of(producer.dtype)) *
            producer.density.present;
  }
  return cost;
}

double cost_of_output(const EinGraph& graph, const Labelling& labelling, const DecompositionOptions& options) {
  const auto& output = graph.vertex(graph.output());
  if (!options.output_partition || is_free_in_any_partition(output, options)) return 0;
  const auto& partition = labelling.vertices[graph.output().index()].partition;
  return options.model->repartition(result_partition(output, partition), *options.output_partition,
                                    output.bound.extents(), size_of(output.dtype)) *
         output.density.present;
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

namespace {

// Of the vertices, in the order of first occurrence.
Labels labels_of(const EinGraph& graph, const FusedChain& chain) {
  Labels all;
  for (const auto id : chain.body)
    for (const auto label : graph.vertex(id).einsum.labels())
      if (!contains(all, label)) all.push_back(label);
  return all;
}

bool is_in_slices(const EinGraph& graph, const FusedChain& chain) {
  return std::any_of(chain.body.begin(), chain.body.end(),
                     [&](VertexId id) { return graph.sliced_with(id) != nullptr; });
}

LabelPartition cut_rows(const EinGraph& graph, const FusedChain& chain, std::int64_t calls) {
  LabelPartition partition{labels_of(graph, chain), {}};
  partition.parts.assign(partition.labels.size(), 1);
  for (const auto row : chain.rows) {
    const auto place = std::find(partition.labels.begin(), partition.labels.end(), row) - partition.labels.begin();
    const auto parts = std::min(calls, floor_power_of_two(graph.labels().extent(row)));
    partition.parts[static_cast<std::size_t>(place)] = parts;
    calls /= parts;
  }
  return partition;
}

}  // namespace

std::vector<LabelPartition> fitted_to_chains(const EinGraph& graph, std::vector<LabelPartition> partitions) {
  for (const auto& chain : graph.chains()) {
    std::int64_t calls = 1;
    for (const auto id : chain.body) calls = std::max(calls, partitions[id.index()].kernel_calls());
    const auto whole = cut_rows(graph, chain, calls);
    if (is_in_slices(graph, chain) || whole.kernel_calls() * 2 < calls) continue;
    for (const auto id : chain.body) {
      auto& own = partitions[id.index()];
      own.parts = whole.project(own.labels);
    }
  }
  return partitions;
}

std::optional<LabelPartition> partition_of_chain(const EinGraph& graph, const FusedChain& chain,
                                                 const std::vector<LabelPartition>& partitions) {
  if (is_in_slices(graph, chain)) return std::nullopt;
  LabelPartition whole{labels_of(graph, chain), {}};
  const auto& result = partitions[chain.result.index()];
  for (const auto label : whole.labels) whole.parts.push_back(contains(chain.rows, label) ? result.of(label) : 1);
  for (const auto id : chain.body) {
    const auto& own = partitions[id.index()];
    if (own.parts != whole.project(own.labels)) return std::nullopt;
  }
  return whole;
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
