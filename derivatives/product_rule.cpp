#include "derivatives/product_rule.hpp"

#include <algorithm>
#include <utility>

#include "common/checked_math.hpp"
#include "derivatives/scalar_algebra.hpp"

namespace eindb {
namespace {

Labels with_label(Labels labels, Label from, Label to) {
  std::replace(labels.begin(), labels.end(), from, to);
  return labels;
}

ScalarPtr where_equal(Label a, ScalarPtr b, ScalarPtr value, std::int64_t otherwise) {
  auto same = ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(a), std::move(b)});
  return ScalarExpression::call(ScalarOp::Case,
                                {std::move(same), std::move(value), ScalarExpression::integer(otherwise)});
}

}  // namespace

std::vector<VertexId> product_parts(EinGraph& graph, VertexId values, const Labels& aggregated, const Labels& output) {
  std::vector<VertexId> parts;
  auto last = values;
  auto labels = graph.vertex(values).einsum.output;
  const auto add = [&](const char* what, EinSum einsum) {
    const auto type = graph.vertex(values).dtype;
    const auto name = graph.vertex(values).name + what;
    last = graph.add(make_vertex(graph, name, {last}, std::move(einsum), type));
    parts.push_back(last);
  };
  std::int64_t times = 1;
  for (const auto label : difference(aggregated, labels)) times = checked_multiply(times, graph.labels().extent(label));
  const auto over = difference(aggregated, difference(aggregated, labels));
  if (times != 1 || over.empty())
    add(".power", {.inputs = {labels},
                   .output = over.empty() ? output : labels,
                   .aggregated = {},
                   .expression = algebra::power(ScalarExpression::operand(0), ScalarExpression::integer(times))});
  for (const auto label : over) {
    const auto upto = graph.labels().add(graph.labels().name(label), graph.labels().extent(label));
    auto running = with_label(labels, label, upto);
    auto before = ScalarExpression::call(ScalarOp::LessEqual,
                                         {ScalarExpression::label_index(label), ScalarExpression::label_index(upto)});
    add(".running",
        {.inputs = {labels},
         .output = running,
         .aggregated = {label},
         .expression = ScalarExpression::call(
             ScalarOp::Case, {std::move(before), ScalarExpression::operand(0), ScalarExpression::integer(1)}),
         .aggregate = Aggregate::Prod});
    const bool is_last = label == over.back();
    labels = is_last ? output : difference(running, {upto});
    const auto end = ScalarExpression::integer(graph.labels().extent(label) - 1);
    add(".product", {.inputs = {running},
                     .output = labels,
                     .aggregated = {upto},
                     .expression = where_equal(upto, end, ScalarExpression::operand(0), 0),
                     .aggregate = Aggregate::Sum});
  }
  return parts;
}

}  // namespace eindb
