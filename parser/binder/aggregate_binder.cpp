#include <algorithm>
#include <limits>

#include "common/error.hpp"
#include "parser/binder/expression_binder.hpp"
#include "tensor/log_sum_exp.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

// The name of an aggregate and its computation: one EinSum with `plain`, or several vertices if that is None.
struct AggregateForm {
  ast::AggregateOp op;
  std::string_view word;
  Aggregate plain;
};

// MEAN is a SUM with a final division.
const AggregateForm& form_of(ast::AggregateOp op) {
  using enum ast::AggregateOp;
  static constexpr AggregateForm kForms[] = {
      {Sum, "SUM", Aggregate::Sum},
      {Prod, "PROD", Aggregate::Prod},
      {Min, "MIN", Aggregate::Min},
      {Max, "MAX", Aggregate::Max},
      {Mean, "MEAN", Aggregate::Sum},
      {Norm, "NORM", Aggregate::None},
      {LogSumExp, "LOGSUMEXP", Aggregate::None},
      {ArgMin, "ARGMIN", Aggregate::None},
      {ArgMax, "ARGMAX", Aggregate::None},
      {Any, "ANY", Aggregate::None},
      {All, "ALL", Aggregate::None},
      {Count, "COUNT", Aggregate::None},
      {CountNonzero, "COUNT_NONZERO", Aggregate::None},
      {Variance, "VAR", Aggregate::None},
      {Deviation, "STD", Aggregate::None},
      {SampleVariance, "VARIANCE", Aggregate::None},
      {SampleDeviation, "STDDEV", Aggregate::None},
      {Sort, "SORT", Aggregate::None},
      {ArgSort, "ARGSORT", Aggregate::None},
      {TopK, "TOPK", Aggregate::None},
      {ArgTopK, "ARGTOPK", Aggregate::None},
      {Unique, "UNIQUE", Aggregate::None},
      {UniqueIndex, "UNIQUE_INDEX", Aggregate::None},
      {UniqueCount, "UNIQUE_COUNT", Aggregate::None},
      {UniqueInverse, "UNIQUE_INVERSE", Aggregate::None},
      {Quantile, "QUANTILE", Aggregate::None},
      {Median, "MEDIAN", Aggregate::None},
      {Mode, "MODE", Aggregate::None},
      {CountDistinct, "COUNT_DISTINCT", Aggregate::None},
      {Fft, "FFT", Aggregate::None},
      {Ifft, "IFFT", Aggregate::None},
      {Rfft, "RFFT", Aggregate::None},
      {Irfft, "IRFFT", Aggregate::None},
      {Concat, "CONCAT", Aggregate::None},
      {Stack, "STACK", Aggregate::None},
      {User, "USER", Aggregate::User},
  };
  return kForms[static_cast<std::size_t>(op)];
}

ScalarPtr call(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}

// The type in which `cells` truth values are counted exactly without a conversion; nullopt if that is FLOAT64.
std::optional<DType> type_of_truths(Aggregate how, const ScalarPtr& e, const std::vector<DType>& operands,
                                    const LabelTable& labels, double cells) {
  constexpr double kExactInFloat32 = 0x1p24;
  if (e->kind() != ScalarExpression::Kind::Call || !gives_boolean(e->op())) return std::nullopt;
  const bool is_extreme = how == Aggregate::Min || how == Aggregate::Max;
  if (how != Aggregate::Sum && !is_extreme) return std::nullopt;
  const auto counts_in = [&](DType type) { return with_types(e, operands, labels, type)->is_call(e->op()); };
  const bool reads_single = std::find(operands.begin(), operands.end(), DType::Float32) != operands.end();
  if (reads_single && (is_extreme || cells <= kExactInFloat32) && counts_in(DType::Float32)) return DType::Float32;
  return !counts_in(DType::Float64) && counts_in(DType::Int64) ? std::optional(DType::Int64) : std::nullopt;
}

// Whether a sum of several tensors, or a definition, which may be one.
bool may_join_tensors(const ScalarExpression& e, const std::vector<VertexId>& operands, const EinGraph& graph) {
  if (e.kind() == ScalarExpression::Kind::Operand) return !graph.vertex(operands[e.operand()]).is_input();
  return (e.is_call(ScalarOp::Add) || e.is_call(ScalarOp::Subtract)) && operands.size() > 1;
}

}  // namespace

