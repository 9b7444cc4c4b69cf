#include "optimizer/partitions/labelling.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/check.hpp"
#include "common/divisors.hpp"
#include "optimizer/partitions/chain_shape.hpp"
#include "optimizer/partitions/cost_model.hpp"

namespace eindb {

const Partition* wanted_of(const EinGraph& graph, const WantedPartitions& wanted, VertexId id) {
  const auto number = graph.output_number(id);
  if (!number || *number >= wanted.size() || !wanted[*number]) return nullptr;
  return &*wanted[*number];
}

bool is_free_in_any_partition(const Vertex& vertex, const DecompositionOptions& options) {
  if (!vertex.is_input()) return false;
  return options.free_inputs || vertex.stored->reads_in_any_partition();
}

Partition result_partition(const Vertex& vertex, const LabelPartition& partition) {
  return vertex.is_input() ? vertex.stored->grid.partition() : partition.project(vertex.einsum.output);
}

std::vector<LabelPartition> fitted_to_cells(const EinGraph& graph, std::vector<LabelPartition> partitions) {
  CHECK(partitions.size() == graph.size(), "every vertex has a partition vector before it is fitted to cells");
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& vertex = graph.vertex(VertexId(v));
    if (vertex.is_input() || !vertex.cells) continue;
    for (std::size_t n = 0; n < partitions[v].labels.size(); ++n)
      if (contains(vertex.einsum.aggregated, partitions[v].labels[n])) partitions[v].parts[n] = 1;
  }
  return partitions;
}

std::vector<LabelPartition> fitted_to_slices(const EinGraph& graph, std::vector<LabelPartition> partitions) {
  CHECK(partitions.size() == graph.size(), "every vertex has a partition vector before it is fitted to slices");
  for (const auto& contraction : graph.sliced()) {
    for (const auto id : contraction.body) {
      auto& partition = partitions[id.index()];
      const auto slices = graph.slices_of(id);
      CHECK(partition.parts.size() == slices.size(), "slices and partition vectors are of the same labels");
      for (std::size_t n = 0; n < slices.size(); ++n) {
        if (partition.parts[n] % slices[n] == 0) continue;
        const auto most = graph.labels().extent(partition.labels[n]) / slices[n];
        partition.parts[n] = slices[n] * std::min(most, std::max<std::int64_t>(1, partition.parts[n] / slices[n]));
        CHECK(partition.parts[n] >= slices[n], "every slice has a part");
      }
    }
  }
  return partitions;
}

namespace {

// The labels of the chain's vertices, in the order of first occurrence.
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

// Cuts one row into as many parts as it can have, up to the calls that are wanted, and the others in their order.
LabelPartition cut_rows(const EinGraph& graph, const FusedChain& chain, Label first, std::int64_t calls) {
  LabelPartition partition{labels_of(graph, chain), {}};
  partition.parts.assign(partition.labels.size(), 1);
  Labels rows{first};
  std::copy_if(chain.rows.begin(), chain.rows.end(), std::back_inserter(rows), [&](Label row) { return row != first; });
  for (const auto row : rows) {
    const auto place = std::find(partition.labels.begin(), partition.labels.end(), row) - partition.labels.begin();
    CHECK(static_cast<std::size_t>(place) < partition.parts.size(), "the rows of a chain are labels of its vertices");
    const auto parts = largest_divisor(calls, graph.labels().extent(row));
    partition.parts[static_cast<std::size_t>(place)] = parts;
    calls /= parts;
  }
  return partition;
}

// The costs of vertices with given partition vectors. Chains whose vectors agree are costed as fused.
class Costs {
 public:
  Costs(const EinGraph& graph, const std::vector<LabelPartition>& partitions, const DecompositionOptions& options)
      : graph_(graph), partitions_(partitions), options_(options) {}

  /// `chain` is the chain that the vertex is fused into, or null.
  VertexLabelling of(VertexId id, const FusedChain* chain) const {
    const auto& vertex = graph_.vertex(id);
    VertexLabelling out;
    if (vertex.is_input()) return out;
    out.partition = partitions_[id.index()];
    std::optional<VertexShape> found;
    if (options_.shapes == nullptr)
      found = chain != nullptr ? shape_in_chain(graph_, id, *chain) : shape_of(graph_, vertex);
    const auto& shape = found ? *found : options_.shapes->of(id, chain != nullptr);
    DCHECK(out.partition.parts.size() == shape.extents.size(), "a vertex is cut along each of its labels");
    out.cost_join = options_.model->join(shape, out.partition.parts);
    out.cost_agg = options_.model->aggregation(shape, out.partition.parts);
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      if (!is_at_hand(shape, n))
        out.cost_repart += moving(vertex.inputs[n], read_partition(shape, out.partition.parts, n));
    return out;
  }

  double of_outputs() const {
    double cost = 0;
    for (const auto output : graph_.outputs()) cost += of_output(output);
    return cost;
  }

  /// The cost of a chain, and of moving its result to its readers.
  double of(const FusedChain& chain, const std::vector<VertexId>& readers, bool fused) const {
    double cost = 0;
    for (const auto id : chain.body) cost += of(id, fused ? &chain : nullptr).cost();
    for (const auto reader : readers) cost += repartitions_of(reader, chain.result);
    return cost + of_output(chain.result);
  }

 private:
  double of_output(VertexId id) const {
    const auto* wanted = wanted_of(graph_, options_.output_partitions, id);
    return wanted != nullptr ? moving(id, *wanted) : 0;
  }

  double moving(VertexId id, const Partition& wanted) const {
    const auto& producer = graph_.vertex(id);
    if (is_free_in_any_partition(producer, options_)) return 0;
    return options_.model->repartition(result_partition(producer, partitions_[id.index()]), wanted,
                                       producer.bound.extents(), size_of(producer.dtype)) *
           producer.density.present * producer.stored_share();
  }

