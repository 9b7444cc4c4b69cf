#include <algorithm>
#include <array>
#include <utility>

#include "common/error.hpp"
#include "parser/binder/expression_binder.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

Labels replaced(Labels labels, Label from, Label to) {
  std::replace(labels.begin(), labels.end(), from, to);
  return labels;
}

}  // namespace

// The argument as a vertex whose values have one of the types that a function takes: `convert` returns the operation
// for others.
ContractionOperand ExpressionBinder::converted(const ast::Expression& e, const Draft& outer,
                                               const std::function<std::optional<ScalarOp>(DType)>& convert) {
  const auto values = materialize(e, outer);
  const auto op = convert(graph_.vertex(values.vertex).dtype);
  return op ? in_type(values, *converts_to(*op), e.span) : values;
}

ContractionOperand ExpressionBinder::in_type(const ContractionOperand& values, DType type, SourceSpan span) {
  if (graph_.vertex(values.vertex).dtype == type) return values;
  Draft draft;
  auto value = ScalarExpression::call(conversion_to(type), {operand(values.vertex, values.labels, draft)});
  EinSum einsum{.inputs = {},
                .output = DistinctLabels(values.labels).labels(),
                .aggregated = {},
                .expression = std::move(value),
                .aggregate = Aggregate::None};
  const auto vertex = add_vertex(std::move(draft), std::move(einsum), span);
  return {vertex, graph_.vertex(vertex).einsum.output};
}

// The label of an argument along which SORT and the like run. Adds all that the argument has to `argument_labels`.
Label ExpressionBinder::label_along(const ast::Aggregate& e, const Draft& draft, DistinctLabels& argument_labels,
                                    SourceSpan span) const {
  collect_free_labels(e.argument.front(), draft.visible, argument_labels);
  const auto& free = argument_labels.labels();
  const auto word = word_of(e.op);
  const auto named = e.labels ? named_labels(*e.labels) : free;
  const auto example = free.empty() ? "j" : graph_.labels().name(free.back());
  if (named.empty() || (named.size() != 1 && !is_numbered(e.op)))
    throw Error(ErrorKind::Label, word + " runs along one label", span,
                "name a label of the argument, as in " + word + "[" + example + "](...)");
  if (!contains(free, named.front()))
    throw Error(
        ErrorKind::Label,
        word + " runs along label " + graph_.labels().name(named.front()) + ", which its argument does not have", span,
        "name a label of the argument, as in " + word + "[" + example + "](...)");
  return named.front();
}

VertexId ExpressionBinder::add_block(const BlockFunction& block, const ContractionOperand& values, const Labels& over,
                                     Labels output, DType compute, SourceSpan span) {
  auto read = values.labels;
  Labels aggregated;
  for (const auto label : over) {
    const auto inner = labels_.fresh(graph_.labels().name(label), graph_.labels().extent(label));
    read = replaced(std::move(read), label, inner);
    aggregated.push_back(inner);
  }
  auto core = aggregated;
  for (const auto label : output)
    if (!contains(read, label)) core.push_back(label);
  EinSum einsum{.inputs = {std::move(read)},
                .output = std::move(output),
                .aggregated = std::move(aggregated),
                .expression = block_expression(1, core),
                .aggregate = Aggregate::Block,
                .block = block};
  return with_place(span, [&] {
    const auto vertex = graph_.add(make_vertex(graph_, next_name(), {values.vertex}, std::move(einsum), compute));
    graph_.set_dtype(vertex, compute);
    return vertex;
  });
}

void ExpressionBinder::require_ordered(const ContractionOperand& values, const std::string& word,
                                       SourceSpan span) const {
  if (is_complex(graph_.vertex(values.vertex).dtype))
    throw Error(ErrorKind::Type, word + " is not defined for complex numbers", span, "take REAL, IMAG or ABS first");
}

// The label that numbers what an aggregate takes along another one.
Label ExpressionBinder::label_of_numbers(const ast::Aggregate& e, const std::string& word, Label along,
                                         const Labels& free, const std::string& what, SourceSpan span) const {
  const auto named = e.labels ? named_labels(*e.labels) : Labels{};
  if (named.size() == 2 && !contains(free, named[1])) return named[1];
  throw Error(ErrorKind::Label, word + " takes the label of the values, and another one that numbers " + what, span,
              "as in " + word + "[" + graph_.labels().name(along) + ", k 5](...), or with the extent of k in the head");
}