bool keeps_label(const ast::Aggregate& e) {
  using enum ast::AggregateOp;
  return e.running || e.op == Sort || e.op == ArgSort || e.op == UniqueInverse || e.op == Fft || e.op == Ifft;
}

bool is_numbered(ast::AggregateOp op) {
  using enum ast::AggregateOp;
  return (op >= TopK && op <= UniqueCount) || op == Rfft || op == Irfft;
}

bool joins_arguments(ast::AggregateOp op) { return op == ast::AggregateOp::Concat || op == ast::AggregateOp::Stack; }

std::string word_of(ast::AggregateOp op) { return std::string(form_of(op).word); }

std::string word_of(const ast::Aggregate& e) {
  using enum ast::AggregateOp;
  const bool has_word = e.op <= Max || e.op == LogSumExp;
  if (e.running) return has_word ? "CUM" + word_of(e.op) : "SCAN";
  return e.name ? e.name->text : word_of(e.op);
}

ScalarPtr ExpressionBinder::lower(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  using enum ast::AggregateOp;
  if (e.running) return running(e, span, draft);
  if (e.op == Concat) return concatenation(e, span, draft);
  if (e.op == Stack) return stack(e, span, draft);
  if (e.op == Fft || e.op == Ifft) return fourier(e, span, draft);
  if (e.op == Rfft || e.op == Irfft) return half_fourier(e, span, draft);
  if (e.op >= Unique && e.op <= UniqueInverse) return unique(e, span, draft);
  if (keeps_label(e) || is_numbered(e.op)) return in_order(e, span, draft);
  const auto over = aggregated_labels(e, draft.visible);
  const auto& argument = e.argument.front();
  require_labels(e, over, span, draft.visible);
  switch (e.op) {
    case LogSumExp: return log_sum_exp(e, over, span, draft);
    case ArgMin:
    case ArgMax: return extreme_index(e, over, span, draft);
    case Any:
    case All:
    case CountNonzero: return count_true(e, over, span, draft);
    case Count: return count_cells(e, over, span, draft);
    case Variance:
    case Deviation:
    case SampleVariance:
    case SampleDeviation: return variance(e, over, span, draft);
    case Quantile:
    case Median:
    case Mode:
    case CountDistinct: return statistic(e, over, span, draft);
    case Norm: return norm(argument, over, span, draft);
    default: break;
  }
  const auto reduced = reduce(
      form_of(e.op).plain, over, [&](Draft& inner) { return lower(argument, inner); }, span, draft, nullptr,
      e.op == User ? user_aggregate(e) : nullptr);
  auto value =
      reduced.adapting ? adapting_operand(reduced.vertex, *reduced.adapting, draft) : operand(reduced.vertex, draft);
  if (e.op != Mean) return value;
  const auto count = Shape(graph_.labels().extents(over)).element_count();
  // Of no values it is NaN, and has the derivative of a constant, not one of 0 / 0.
  if (count == 0 && !is_complex(graph_.vertex(reduced.vertex).dtype))
    return call(ScalarOp::Add, {std::move(value), ScalarExpression::real(std::numeric_limits<double>::quiet_NaN())});
  return call(ScalarOp::Divide, {std::move(value), ScalarExpression::integer(count)});
}

ScalarPtr ExpressionBinder::norm(const ast::Expression& argument, const Labels& over, SourceSpan span, Draft& draft) {
  const auto squares = reduce(
      Aggregate::Sum, over,
      [&](Draft& inner) {
        auto value = lower(argument, inner);
        const auto type = type_of(*value, input_types(graph_, inner.inputs));
        if (is_complex(type.dtype)) value = call(ScalarOp::Abs, {std::move(value)});
        if (type.dtype == DType::Int64) value = call(ScalarOp::ToFloat64, {std::move(value)});
        return call(ScalarOp::Multiply, {value, value});
      },
      span, draft);
  return call(ScalarOp::Sqrt, {operand(squares.vertex, draft)});
}

