#include "optimizer/flops.hpp"

#include <algorithm>
#include <limits>

#include "tensor/block_form.hpp"
#include "tensor/partition.hpp"
#include "tensor/scan_form.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

// An operation over n arguments counts as n - 1 binary ones, or as one if it is unary.
double operations_of(const ScalarExpression& e) {
  if (e.kind() != ScalarExpression::Kind::Call) return 0;
  auto count = static_cast<double>(std::max<std::size_t>(2, e.arguments().size()) - 1);
  for (const auto& argument : e.arguments()) count += operations_of(*argument);
  return count;
}

// The product over thousands of labels can exceed the range of a double.
double finite(double value) { return std::min(value, std::numeric_limits<double>::max()); }

// Elements of a vertex's result that are held at once.
double largest_slice(const EinGraph& graph, VertexId id) {
  const auto* sliced = graph.sliced_with(id);
  double cells = 1;
  for (const auto label : graph.vertex(id).einsum.output) {
    auto extent = graph.labels().extent(label);
    if (sliced != nullptr && sliced->result != id)
      for (const auto& cut : sliced->labels)
        if (cut.label == label) extent = largest_part(extent, cut.parts);
    cells = finite(cells * static_cast<double>(extent));
  }
  return cells;
}

// How often each cell of a vertex is computed: once per slice of the labels that the vertex does not have.
double repetitions_of(const EinGraph& graph, VertexId id) {
  const auto* sliced = graph.sliced_with(id);
  if (sliced == nullptr) return 1;
  const auto labels = graph.vertex(id).einsum.labels();
  double repetitions = 1;
  for (const auto& cut : sliced->labels)
    if (!contains(labels, cut.label)) repetitions *= static_cast<double>(cut.parts);
  return repetitions;
}

double cells_of(const Labels& labels, const LabelTable& table) {
  double cells = 1;
  for (const auto label : labels) cells = finite(cells * static_cast<double>(table.extent(label)));
  return cells;
}

// The labels over which the kernel of a vertex loops.
Labels computed_labels(const Vertex& vertex) {
  return difference(vertex.einsum.labels(), skipped_labels(vertex.einsum, vertex.compute_dtype));
}

double operations_to_aggregate(const EinSum& einsum) {
  if (einsum.user != nullptr) return operations_of(*einsum.user->combination);
  return einsum.aggregate == Aggregate::None ? 0 : 1;
}

double epilogue_operations(const EinGraph& graph, const Vertex& vertex) {
  if (vertex.einsum.epilogue == nullptr) return 0;
  return operations_of(*vertex.einsum.epilogue) * cells_of(vertex.einsum.output, graph.labels());
}

}  // namespace

GraphFlops flops_of(const EinGraph& graph) {
  GraphFlops out;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& vertex = graph.vertex(VertexId(v));
    if (vertex.is_input()) continue;
    const double operations = vertex.einsum.block
                                  ? block_operations(vertex.einsum, graph.labels())
                                  : operations_of(*vertex.einsum.expression) + operations_to_aggregate(vertex.einsum);
    const double once =
        operations * cells_of(computed_labels(vertex), graph.labels()) + epilogue_operations(graph, vertex);
    out.flops = finite(out.flops + once * repetitions_of(graph, VertexId(v)));
    out.largest_result = std::max(out.largest_result, largest_slice(graph, VertexId(v)));
  }
  return out;
}

}  // namespace eindb