// The values at indices along a label, 0 where an index is -1:
//     Z[i,k] = SUM[s](CASE WHEN s = T[i,k] THEN x[i,s] ELSE 0 END)
ScalarPtr ExpressionBinder::at_indices(const ContractionOperand& values, Label along, VertexId indices,
                                       const Labels& head, SourceSpan span, Draft& draft) {
  const auto read = labels_.fresh(graph_.labels().name(along), graph_.labels().extent(along));
  const auto is_there =
      ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(read), ScalarExpression::operand(1)});
  EinSum einsum{.inputs = {replaced(values.labels, along, read), head},
                .output = head,
                .aggregated = {read},
                .expression = ScalarExpression::call(
                    ScalarOp::Case, {is_there, ScalarExpression::operand(0), ScalarExpression::integer(0)}),
                .aggregate = Aggregate::Sum};
  const auto taken = with_place(span, [&] {
    return graph_.add(make_vertex(graph_, next_name(), {values.vertex, indices}, std::move(einsum)));
  });
  return operand(taken, head, draft);
}

// The indices of values in their order, which TOPK numbers by a label of its own; for SORT and TOPK the values there.
ScalarPtr ExpressionBinder::in_order(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  using enum ast::AggregateOp;
  const auto word = word_of(e.op);
  DistinctLabels free;
  const auto along = label_along(e, draft, free, span);
  auto numbers = along;
  if (!is_numbered(e.op)) {
    labels_.forget_index_names(along);
  } else {
    numbers = label_of_numbers(e, word, along, free.labels(), "the greatest", span);
    const auto extent = graph_.labels().extent(along);
    if (graph_.labels().extent(numbers) > extent)
      throw Error(ErrorKind::Shape,
                  word + " takes the " + std::to_string(graph_.labels().extent(numbers)) +
                      " greatest values along label " + graph_.labels().name(along) + ", which has " +
                      std::to_string(extent),
                  span, "give " + graph_.labels().name(numbers) + " an extent of at most " + std::to_string(extent));
  }
  const auto values = materialize(e.argument.front(), draft_inside(draft, {along}));
  require_ordered(values, word, span);
  const auto head = DistinctLabels(replaced(values.labels, along, numbers)).labels();
  const BlockFunction block{.op = BlockOp::Order, .descending = e.descending || is_numbered(e.op)};
  const auto order = add_block(block, values, {along}, head, DType::Int64, span);
  if (e.op == ArgSort || e.op == ArgTopK) return operand(order, head, draft);
  return at_indices(values, along, order, head, span, draft);
}

// UNIQUE[j, k 5](x) and the indices, counts and numbers that go with it.
ScalarPtr ExpressionBinder::unique(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  using enum ast::AggregateOp;
  const auto word = word_of(e.op);
  DistinctLabels free;
  const auto along = label_along(e, draft, free, span);
  const auto numbers =
      e.op == UniqueInverse ? along : label_of_numbers(e, word, along, free.labels(), "the different ones", span);
  if (graph_.labels().extent(along) == 0)
    throw Error(ErrorKind::Value, word + " along label " + graph_.labels().name(along) + ", which has extent 0", span,
                "of no values none is different");
  const auto values = materialize(e.argument.front(), draft_inside(draft, {along}));
  require_ordered(values, word, span);
  const auto head = DistinctLabels(replaced(values.labels, along, numbers)).labels();
  const BlockFunction block{.op = e.op == UniqueCount     ? BlockOp::UniqueCount
                                  : e.op == UniqueInverse ? BlockOp::UniqueNumber
                                                          : BlockOp::UniqueOrder};
  const auto found = add_block(block, values, {along}, head, DType::Int64, span);
  return e.op == Unique ? at_indices(values, along, found, head, span, draft) : operand(found, head, draft);
}