// Binds an aggregate that is the whole definition, as one vertex.
VertexId ExpressionBinder::bind_aggregate(const ast::Aggregate& e, SourceSpan span) {
  const Draft outer{.inputs = {}, .labels = {}, .visible = head_, .cell = head_, .numbers = {}};
  const auto over = aggregated_labels(e, head_);
  for (const auto label : over) {
    if (!contains(head_, label)) continue;
    throw Error(ErrorKind::Label, "label " + graph_.labels().name(label) + " is aggregated and in the head", span,
                "take it out of the head or out of the brackets of " + word_of(e));
  }
  return reduce(
             form_of(e.op).plain, over,
             [&](Draft& inner) {
               auto body = lower(e.argument.front(), inner);
               require_in_head(e.argument.front(), difference(free_labels(*body, inner), over));
               return body;
             },
             span, outer, &head_, e.op == ast::AggregateOp::User ? user_aggregate(e) : nullptr)
      .vertex;
}

// Over what may join tensors LOGSUMEXP is an aggregate like others, so that it can be ordered; otherwise the parts of
// tensor/log_sum_exp.
ScalarPtr ExpressionBinder::log_sum_exp(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft) {
  // INT64 is converted to FLOAT64 first, as the difference could wrap.
  const auto lower_argument = [&](Draft& inner) {
    auto body = lower(e.argument.front(), inner);
    const auto kind = kind_of(*body, input_types(graph_, inner.inputs));
    return kind.dtype == DType::Int64 && (!kind.weak || kind.definite) ? call(ScalarOp::ToFloat64, {std::move(body)})
                                                                       : body;
  };
  auto probe = draft_inside(draft, over);
  if (may_join_tensors(*lower_argument(probe), probe.inputs, graph_))
    return operand(reduce(Aggregate::LogSumExp, over, lower_argument, span, draft).vertex, draft);
  const auto largest = reduce(Aggregate::Max, over, lower_argument, span, draft).vertex;
  const auto shifted = [&](Draft& inner) {
    auto body = lower_argument(inner);
    return shifted_exponential(std::move(body), operand(largest, inner));
  };
  const auto sum = reduce(Aggregate::Sum, over, shifted, span, draft).vertex;
  auto total = operand(sum, draft);
  return log_of_shifted_sum(std::move(total), operand(largest, draft));
}

// The least index with the extreme value; NaN counts as extreme, as in NumPy:
//     MIN[j](CASE WHEN e = m OR e <> e THEN j ELSE (extent of j) END) with m = MAX[j](e)
// The values are compared with the extreme one, so they are computed once and stored.
ScalarPtr ExpressionBinder::extreme_index(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft) {
  const std::string word(form_of(e.op).word);
  if (over.size() != 1) {
    throw Error(ErrorKind::Label,
                word + " gives the index of one label, but " + std::to_string(over.size()) + " are aggregated" +
                    (over.empty() ? "" : ": " + graph_.labels().join_names(over)),
                span, "name it, as in " + word + "[j](...)");
  }
  const auto label = over.front();
  const auto extent = graph_.labels().extent(label);
  if (extent == 0) {
    throw Error(ErrorKind::Value, word + " over label " + graph_.labels().name(label) + ", which has extent 0", span,
                "an empty label has no index");
  }
  const auto values = materialize(e.argument.front(), draft_inside(draft, over));
  const auto extreme = reduce(
                           e.op == ast::AggregateOp::ArgMin ? Aggregate::Min : Aggregate::Max, over,
                           [&](Draft& inner) { return operand(values.vertex, values.labels, inner); }, span, draft)
                           .vertex;
  const auto index =
      reduce(
          Aggregate::Min, over,
          [&](Draft& inner) {
            const auto value = operand(values.vertex, values.labels, inner);
            const auto is_extreme = call(ScalarOp::Equal, {value, operand(extreme, inner)});
            const auto is_nan = call(ScalarOp::NotEqual, {value, value});
            return call(ScalarOp::Case, {call(ScalarOp::Or, {is_extreme, is_nan}), ScalarExpression::label_index(label),
                                         ScalarExpression::integer(extent)});
          },
          span, draft)
          .vertex;
  graph_.set_dtype(index, DType::Int64);
  return operand(index, draft);
}

