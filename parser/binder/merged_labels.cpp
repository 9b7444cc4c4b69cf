#include "parser/binder/merged_labels.hpp"

#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {

// SUM[i,j](CASE WHEN i_j = (extent of j) * i + j THEN Z[i,j,k] ELSE 0 END), which tensor/access_form writes as it is.
VertexId merge_labels(EinGraph& graph, VertexId vertex, const std::vector<ast::Definition::Merged>& merged) {
  const auto name = graph.vertex(vertex).name;
  const auto labels = graph.vertex(vertex).einsum.output;
  EinSum einsum{.inputs = {labels}, .output = {}, .aggregated = {}, .expression = nullptr, .aggregate = Aggregate::Sum};
  ScalarPtr condition;
  auto next = merged.begin();
  for (std::size_t n = 0; n < labels.size();) {
    if (next == merged.end() || next->first != n) {
      einsum.output.push_back(labels[n++]);
      continue;
    }
    CHECK(next->count > 1 && n + next->count <= labels.size(), "labels of the head become one");
    std::int64_t cells = 1;
    std::string joined;
    std::vector<ScalarPtr> terms;
    for (auto part = n + next->count; part-- > n;) {
      const auto index = ScalarExpression::label_index(labels[part]);
      terms.push_back(ScalarExpression::call(ScalarOp::Multiply, {ScalarExpression::integer(cells), index}));
      cells = checked_multiply(cells, graph.labels().extent(labels[part]));
      joined = graph.labels().name(labels[part]) + (joined.empty() ? "" : "_") + joined;
      einsum.aggregated.push_back(labels[part]);
    }
    const auto whole = graph.labels().add(joined, cells);
    einsum.output.push_back(whole);
    auto equation = ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(whole),
                                                             ScalarExpression::call(ScalarOp::Add, std::move(terms))});
    condition = condition == nullptr ? equation : ScalarExpression::call(ScalarOp::And, {condition, equation});
    n += next->count;
    ++next;
  }
  CHECK(condition != nullptr, "some labels become one");
  einsum.expression =
      ScalarExpression::call(ScalarOp::Case, {condition, ScalarExpression::operand(0), ScalarExpression::integer(0)});
  auto made = make_vertex(graph, name, {vertex}, std::move(einsum));
  made.is_part_of_adapting = graph.vertex(vertex).adapts();
  graph.rename(vertex, name + ".apart");
  return graph.add(std::move(made));
}

}  // namespace eindb