  double repartitions_of(VertexId reader, VertexId result) const {
    const auto& vertex = graph_.vertex(reader);
    std::optional<VertexShape> made;
    if (options_.shapes == nullptr) made = shape_of(graph_, vertex);
    const auto& shape = made ? *made : options_.shapes->of(reader, false);
    double cost = 0;
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      if (vertex.inputs[n] == result)
        cost += moving(result, read_partition(shape, partitions_[reader.index()].parts, n));
    return cost;
  }

  const EinGraph& graph_;
  const std::vector<LabelPartition>& partitions_;
  const DecompositionOptions& options_;
};

// How much longer a chain may be predicted to take in strips than apart. Values that no cache holds take their memory
// from everything else, and first use of memory costs more than the model knows.
double tolerance_for(const EinGraph& graph, const FusedChain& chain) {
  constexpr double kBeyondCaches = 32 * 1024 * 1024;
  constexpr double kTolerance = 1.5;
  double bytes = 0;
  for (const auto id : chain.body) {
    const auto& vertex = graph.vertex(id);
    if (id != chain.result) bytes += static_cast<double>(vertex.bound.element_count() * size_of(vertex.dtype));
  }
  return bytes > kBeyondCaches ? kTolerance : 1;
}

// For every vertex, the vertices that read it.
std::vector<std::vector<VertexId>> readers_in(const EinGraph& graph) {
  std::vector<std::vector<VertexId>> readers(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (const auto input : graph.vertex(VertexId(v)).inputs) {
      DCHECK(input.index() < v, "a vertex is read by later ones");
      auto& list = readers[input.index()];
      if (list.empty() || list.back() != VertexId(v)) list.emplace_back(v);
    }
  }
  return readers;
}

}  // namespace

GraphShapes::GraphShapes(const EinGraph& graph) : alone_(graph.size()), fused_(graph.size()) {
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (!graph.vertex(VertexId(v)).is_input()) alone_[v] = shape_of(graph, graph.vertex(VertexId(v)));
  for (const auto& chain : graph.chains())
    for (const auto id : chain.body) fused_[id.index()] = shape_in_chain(graph, id, chain);
}

const VertexShape& GraphShapes::of(VertexId id, bool fused) const {
  const auto& shape = (fused ? fused_ : alone_).at(id.index());
  CHECK(shape.has_value(), "the shape of a vertex is known as it is computed");
  return *shape;
}

std::vector<LabelPartition> fitted_to_chains(const EinGraph& graph, std::vector<LabelPartition> partitions,
                                             const DecompositionOptions& options) {
  if (graph.chains().empty()) return partitions;
  CHECK(partitions.size() == graph.size(), "every vertex has a partition vector before it is fitted to chains");
  const auto readers = readers_in(graph);
  const Costs costs(graph, partitions, options);  // sees the changes to `partitions` below
  for (const auto& chain : graph.chains()) {
    std::int64_t calls = 1;
    for (const auto id : chain.body) calls = std::max(calls, partitions[id.index()].kernel_calls());
    if (is_in_slices(graph, chain)) continue;
    const auto& reading = readers[chain.result.index()];
    const bool is_fused = partition_of_chain(graph, chain, partitions).has_value();
    auto least = costs.of(chain, reading, is_fused) * tolerance_for(graph, chain);
    std::vector<std::vector<std::int64_t>> best;  // so far, by vertex of the chain
    for (const auto id : chain.body) best.push_back(partitions[id.index()].parts);
    // Of cuts that cost the same, the first one in the order of the rows is kept.
    bool is_in_rows = false;
    for (const auto row : chain.rows) {
      const auto whole = cut_rows(graph, chain, row, calls);
      if (whole.kernel_calls() * 2 < calls) continue;
      for (const auto id : chain.body) partitions[id.index()].parts = whole.project(partitions[id.index()].labels);
      const auto cost = costs.of(chain, reading, true);
      if (is_in_rows ? cost >= least : cost > least) continue;
      is_in_rows = true;
      least = cost;
      for (std::size_t n = 0; n < chain.body.size(); ++n) best[n] = partitions[chain.body[n].index()].parts;
    }
    for (std::size_t n = 0; n < chain.body.size(); ++n) partitions[chain.body[n].index()].parts = std::move(best[n]);
  }
  return partitions;
}

std::vector<LabelPartition> fitted(const EinGraph& graph, std::vector<LabelPartition> partitions,
                                   const DecompositionOptions& options) {
  return fitted_to_chains(graph, fitted_to_slices(graph, fitted_to_cells(graph, std::move(partitions))), options);
}

std::optional<LabelPartition> partition_of_chain(const EinGraph& graph, const FusedChain& chain,
                                                 const std::vector<LabelPartition>& partitions) {
  if (is_in_slices(graph, chain)) return std::nullopt;
  CHECK(chain.result.index() < partitions.size(), "the result of a chain has a partition vector");
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
  CHECK(options.model != nullptr, "a labelling is costed by a model");
  std::vector<const FusedChain*> fused_in(graph.size(), nullptr);
  for (const auto& chain : graph.chains())
    if (partition_of_chain(graph, chain, partitions))
      for (const auto id : chain.body) fused_in[id.index()] = &chain;
  const Costs costs(graph, partitions, options);
  Labelling out;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    out.vertices.push_back(costs.of(VertexId(v), fused_in[v]));
    out.total_cost += out.vertices.back().cost();
  }
  out.cost_output = costs.of_outputs();
  out.total_cost += out.cost_output;
  return out;
}

}  // namespace eindb
