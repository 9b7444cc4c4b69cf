#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "parser/binder/expression_binder.hpp"

namespace eindb {
namespace {

// The values of which each is taken at the indices below its end that those before it leave, half of them on each side
// of a CASE: of many, each is then read and written a few times. One value alone has the label that chooses, too.
ScalarPtr chosen(Label by, std::span<const std::pair<std::int64_t, ScalarPtr>> values, bool is_whole = true) {
  if (values.size() == 1 && !is_whole) return values.front().second;
  const auto half = std::max<std::size_t>(values.size() / 2, 1);
  auto is_before = ScalarExpression::call(
      ScalarOp::Less, {ScalarExpression::label_index(by), ScalarExpression::integer(values[half - 1].first)});
  auto before = chosen(by, values.first(half), false);
  auto after = values.size() == 1 ? before : chosen(by, values.subspan(half), false);
  return ScalarExpression::call(ScalarOp::Case, {std::move(is_before), std::move(before), std::move(after)});
}

}  // namespace

// An argument of CONCAT at its place among the others, as an access whose cells outside are 0:
//     Z[i,j] = SUM[i'](CASE WHEN i' = i - offset THEN X[i',j] ELSE 0 END)
ScalarPtr ExpressionBinder::moved(const ast::Expression& e, const ast::Identifier& own, Label along,
                                  std::int64_t offset, SourceSpan span, Draft& draft) {
  const auto read = *labels_.find(own);
  const auto values = materialize(e, draft_inside(draft, {read}));
  auto head = values.labels;
  std::replace(head.begin(), head.end(), read, along);
  auto index = ScalarExpression::label_index(along);
  if (offset != 0)
    index = ScalarExpression::call(ScalarOp::Add, {std::move(index), ScalarExpression::integer(-offset)});
  auto is_there = ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(read), std::move(index)});
  EinSum einsum{.inputs = {values.labels},
                .output = DistinctLabels(head).labels(),
                .aggregated = {read},
                .expression = ScalarExpression::call(
                    ScalarOp::Case, {std::move(is_there), ScalarExpression::operand(0), ScalarExpression::integer(0)}),
                .aggregate = Aggregate::Sum};
  const bool adapts = graph_.vertex(values.vertex).adapts();
  const auto made = with_place(span, [&] {
    auto vertex = make_vertex(graph_, next_name(), {values.vertex}, std::move(einsum));
    vertex.is_part_of_adapting = adapts;
    return graph_.add(std::move(vertex));
  });
  return operand(made, graph_.vertex(made).einsum.output, draft);
}

// CONCAT[i](x, y, ...) chooses among its arguments by the index i. One that has no label i is one index of it.
ScalarPtr ExpressionBinder::concatenation(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  const auto& name = e.labels->front().label;
  const auto* along = labels_.find(name);
  const auto has_extent = [&](const std::optional<ast::Identifier>& own) {
    return !own || labels_.find(*own) != nullptr;
  };
  if (along == nullptr || !std::all_of(e.own.begin(), e.own.end(), has_extent))
    throw Error(ErrorKind::Label, "label " + name.text + " has no extent in an argument of CONCAT", span,
                "each argument has it as a label of a tensor, or not at all and is one index: CONCAT[" + name.text +
                    "](X[" + name.text + ",j], Y[j])");
  std::vector<std::pair<std::int64_t, ScalarPtr>> values;
  std::int64_t offset = 0;
  for (std::size_t n = 0; n < e.own.size(); ++n) {
    const auto& argument = n == 0 ? e.argument.front() : e.second[n - 1];
    const auto& own = e.own[n];
    auto value = own ? moved(argument, *own, *along, offset, span, draft) : lower(argument, draft);
    offset += own ? graph_.labels().extent(*labels_.find(*own)) : 1;  // their sum is an extent
    values.emplace_back(offset, std::move(value));
  }
  return chosen(*along, values);
}

// STACK[k](x, y, ...) chooses among its arguments by k.
ScalarPtr ExpressionBinder::stack(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  const auto named = e.labels ? named_labels(*e.labels) : Labels{};
  DistinctLabels free;
  collect_free_labels(e.argument.front(), draft.visible, free);
  for (const auto& other : e.second) collect_free_labels(other, draft.visible, free);
  if (named.size() != 1 || free.contains(named.front()))
    throw Error(ErrorKind::Label, "STACK numbers its arguments by a label that none of them has", span,
                "as in STACK[k](X[i,j], Y[i,j])");
  std::vector<std::pair<std::int64_t, ScalarPtr>> values;
  values.emplace_back(1, lower(e.argument.front(), draft));
  for (const auto& other : e.second) {
    const auto next = static_cast<std::int64_t>(values.size()) + 1;
    values.emplace_back(next, lower(other, draft));
  }
  return chosen(named.front(), values);
}

}  // namespace eindb
