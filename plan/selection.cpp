#include "plan/selection.hpp"

#include "common/check.hpp"

namespace eindb {
namespace {

VertexId select_computed(EinGraph& graph, VertexId vertex, const std::vector<std::optional<std::int64_t>>& at) {
  const auto bound = graph.vertex(vertex).bound;
  EinSum einsum{.inputs = {{}}, .output = {}, .aggregated = {}, .expression = nullptr, .aggregate = Aggregate::Sum};
  ScalarPtr here;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const auto label = graph.labels().add("at" + std::to_string(d + 1), bound[d]);
    const auto& computed = graph.vertex(vertex).einsum.output;
    graph.labels().set_index_names(label, graph.labels().index_names(computed[d]));
    einsum.inputs[0].push_back(label);
    (at[d] ? einsum.aggregated : einsum.output).push_back(label);
    if (!at[d] || bound[d] == 1) continue;
    auto same = ScalarExpression::call(ScalarOp::Equal,
                                       {ScalarExpression::label_index(label), ScalarExpression::integer(*at[d])});
    here = here == nullptr ? same : ScalarExpression::call(ScalarOp::And, {here, same});
  }
  einsum.expression = ScalarExpression::operand(0);
  if (here != nullptr)
    einsum.expression = ScalarExpression::call(ScalarOp::Case, {here, einsum.expression, ScalarExpression::integer(0)});
  const auto name = graph.vertex(vertex).name + Selection{.stored = {}, .at = at, .parameters = {}}.to_string();
  return graph.add(make_vertex(graph, name, {vertex}, std::move(einsum)));
}

}  // namespace

VertexId select(EinGraph& graph, VertexId vertex, const std::vector<std::optional<std::int64_t>>& at,
                const std::map<std::size_t, std::size_t>& parameters) {
  if (const auto tensor = graph.vertex(vertex).stored) return graph.add(make_input(held_at(*tensor, at, parameters)));
  CHECK(parameters.empty(), "what is computed is selected from at indices that the plan knows");
  return select_computed(graph, vertex, at);
}

}  // namespace eindb
