// Running aggregates: scans of the aggregates of the algebra and of users, and linear recurrences.
#include <algorithm>
#include <array>
#include <utility>

#include "common/error.hpp"
#include "parser/binder/expression_binder.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

ScalarPtr call_of(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}

// The aggregate of the scan that a running aggregate is made of; None if it has no running form.
Aggregate scanned_by(ast::AggregateOp op) {
  using enum ast::AggregateOp;
  switch (op) {
    case Sum:
    case Mean:
    case Norm:
    case CountNonzero: return Aggregate::Sum;
    case Prod: return Aggregate::Prod;
    case Min:
    case All: return Aggregate::Min;
    case Max:
    case Any: return Aggregate::Max;
    case LogSumExp: return Aggregate::LogSumExp;
    case User: return Aggregate::User;
    default: return Aggregate::None;
  }
}

bool is_ordered(Aggregate how) { return how == Aggregate::Min || how == Aggregate::Max || how == Aggregate::LogSumExp; }

}  // namespace

// ANY is the MAX and ALL the MIN of truth values; MEAN divides by the number of values.
ScalarPtr ExpressionBinder::running(const ast::Aggregate& e, SourceSpan span, Draft& draft) {
  const auto word = word_of(e);
  const auto how = scanned_by(e.op);
  if (how == Aggregate::None)
    throw Error(ErrorKind::Value, word_of(e.op) + " has no running form", span,
                "SUM, PROD, MIN, MAX, MEAN, NORM, LOGSUMEXP, ANY, ALL, COUNT_NONZERO and aggregates of yours have one");
  DistinctLabels free;
  collect_free_labels(e.argument.front(), draft.visible, free);
  for (const auto& factor : e.second) collect_free_labels(factor, draft.visible, free);
  const auto over = e.labels ? named_labels(*e.labels) : free.labels();
  if (over.size() != 1 || !free.contains(over.front())) {
    const auto named = over.size() == 1 ? graph_.labels().name(over.front()) : "";
    const auto example = free.labels().empty() ? "j" : graph_.labels().name(free.labels().back());
    throw Error(ErrorKind::Label,
                named.empty() ? word + " runs along one label"
                              : word + " runs along label " + named + ", which its argument does not have",
                span, "name a label of the argument, as in " + word + "[" + example + "](...)");
  }
  const auto along = over.front();
  if (!e.second.empty()) return recurrence(e, along, span, draft);
  const auto zero = ScalarExpression::integer(0);
  const auto argument = [&](Draft& inner) {
    auto value = lower(e.argument.front(), inner);
    const bool counts = e.op == ast::AggregateOp::CountNonzero;
    if (counts || e.op == ast::AggregateOp::Any || e.op == ast::AggregateOp::All) {
      value = call_of(ScalarOp::NotEqual, {std::move(value), zero});
      return counts ? call_of(ScalarOp::ToInt64, {std::move(value)}) : value;
    }
    if (e.op != ast::AggregateOp::Norm) return value;
    const auto type = type_of(*value, input_types(graph_, inner.inputs)).dtype;
    if (is_complex(type)) value = call_of(ScalarOp::Abs, {std::move(value)});
    if (type == DType::Int64) value = call_of(ScalarOp::ToFloat64, {std::move(value)});
    return call_of(ScalarOp::Multiply, {value, value});
  };
  auto values = materialize(argument, span, draft_inside(draft, over));
  if (e.op == ast::AggregateOp::Mean && graph_.vertex(values.vertex).dtype == DType::Int64)
    values = in_type(values, DType::Float64, span);
  auto result = scan(how, how == Aggregate::User ? user_aggregate(e) : nullptr, along, values, span, draft);
  switch (e.op) {
    case ast::AggregateOp::Mean: {
      auto count = call_of(ScalarOp::Add, {ScalarExpression::label_index(along), ScalarExpression::integer(1)});
      return call_of(ScalarOp::Divide, {std::move(result), std::move(count)});
    }
    case ast::AggregateOp::Norm: return call_of(ScalarOp::Sqrt, {std::move(result)});
    case ast::AggregateOp::Any:
    case ast::AggregateOp::All: return call_of(ScalarOp::Greater, {std::move(result), zero});
    default: return result;
  }
}

