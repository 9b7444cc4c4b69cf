#include "optimizer/rewrites/log_sum_exp_parts.hpp"

#include <algorithm>

#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/kernel_choice.hpp"
#include "tensor/log_sum_exp.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

bool has_kernel(const EinGraph& graph, const Vertex& vertex) {
  auto typed = vertex.einsum;
  const auto types = input_types(graph, vertex.inputs);
  typed.expression = with_types(typed.expression, types, graph.labels(), vertex.compute_dtype);
  const auto kind = KernelChoice(typed, vertex.compute_dtype).kind(graph.labels().extents(typed.labels()));
  return kind == KernelKind::Pairs || kind == KernelKind::Scan;
}

VertexId expand(VertexSplitter splitter) {
  const auto& einsum = splitter.vertex().einsum;
  auto value = einsum.expression;
  const auto labels = splitter.labels_of(*value);
  const auto head = difference(labels, einsum.aggregated);
  // The maximum is a third operand of the exponentials.
  if (operands_of(*value).size() > 1) value = splitter.add_part(value, labels, {}, Aggregate::None);
  const auto maximum = splitter.add_part(value, head, einsum.aggregated, Aggregate::Max);
  const auto sum = splitter.add_part(shifted_exponential(value, maximum), head, einsum.aggregated, Aggregate::Sum);
  return splitter.finish(log_of_shifted_sum(sum, maximum), {});
}

}  // namespace

EinGraph expand_log_sum_exp(const EinGraph& graph) {
  const auto has_aggregate = [](const Vertex& vertex) { return vertex.einsum.aggregate == Aggregate::LogSumExp; };
  if (std::none_of(graph.vertices().begin(), graph.vertices().end(), has_aggregate)) return graph;
  VertexNames names(graph);
  return rewrite_each(graph, [&](EinGraph& out, const Vertex& vertex) -> std::optional<VertexId> {
    const bool stays = vertex.einsum.aggregate != Aggregate::LogSumExp || has_kernel(out, vertex);
    return stays ? std::nullopt : std::optional(expand(VertexSplitter(out, names, vertex)));
  });
}

}  // namespace eindb