// In a part of an expression, an aggregate whose labels all stand around it is a mistake: EXP(X[i,j]) /
// SUM(EXP(X[i,j])) would be 1 where the head has both labels. Alone it is harmless, and what subscripts such as
// 'ij->ij' give; and SUM[](...) says it.
void ExpressionBinder::require_labels(const ast::Aggregate& e, const Labels& over, SourceSpan span,
                                      const Labels& visible) const {
  const bool gives_index = e.op == ast::AggregateOp::ArgMin || e.op == ast::AggregateOp::ArgMax;
  if (!over.empty() || e.labels || &e == whole_ || gives_index) return;
  DistinctLabels inside;
  collect_free_labels(e.argument.front(), visible, inside);
  const auto& labels = inside.labels();
  if (labels.empty()) return;
  const auto word = word_of(e);
  const auto& last = graph_.labels().name(labels.back());
  throw Error(ErrorKind::Label,
              word + " runs over no label here: " + graph_.labels().join_names(labels) +
                  (labels.size() == 1 ? " stands outside of it, too" : " stand outside of it, too"),
              span,
              "name those that it runs over, as in " + word + "[" + last + "](...); EXP(x) / SUM[" + last +
                  "](EXP(x)) is softmax(x, " + last + ")");
}

// The product of the extents, which is what a SUM of 1 over the labels gives. The argument is bound for its errors.
ScalarPtr ExpressionBinder::count_cells(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft) {
  const auto& argument = e.argument.front();
  auto inner = draft_inside(draft, over);
  const auto body = lower(argument, inner);
  const auto types = input_types(graph_, inner.inputs);
  with_place(span, [&] { return kind_of(*body, types); });
  if (gives_boolean(*body)) {
    throw Error(ErrorKind::Type, "COUNT counts cells, whether or not a condition holds in them", span,
                "COUNT_NONZERO counts those where it holds");
  }
  // The labels of its argument are its own: what runs along one of them needs it.
  const auto own = difference(free_labels(*body, inner), over);
  require_in_head(argument, difference(own, draft.visible));
  const auto cells = with_place(span, [&] { return Shape(graph_.labels().extents(over)).element_count(); });
  EinSum einsum{.inputs = {},
                .output = in_order_of_head(own),
                .aggregated = {},
                .expression = ScalarExpression::integer(cells),
                .aggregate = Aggregate::None};
  return operand(add_vertex(Draft{}, std::move(einsum), span, DType::Int64), draft);
}

// The number of values that are `wanted` of zero (NotEqual or Equal), or their MAX or MIN, which says whether one is or
// all are.
ScalarPtr ExpressionBinder::truths(Aggregate how, ScalarOp wanted, const ast::Expression& argument, const Labels& over,
                                   SourceSpan span, Draft& draft) {
  const auto vertex = reduce(
                          how, over,
                          [&](Draft& inner) {
                            return call(wanted, {lower(argument, inner), ScalarExpression::integer(0)});
                          },
                          span, draft)
                          .vertex;
  graph_.set_dtype(vertex, how == Aggregate::Sum ? DType::Int64 : graph_.vertex(vertex).compute_dtype);
  return operand(vertex, draft);
}

// ANY is the MAX and ALL the MIN of the truth values. Of no values these are infinite, and the number of values that
// hold, or do not, decides.
ScalarPtr ExpressionBinder::count_true(const ast::Aggregate& e, const Labels& over, SourceSpan span, Draft& draft) {
  using enum ast::AggregateOp;
  const auto& argument = e.argument.front();
  if (e.op == CountNonzero) return truths(Aggregate::Sum, ScalarOp::NotEqual, argument, over, span, draft);
  const bool any = e.op == Any;
  const bool some =
      std::all_of(over.begin(), over.end(), [&](Label label) { return graph_.labels().extent(label) > 0; });
  const auto zero = ScalarExpression::integer(0);
  if (some)
    return call(ScalarOp::Greater,
                {truths(any ? Aggregate::Max : Aggregate::Min, ScalarOp::NotEqual, argument, over, span, draft), zero});
  return call(any ? ScalarOp::Greater : ScalarOp::Equal,
              {truths(Aggregate::Sum, any ? ScalarOp::NotEqual : ScalarOp::Equal, argument, over, span, draft), zero});
}