double ExpressionBinder::share_of(const ast::Aggregate& e) const {
  if (e.op == ast::AggregateOp::Median) return 0.5;
  if (e.second.empty()) return 0;
  const auto& given = e.second.front();
  double share = -1;
  if (const auto* integer = std::get_if<ast::Integer>(&given.node)) share = static_cast<double>(integer->value);
  if (const auto* real = std::get_if<ast::Real>(&given.node)) share = real->value;
  if (const auto* parameter = std::get_if<ast::Parameter>(&given.node))
    if (const auto value = parameters_.scalar(*parameter, given.span); value->is_constant())
      share = value->real_value();
  if (share >= 0 && share <= 1) return share;
  throw Error(ErrorKind::Value, "the share of a QUANTILE is a constant from 0 to 1", given.span,
              "QUANTILE[j](x, 0.9) has nine tenths of the values below it");
}

// MEDIAN, QUANTILE, MODE and COUNT_DISTINCT of all values over some labels.
ScalarPtr ExpressionBinder::statistic(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft) {
  using enum ast::AggregateOp;
  const auto word = word_of(e.op);
  const bool counts = e.op == CountDistinct;
  const bool lies_between = e.op == Median || e.op == Quantile;
  for (const auto label : over) {
    if (counts || graph_.labels().extent(label) > 0) continue;
    throw Error(ErrorKind::Value, word + " over label " + graph_.labels().name(label) + ", which has extent 0", span,
                "of no values there is none");
  }
  const auto values =
      converted(e.argument.front(), draft_inside(draft, over), [&](DType type) -> std::optional<ScalarOp> {
        return lies_between && type == DType::Int64 ? std::optional(ScalarOp::ToFloat64) : std::nullopt;
      });
  require_ordered(values, word, span);
  for (const auto label : over)
    if (!contains(values.labels, label))
      throw Error(ErrorKind::Label,
                  word + " runs over label " + graph_.labels().name(label) + ", which its argument does not have",
                  span);
  if (over.empty()) {
    if (counts) return ScalarExpression::integer(1);
    return operand(values.vertex, values.labels, draft);
  }
  const auto head = in_order_of_head(difference(DistinctLabels(values.labels).labels(), over));
  const BlockFunction block{.op = counts         ? BlockOp::Distinct
                                  : e.op == Mode ? BlockOp::Mode
                                                 : BlockOp::Quantile,
                            .share = share_of(e)};
  const auto type = counts ? DType::Int64 : graph_.vertex(values.vertex).dtype;
  return operand(add_block(block, values, over, head, type, span), head, draft);
}

ScalarPtr ExpressionBinder::fourier(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  const auto word = word_of(e.op);
  DistinctLabels free;
  const auto along = label_along(e, draft, free, span);
  labels_.forget_index_names(along);
  const auto values =
      converted(e.argument.front(), draft_inside(draft, {along}), [](DType type) -> std::optional<ScalarOp> {
        if (is_complex(type)) return std::nullopt;
        return type == DType::Float32 ? ScalarOp::ToComplex64 : ScalarOp::ToComplex128;
      });
  const auto head = DistinctLabels(values.labels).labels();
  const BlockFunction block{.op = e.op == ast::AggregateOp::Fft ? BlockOp::Fourier : BlockOp::InverseFourier};
  const auto type = graph_.vertex(values.vertex).dtype;
  return operand(add_block(block, values, {along}, head, type, span), head, draft);
}