// The value at each index s of a label is taken to those from s on: Z[i,t] = SUM[s](CASE WHEN s <= t THEN x[i,s] ELSE 0
// END), and with other aggregates that of no values in the place of 0.
ScalarPtr ExpressionBinder::scan(Aggregate how, UserAggregatePtr user, Label along, ContractionOperand values,
                                 SourceSpan span, Draft& draft) {
  auto type = graph_.vertex(values.vertex).dtype;
  if (is_complex(type) && is_ordered(how)) {
    throw Error(ErrorKind::Type,
                (how == Aggregate::LogSumExp ? "CUMLOGSUMEXP" : "CUM" + std::string(name_of(how))) +
                    " is not defined for complex numbers",
                span, "take REAL, IMAG or ABS first");
  }
  if (user != nullptr && !user->associative) {
    throw Error(
        ErrorKind::Value, user->name + " has no running form, as it is not declared ASSOCIATIVE", span,
        "declare it so if what it combines may be combined in parts: CREATE OR REPLACE AGGREGATE ... ASSOCIATIVE");
  }
  if (how == Aggregate::LogSumExp && type == DType::Int64) type = DType::Float64;
  if (user != nullptr) {
    type = with_place(span, [&] {
      const auto wanted = fold_type(*user, type);
      typed_combination(*user, wanted);  // for its errors
      return wanted;
    });
    user = with_join_types(user, type);
  }
  values = in_type(values, type, span);
  const auto before = labels_.fresh(graph_.labels().name(along) + "'", graph_.labels().extent(along));
  auto read = values.labels;
  std::replace(read.begin(), read.end(), along, before);
  const bool is_whole = type == DType::Int64 || how == Aggregate::Sum || how == Aggregate::Prod;
  const auto nothing = user != nullptr ? user->initial
                       : is_whole      ? ScalarExpression::integer(identity_of<std::int64_t>(how))
                                       : ScalarExpression::real(identity_of<double>(how));
  const DistinctLabels head(values.labels);
  const auto comes_first =
      call_of(ScalarOp::LessEqual, {ScalarExpression::label_index(before), ScalarExpression::label_index(along)});
  EinSum einsum{.inputs = {std::move(read)},
                .output = head.labels(),
                .aggregated = {before},
                .expression = call_of(ScalarOp::Case, {comes_first, ScalarExpression::operand(0), nothing}),
                .aggregate = how,
                .user = std::move(user)};
  const auto made = with_place(
      span, [&] { return graph_.add(make_vertex(graph_, next_name(), {values.vertex}, std::move(einsum), type)); });
  return operand(made, head.labels(), draft);
}

// The aggregate of a recurrence whose values are of the type, which becomes a wider one if the aggregate wants it.
UserAggregatePtr ExpressionBinder::recurring_aggregate(const ast::Aggregate& e, DType& type, SourceSpan span) {
  auto user = user_aggregate(e);
  if (user->semirings.empty())
    throw Error(ErrorKind::Value,
                user->name + " has no recurrence, as no function is declared that takes the second argument in", span,
                "declare the one over which it distributes: CREATE OR REPLACE AGGREGATE ... COMMUTATIVE ASSOCIATIVE "
                "DISTRIBUTES OVER (+)");
  type = with_place(span, [&] { return recurrence_type(*user, type); });
  return with_join_types(user, type);
}

// CUMSUM[t](x, a): h[t] = a[t] * h[t-1] + x[t], and likewise CUMMAX and CUMMIN with a sum in place of the product.
ScalarPtr ExpressionBinder::recurrence(const ast::Aggregate& e, Label along, SourceSpan span, Draft& draft) {
  const auto inside = draft_inside(draft, {along});
  const auto& factor = e.second.front();
  const std::array given{materialize(e.argument.front(), inside), materialize(factor, inside)};
  // Numbers, and what is computed of labels alone, take the type of the other one, unless it has no fractions.
  const auto type_of = [&](std::size_t n) { return graph_.vertex(given[n].vertex).dtype; };
  const auto has_type = [&](std::size_t n) {
    const auto& vertex = graph_.vertex(given[n].vertex);
    return vertex.is_input() || !vertex.inputs.empty() || (!is_complex(vertex.dtype) && vertex.dtype != DType::Float64);
  };
  auto type = promote(type_of(0), type_of(1));
  for (const std::size_t n : {0U, 1U}) {
    const auto& other = n == 0 ? factor : e.argument.front();
    const bool is_whole = std::holds_alternative<ast::Integer>(other.node);
    if (has_type(n) && !has_type(1 - n) && !is_complex(type_of(1 - n)))
      type = is_whole || type_of(n) != DType::Int64 ? type_of(n) : DType::Float64;
  }
  if (e.op == ast::AggregateOp::LogSumExp && type == DType::Int64) type = DType::Float64;
  if (is_complex(type) && e.op != ast::AggregateOp::Sum && e.op != ast::AggregateOp::User)
    throw Error(ErrorKind::Type, word_of(e) + " is not defined for complex numbers", span,
                "take REAL, IMAG or ABS first");

  const auto user = e.op == ast::AggregateOp::User ? recurring_aggregate(e, type, span) : nullptr;

  std::vector<VertexId> inputs;
  std::vector<Labels> read;
  DistinctLabels head;
  const auto before = labels_.fresh(graph_.labels().name(along), graph_.labels().extent(along));
  for (const auto& values : given) {
    const auto converted = in_type(values, type, span);
    inputs.push_back(converted.vertex);
    read.push_back([&] {
      auto labels = converted.labels;
      std::replace(labels.begin(), labels.end(), along, before);
      return labels;
    }());
    head.add(converted.labels);
  }
  using enum ast::AggregateOp;
  const auto op = user != nullptr ? BlockOp::UserRecurrence
                  : e.op == Sum   ? BlockOp::SumRecurrence
                  : e.op == Max   ? BlockOp::MaxRecurrence
                  : e.op == Min   ? BlockOp::MinRecurrence
                                  : BlockOp::LogSumExpRecurrence;
  EinSum einsum{.inputs = std::move(read),
                .output = head.labels(),
                .aggregated = {before},
                .expression = block_expression(2, {before, along}),
                .aggregate = Aggregate::Block,
                .block = BlockFunction{.op = op},
                .user = user};
  const auto made = with_place(
      span, [&] { return graph_.add(make_vertex(graph_, next_name(), std::move(inputs), std::move(einsum), type)); });
  graph_.set_dtype(made, type);
  return operand(made, head.labels(), draft);
}

}  // namespace eindb
