#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parser/binder/expression_binder.hpp"

namespace eindb {
namespace {

using Pad = ast::Padding::Kind;

ScalarPtr of_scalars(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}
ScalarPtr integer_of(std::int64_t value) { return ScalarExpression::integer(value); }

// The index of the cell that is read for indices first, first + 1, ... outside: begin + step * n.
struct IndexOutside {
  std::int64_t begin;
  std::int64_t step;
};

IndexOutside read_outside(Pad kind, std::int64_t first, std::int64_t extent) {
  switch (kind) {
    case Pad::Reflect: return {first < 0 ? -first : 2 * (extent - 1) - first, -1};
    case Pad::Wrap: return {first < 0 ? first + extent : first - extent, 1};
    default: return {first < 0 ? 0 : extent - 1, 0};
  }
}

}  // namespace

// The least and the greatest value; nullopt beyond 64 bits, or of labels without an index.
std::optional<std::pair<std::int64_t, std::int64_t>> ExpressionBinder::bounds_of(const LabelAffine& index) const {
  auto least = index.offset;
  auto most = index.offset;
  for (const auto& [label, coefficient] : index.coefficients) {
    const auto extent = graph_.labels().extent(label);
    std::int64_t last = 0;
    if (extent == 0 || __builtin_mul_overflow(coefficient, extent - 1, &last)) return std::nullopt;
    auto& end = last < 0 ? least : most;
    if (__builtin_add_overflow(end, last, &end)) return std::nullopt;
  }
  return std::pair(least, most);
}

// The values of a tensor at the indices of [first, last] along one dimension, with those that padding reads outside, as
// a tensor that a window reads: what lies inside is read where it is, what lies outside is a small tensor on either
// side. Nullopt where cells outside come of several places, or where there are more of these indices than cells that
// are read: they are gathered.
std::optional<VertexId> ExpressionBinder::with_frame(VertexId base, std::size_t dimension, Pad kind,
                                                     const LabelAffine& index,
                                                     std::pair<std::int64_t, std::int64_t> bounds) {
  const auto first = bounds.first;
  const auto last = bounds.second;
  const auto& values = graph_.vertex(base);
  const auto extent = values.bound[dimension];
  const auto farthest = kind == Pad::Reflect ? extent - 1 : extent;
  if (first >= extent || last < 0 || first < -farthest || last - extent >= farthest || values.adapts())
    return std::nullopt;
  const auto before = std::max<std::int64_t>(0, -first);
  const auto behind = std::max<std::int64_t>(0, last - extent + 1);
  if (values.is_input() && values.stored->cells) return std::nullopt;
  double cells = 1;
  for (const auto& [label, coefficient] : index.coefficients)
    cells *= static_cast<double>(graph_.labels().extent(label));
  const auto count = last - first + 1;
  if (static_cast<double>(count) > cells) return std::nullopt;

  Labels labels;
  for (std::size_t d = 0; d < values.bound.rank(); ++d)
    labels.push_back(labels_.fresh("frame." + std::to_string(d + 1), d == dimension ? count : values.bound[d]));
  const auto along = labels[dimension];
  const auto in_place = [&](Label label) {
    auto out = labels;
    out[dimension] = label;
    return out;
  };
  const auto add = [&](std::vector<VertexId> inputs, EinSum einsum) {
    return graph_.add(make_vertex(graph_, next_name(), std::move(inputs), std::move(einsum)));
  };
  // tensor[label] at label = begin + step * at, which is 0 where there is no such index.
  const auto read_at = [&](VertexId tensor, std::int64_t size, std::optional<Label> at, IndexOutside place) {
    const auto read = labels_.fresh("frame", size);
    auto output = in_place(at.value_or(read));
    if (!at) output.erase(output.begin() + static_cast<std::ptrdiff_t>(dimension));
    LabelAffine wanted{{}, place.begin};
    if (at) wanted.coefficients.emplace_back(*at, place.step);
    auto is_read = of_scalars(ScalarOp::Equal, {ScalarExpression::label_index(read), affine_expression(wanted)});
    return add({tensor}, {.inputs = {in_place(read)},
                          .output = std::move(output),
                          .aggregated = {read},
                          .expression = of_scalars(ScalarOp::Case,
                                                   {std::move(is_read), ScalarExpression::operand(0), integer_of(0)}),
                          .aggregate = Aggregate::Sum});
  };
  std::vector<VertexId> inputs{read_at(base, extent, along, {first, 1})};
  std::vector<Labels> read{labels};
  std::vector<ScalarPtr> cases;
  const auto add_side = [&](std::int64_t begin, std::int64_t indices, ScalarOp beyond, std::int64_t edge) {
    if (indices == 0) return;
    const auto outside = read_outside(kind, begin, extent);
    auto side = outside.step == 0 ? read_at(base, extent, std::nullopt, outside)
                                  : read_at(base, extent, labels_.fresh("frame", indices), outside);
    auto own = labels;
    if (outside.step == 0) own.erase(own.begin() + static_cast<std::ptrdiff_t>(dimension));
    else side = read_at(side, indices, along, {first - begin, 1});
    cases.push_back(of_scalars(beyond, {ScalarExpression::label_index(along), integer_of(edge)}));
    cases.push_back(ScalarExpression::operand(inputs.size()));
    inputs.push_back(side);
    read.push_back(std::move(own));
  };
  add_side(first, before, ScalarOp::Less, before);
  add_side(std::max(first, extent), behind, ScalarOp::GreaterEqual, extent - first);
  cases.push_back(ScalarExpression::operand(0));
  return add(std::move(inputs), {.inputs = std::move(read),
                                 .output = labels,
                                 .aggregated = {},
                                 .expression = of_scalars(ScalarOp::Case, std::move(cases))});
}

}  // namespace eindb