ExpressionBinder::Reduced ExpressionBinder::reduce(Aggregate how, const Labels& over, const LowerArgument& argument,
                                                   SourceSpan span, const Draft& outer, const Labels* head,
                                                   UserAggregatePtr user) {
  auto inner = draft_inside(outer, over);
  auto expression = argument(inner);
  EinSum einsum{.inputs = {},
                .output = head != nullptr ? *head : in_order_of_head(difference(free_labels(*expression, inner), over)),
                .aggregated = over,
                .expression = expression,
                .aggregate = over.empty() ? Aggregate::None : how};
  const auto types = input_types(graph_, inner.inputs);
  if (user != nullptr) return reduce_by(std::move(user), std::move(einsum), std::move(inner), span);
  const auto value = with_place(span, [&] { return kind_of(*expression, types); });
  double cells = 1;
  for (const auto label : over) cells *= static_cast<double>(graph_.labels().extent(label));
  const auto counted_in = type_of_truths(how, expression, types, graph_.labels(), cells);
  const auto vertex = add_vertex(std::move(inner), std::move(einsum), span, counted_in);
  if (counted_in) graph_.set_dtype(vertex, DType::Float64);
  const bool ordered = how == Aggregate::Min || how == Aggregate::Max || how == Aggregate::LogSumExp;
  if (ordered && is_complex(graph_.vertex(vertex).dtype)) {
    throw Error(ErrorKind::Type, std::string(name_of(how)) + " is not defined for complex numbers", span,
                "take REAL, IMAG or ABS first");
  }
  // PROD of whole numbers soon exceeds INT64.
  if (!value.weak || value.definite || how == Aggregate::Prod) return {vertex};
  return {vertex, value.dtype};
}

ContractionOperand ExpressionBinder::materialize(const ast::Expression& e, const Draft& outer) {
  return materialize([&](Draft& inner) { return lower(e, inner); }, e.span, outer);
}

ContractionOperand ExpressionBinder::materialize(const LowerArgument& argument, SourceSpan span, const Draft& outer) {
  auto inner = draft_inside(outer, {});
  auto expression = argument(inner);
  if (expression->kind() == ScalarExpression::Kind::Operand) return {inner.inputs.front(), inner.labels.front()};
  EinSum einsum{.inputs = {},
                .output = in_order_of_head(free_labels(*expression, inner)),
                .aggregated = {},
                .expression = expression,
                .aggregate = Aggregate::None};
  const auto vertex = add_vertex(std::move(inner), std::move(einsum), span);
  return {vertex, graph_.vertex(vertex).einsum.output};
}

VertexId ExpressionBinder::add_vertex(Draft draft, EinSum einsum, SourceSpan span, std::optional<DType> computed_in) {
  einsum.inputs = std::move(draft.labels);
  return with_place(span, [&] {
    return graph_.add(make_vertex(graph_, next_name(), std::move(draft.inputs), std::move(einsum), computed_in));
  });
}

ExpressionBinder::Draft ExpressionBinder::draft_inside(const Draft& outer, const Labels& over) const {
  Draft inner{.inputs = {}, .labels = {}, .visible = outer.visible, .cell = outer.cell, .numbers = {}};
  if (over.empty()) return inner;
  DistinctLabels visible(outer.visible);
  visible.add(over);
  DistinctLabels cell(outer.cell);
  cell.add(over);
  inner.visible = visible.labels();
  inner.cell = cell.labels();
  return inner;
}

// Labels of the head first, in its order, then the others.
Labels ExpressionBinder::in_order_of_head(const Labels& labels) const {
  const DistinctLabels wanted(labels);
  DistinctLabels out;
  for (const auto label : head_)
    if (wanted.contains(label)) out.add(label);
  out.add(labels);
  return out.labels();
}

std::string ExpressionBinder::next_name() {
  ++made_;
  return name_ + "." + std::to_string(made_);
}

}  // namespace eindb