// RFFT[j, k](x) takes the first half of a transform, and IRFFT[k, j](F) what has it: the values of which k numbers the
// first half are those of all k with the other half, which has the conjugates, and so twice the real part of each but
// the first and, where their number is even, the last.
ScalarPtr ExpressionBinder::half_fourier(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  const auto word = word_of(e.op);
  const bool is_inverse = e.op == ast::AggregateOp::Irfft;
  DistinctLabels free;
  const auto along = label_along(e, draft, free, span);
  const auto numbers =
      label_of_numbers(e, word, along, free.labels(), is_inverse ? "the real values" : "the frequencies", span);
  const auto name = [&](Label label) { return graph_.labels().name(label); };
  const auto given = graph_.labels().extent(along);
  const auto wanted = graph_.labels().extent(numbers);
  const auto length = is_inverse ? wanted : given;
  if (length == 0)
    throw Error(ErrorKind::Value, word + " with label " + name(is_inverse ? numbers : along) + ", which has extent 0",
                span, "a transform is of some values");
  if (is_inverse && given != length / 2 + 1)
    throw Error(ErrorKind::Shape,
                "IRFFT to " + std::to_string(length) + " values takes " + std::to_string(length / 2 + 1) +
                    " frequencies, and label " + name(along) + " has " + std::to_string(given),
                span,
                "give " + name(numbers) + " the extent " + std::to_string(2 * given - 1) +
                    (given > 1 ? " or " + std::to_string(2 * given - 2) : ""));
  auto values = converted(e.argument.front(), draft_inside(draft, {along}), [&](DType type) -> std::optional<ScalarOp> {
    if (is_complex(type) && !is_inverse)
      throw Error(ErrorKind::Type, "RFFT is of real values", span, "FFT[" + name(along) + "](x) takes complex ones");
    if (is_complex(type)) return std::nullopt;
    return type == DType::Float32 ? ScalarOp::ToComplex64 : ScalarOp::ToComplex128;
  });
  const auto type = graph_.vertex(values.vertex).dtype;
  if (is_inverse) {
    Draft weighted;
    const auto value = operand(values.vertex, values.labels, weighted);
    const auto is_at = [&](std::int64_t index) {
      return ScalarExpression::call(ScalarOp::Equal,
                                    {ScalarExpression::label_index(along), ScalarExpression::integer(index)});
    };
    const auto is_alone =
        length % 2 == 0 ? ScalarExpression::call(ScalarOp::Or, {is_at(0), is_at(length / 2)}) : is_at(0);
    const auto twice = ScalarExpression::call(ScalarOp::Add, {value, value});
    EinSum einsum{.inputs = {},
                  .output = DistinctLabels(values.labels).labels(),
                  .aggregated = {},
                  .expression = ScalarExpression::call(ScalarOp::Case, {is_alone, value, twice}),
                  .aggregate = Aggregate::None};
    const auto vertex = add_vertex(std::move(weighted), std::move(einsum), span);
    values = {vertex, graph_.vertex(vertex).einsum.output};
  }
  const auto head = DistinctLabels(replaced(values.labels, along, numbers)).labels();
  const BlockFunction block{.op = is_inverse ? BlockOp::InverseFourier : BlockOp::Fourier};
  auto transformed = operand(add_block(block, values, {along}, head, type, span), head, draft);
  return is_inverse ? ScalarExpression::call(ScalarOp::Real, {std::move(transformed)}) : transformed;
}

// The mean square of the differences from the mean, or their sum by the number of values less one.
ScalarPtr ExpressionBinder::variance(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft) {
  using enum ast::AggregateOp;
  const auto values = materialize(e.argument.front(), draft_inside(draft, over));
  const auto count = Shape(graph_.labels().extents(over)).element_count();
  const auto read = [&](Draft& inner) { return operand(values.vertex, values.labels, inner); };
  const auto total = reduce(Aggregate::Sum, over, read, span, draft).vertex;
  const bool complex = is_complex(graph_.vertex(values.vertex).dtype);
  const auto squares =
      reduce(
          Aggregate::Sum, over,
          [&](Draft& inner) {
            auto mean =
                ScalarExpression::call(ScalarOp::Divide, {operand(total, inner), ScalarExpression::integer(count)});
            auto difference = ScalarExpression::call(ScalarOp::Subtract, {read(inner), std::move(mean)});
            if (complex) difference = ScalarExpression::call(ScalarOp::Abs, {std::move(difference)});
            return ScalarExpression::call(ScalarOp::Multiply, {difference, difference});
          },
          span, draft)
          .vertex;
  const bool is_sample = e.op == SampleVariance || e.op == SampleDeviation;
  // Of no value there is none, and of one a sample has none: 0 / 0.
  const auto divisor = is_sample ? std::max<std::int64_t>(count - 1, 0) : count;
  auto value = ScalarExpression::call(ScalarOp::Divide, {operand(squares, draft), ScalarExpression::integer(divisor)});
  return e.op == Deviation || e.op == SampleDeviation ? ScalarExpression::call(ScalarOp::Sqrt, {std::move(value)})
                                                      : value;
}

}  // namespace eindb
