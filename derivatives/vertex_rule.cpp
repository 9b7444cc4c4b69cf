#include "derivatives/vertex_rule.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "common/check.hpp"
#include "common/error.hpp"
#include "derivatives/block_rule.hpp"
#include "derivatives/product_rule.hpp"
#include "derivatives/scalar_algebra.hpp"
#include "derivatives/scalar_derivative.hpp"
#include "derivatives/scan_rule.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/scan_form.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

using algebra::choose;
using algebra::minus;
using algebra::number;
using algebra::over;
using algebra::times;
using Kind = ScalarExpression::Kind;

ScalarPtr equals(ScalarPtr a, ScalarPtr b) {
  return ScalarExpression::call(ScalarOp::Equal, {std::move(a), std::move(b)});
}

[[noreturn]] void fail(const EinGraph& graph, const Vertex& vertex, const std::string& function,
                       const std::string& why) {
  throw Error(ErrorKind::Type,
              function + " has no derivative, and " + definition_of(graph, vertex.name) + " depends on it",
              std::nullopt, why);
}

bool stores_natural_type(const EinGraph& graph, const Vertex& vertex) {
  return type_of(*vertex.einsum.expression, input_types(graph, vertex.inputs)).dtype == vertex.dtype;
}

bool is_linear(Aggregate aggregate) { return aggregate == Aggregate::None || aggregate == Aggregate::Sum; }

// A draft whose first operands are the inputs of a vertex, so that the vertex's expression keeps its meaning.
VertexDraft draft_over(EinGraph& graph, const Vertex& vertex) {
  VertexDraft draft(graph);
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) draft.read(vertex.inputs[n], vertex.einsum.inputs[n]);
  return draft;
}

// An aggregate over the same labels, of another function of the same operand.
// For each cell what an associative, commutative aggregate makes of all other cells, for which its own value is
// replaced by the neutral one: others[i,j] = name[j'](CASE WHEN j' = j THEN initial ELSE x[i,j'] END).
VertexId aggregate_of_others(EinGraph& graph, const Vertex& vertex) {
  auto einsum = vertex.einsum;
  ScalarPtr same;
  for (auto& label : einsum.aggregated) {
    const auto own = label;
    label = graph.labels().add(graph.labels().name(own) + "'", graph.labels().extent(own));
    for (auto& read : einsum.inputs[0])
      if (read == own) read = label;
    einsum.output.push_back(own);
    auto equal = equals(ScalarExpression::label_index(label), ScalarExpression::label_index(own));
    same = same == nullptr ? equal : ScalarExpression::call(ScalarOp::And, {same, equal});
  }
  einsum.expression = choose(same, einsum.user->initial, ScalarExpression::operand(0));
  return graph.add(make_vertex(graph, vertex.name + ".others", vertex.inputs, std::move(einsum), vertex.compute_dtype));
}

// d times the derivative of an aggregate by one value, which is operand 0 of the draft.
class AggregateWeight {
 public:
  AggregateWeight(EinGraph& graph, VertexId id) : id_(id), vertex_(graph.vertex(id)) {
    const auto value = ScalarExpression::operand(0);
    switch (vertex_.einsum.aggregate) {
      case Aggregate::None:
      case Aggregate::LogSumExp:
      case Aggregate::Block:
      case Aggregate::Prod:
      case Aggregate::FirstLeast:
      case Aggregate::FirstGreatest:
      case Aggregate::Sum: break;
      case Aggregate::User: rest_ = aggregate_of_others(graph, vertex_); break;
      case Aggregate::Min:
      case Aggregate::Max: {
        graph.set_compared(id);
        auto draft = draft_over(graph, vertex_);
        const auto is_extreme = equals(value, draft.read(id, vertex_.einsum.output));
        const auto type = derivative_type(vertex_.dtype);
        count_ =
            draft.sum(vertex_.name + ".ties", vertex_.einsum.output, vertex_.einsum.labels(), is_extreme, type)->vertex;
      }
    }
  }

  ScalarPtr operator()(VertexDraft& draft, const ScalarPtr& d) const {
    // A product of whole numbers, the only one that comes here, has none: that is refused where they are made.
    if (d == nullptr || is_linear(vertex_.einsum.aggregate) || vertex_.einsum.aggregate == Aggregate::Prod) return d;
    const auto value = ScalarExpression::operand(0);
    const auto& head = vertex_.einsum.output;
    if (vertex_.einsum.aggregate == Aggregate::LogSumExp) return share(draft, d, value);
    if (vertex_.einsum.user != nullptr) return combined_last(draft, d, value);
    return choose(equals(value, draft.read(id_, head)), over(d, draft.read(*count_, head)), nullptr);
  }

 private:
  // The share of a value in the sum of exponentials; nothing where all values are -INFINITY.
  ScalarPtr share(VertexDraft& draft, const ScalarPtr& d, const ScalarPtr& value) const {
    const auto total = draft.read(id_, vertex_.einsum.output);
    const auto nothing = equals(total, number(-std::numeric_limits<double>::infinity()));
    return choose(nothing, nullptr, times(d, ScalarExpression::call(ScalarOp::Exp, {minus(value, total)})));
  }

  // The derivative of the combination of all other values with this one, by this one.
  ScalarPtr combined_last(VertexDraft& draft, const ScalarPtr& d, const ScalarPtr& value) const {
    auto all = vertex_.einsum.output;
    all.insert(all.end(), vertex_.einsum.aggregated.begin(), vertex_.einsum.aggregated.end());
    const auto others = draft.read(*rest_, all);
    const auto type = vertex_.compute_dtype;
    const std::array types{type, type};
    const auto slope = pushforward({typed_combination(*vertex_.einsum.user, type), 1, types}, number(1));
    if (slope == nullptr) return nullptr;
    return times(d, substitute_operands(slope, [&](std::size_t n) { return n == 0 ? others : value; }));
  }

  VertexId id_;
  Vertex vertex_;
  std::optional<VertexId> count_;  // number of extreme values
  std::optional<VertexId> rest_;   // what a user's aggregate makes of the others
};

// Rejects a non-zero derivative `d` of a value that is stored as INT64, since that is piecewise constant.
void require_no_step(const EinGraph& graph, const Vertex& vertex, const ScalarPtr& d) {
  if (d == nullptr || vertex.dtype != DType::Int64 || stores_natural_type(graph, vertex)) return;
  fail(graph, vertex, "CAST to INT64", "it gives whole numbers, which change in steps");
}

// Whether a part of the expression is op of the operand, which may be divided by constants.
bool takes_of(ScalarOp op, const ScalarExpression& e, std::size_t operand) {
  const auto& a = e.arguments();
  if (e.is_call(op)) {
    const auto* inner = a[0].get();
    while (inner->is_call(ScalarOp::Divide) && inner->arguments()[1]->is_constant())
      inner = inner->arguments()[0].get();
    if (inner->kind() == Kind::Operand && inner->operand() == operand) return true;
  }
  return std::any_of(a.begin(), a.end(), [&](const auto& argument) { return takes_of(op, *argument, operand); });
}

void collect_factors(const ScalarExpression& e, std::vector<const ScalarExpression*>& factors) {
  if (!e.is_call(ScalarOp::Multiply)) return factors.push_back(&e);
  for (const auto& argument : e.arguments()) collect_factors(*argument, factors);
}

// x ^ 2, or a product in which every factor is there twice, as x * y * x * y.
bool is_square(const ScalarExpression& e) {
  if (e.is_call(ScalarOp::Power)) return e.arguments()[1]->is_constant() && e.arguments()[1]->real_value() == 2;
  std::vector<const ScalarExpression*> factors;
  collect_factors(e, factors);
  while (factors.size() > 1) {
    const auto* last = factors.back();
    factors.pop_back();
    const auto same = std::find_if(factors.begin(), factors.end(), [&](const auto* f) { return equal(*f, *last); });
    if (same == factors.end()) return false;
    factors.erase(same);
  }
  return factors.empty();
}

// Whether the vertex may take LOG(SUM(EXP(x))) of values -INFINITY alone, or SQRT(SUM(x ^ 2)) of zeros alone. The sum
// is then 0, and 0 is passed to each x instead of 0 times the infinite derivative of LOG or SQRT.
bool may_be_sum_of_nothing(const EinGraph& graph, const Vertex& vertex, std::size_t n) {
  const auto& sum = graph.vertex(vertex.inputs[n]);
  if (sum.is_input() || sum.einsum.aggregate != Aggregate::Sum) return false;
  // A running sum is of values that another vertex has.
  const bool is_running = scan_form(sum.einsum, sum.compute_dtype).has_value();
  const auto& values = is_running ? graph.vertex(sum.inputs.front()) : sum;
  if (values.is_input()) return false;
  const auto& summed = *values.einsum.expression;
  const auto& e = *vertex.einsum.expression;
  return (summed.is_call(ScalarOp::Exp) && takes_of(ScalarOp::Log, e, n)) ||
         (is_square(summed) && takes_of(ScalarOp::Sqrt, e, n));
}

ScalarPtr value_operand(const EinGraph& graph, VertexId id, VertexDraft& draft) {
  const auto& vertex = graph.vertex(id);
  const bool is_value = vertex.einsum.aggregate == Aggregate::None && stores_natural_type(graph, vertex);
  return is_value ? draft.read(id, vertex.einsum.output) : nullptr;
}

}  // namespace

std::vector<VertexId> differentiable_parts(EinGraph& graph, VertexId id) {
  const auto vertex = graph.vertex(id);
  const auto& einsum = vertex.einsum;
  if (is_linear(einsum.aggregate) || einsum.block || is_running_aggregate(vertex)) return {id};
  const bool is_product = einsum.aggregate == Aggregate::Prod && vertex.dtype != DType::Int64;
  const bool is_operand = einsum.expression->kind() == Kind::Operand && vertex.inputs.size() == 1;
  if (is_operand && vertex.dtype == graph.vertex(vertex.inputs[0]).dtype && !is_product) return {id};

  EinSum values = einsum;
  DistinctLabels free(index_labels_of(*einsum.expression));
  for (const auto& labels : einsum.inputs) free.add(labels);
  values.output = free.labels();
  values.aggregated = {};
  values.aggregate = Aggregate::None;
  values.user = nullptr;
  const auto each = graph.add(make_vertex(graph, vertex.name + ".values", vertex.inputs, values, vertex.compute_dtype));
  if (is_product) {
    auto parts = product_parts(graph, each, einsum.aggregated, einsum.output);
    parts.insert(parts.begin(), each);
    return parts;
  }
  EinSum aggregate = einsum;
  aggregate.inputs = {values.output};
  aggregate.expression = ScalarExpression::operand(0);
  return {each, graph.add(make_vertex(graph, vertex.name + ".again", {each}, std::move(aggregate)))};
}

std::optional<Derivative> pull_back(EinGraph& graph, VertexId id, std::size_t n, const Derivative& cotangent,
                                    const std::string& name) {
  const auto vertex = graph.vertex(id);
  const auto& einsum = vertex.einsum;
  CHECK(n < vertex.inputs.size(), "a cotangent is carried back to one of the operands");
  CHECK(cotangent.is_valid(), "a derivative is a vertex or a number");
  if (einsum.block) return pull_back_block(graph, id, n, cotangent, name);
  if (is_running_aggregate(vertex)) return pull_back_scan(graph, id, cotangent, name);
  if (!varies_with(graph, id, n)) return std::nullopt;
  const AggregateWeight weight(graph, id);
  auto draft = draft_over(graph, vertex);
  const auto d = weight(draft, draft.read(cotangent, einsum.output));
  const auto value = value_operand(graph, id, draft);
  auto result = pullback({einsum.expression, n, draft.types(), value}, d);
  if (may_be_sum_of_nothing(graph, vertex, n))
    result = choose(equals(ScalarExpression::operand(n), number(0)), nullptr, result);
  require_no_step(graph, vertex, result);
  return draft.sum(name, einsum.inputs[n], einsum.labels(), result,
                   derivative_type(graph.vertex(vertex.inputs[n]).dtype));
}

std::optional<Derivative> push_forward(EinGraph& graph, VertexId id,
                                       const std::vector<std::optional<Derivative>>& tangents,
                                       const std::string& name) {
  const auto vertex = graph.vertex(id);
  const auto& einsum = vertex.einsum;
  const auto type = derivative_type(vertex.dtype);
  const AggregateWeight weight(graph, id);
  CHECK(tangents.size() >= vertex.inputs.size(), "each operand has a tangent, or is known to have none");
  if (einsum.block) return push_forward_block(graph, id, tangents, name);
  if (is_running_aggregate(vertex))
    return tangents[0] ? std::optional(push_forward_scan(graph, id, *tangents[0], name)) : std::nullopt;
  std::vector<Derivative> terms;
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    if (!tangents[n] || !varies_with(graph, id, n)) continue;
    auto draft = draft_over(graph, vertex);
    const auto d = draft.read(*tangents[n], einsum.inputs[n]);
    const auto value = value_operand(graph, id, draft);
    auto result = weight(draft, pushforward({einsum.expression, n, draft.types(), value}, d));
    if (may_be_sum_of_nothing(graph, vertex, n))
      result = choose(equals(ScalarExpression::operand(n), number(0)), nullptr, result);
    require_no_step(graph, vertex, result);
    auto term = draft.sum(name + "." + std::to_string(n + 1), einsum.output, einsum.labels(), result, type);
    if (term) terms.push_back(std::move(*term));
  }
  return add_up(graph, terms, einsum.output, name, type);
}

bool varies_with(const EinGraph& graph, VertexId id, std::size_t n) {
  const auto& vertex = graph.vertex(id);
  const auto types = input_types(graph, vertex.inputs);
  return pushforward({vertex.einsum.expression, n, types}, number(1)) != nullptr;
}

// Recognises MIN(CASE WHEN x = m OR x <> x THEN j ELSE (extent of j) END), where m is the MIN or MAX of x.
void require_differentiable(const EinGraph& graph, VertexId id) {
  const auto& vertex = graph.vertex(id);
  if (vertex.is_input()) return;
  if (vertex.einsum.block) return require_block_derivative(graph, id);
  if (const auto* user = vertex.einsum.user.get()) {
    if (!user->may_split() && !is_running_aggregate(vertex))
      fail(graph, vertex, user->name, "an aggregate of yours has one if it is declared COMMUTATIVE and ASSOCIATIVE");
    if (is_complex(vertex.compute_dtype)) fail(graph, vertex, user->name, "it aggregates complex numbers here");
  }
  const auto& e = *vertex.einsum.expression;
  const bool is_index = vertex.dtype == DType::Int64 && vertex.einsum.aggregate == Aggregate::Min &&
                        e.is_call(ScalarOp::Case) && e.arguments()[0]->is_call(ScalarOp::Or) &&
                        e.arguments()[1]->kind() == Kind::LabelIndex;
  if (!is_index) return;
  const bool least = std::any_of(vertex.inputs.begin(), vertex.inputs.end(), [&](VertexId input) {
    return graph.vertex(input).einsum.aggregate == Aggregate::Min;
  });
  fail(graph, vertex, least ? "ARGMIN" : "ARGMAX", "it gives an index, which changes in steps");
}

void require_variable(const EinGraph& graph, VertexId variable) {
  const auto& vertex = graph.vertex(variable);
  if (vertex.dtype != DType::Int64) return;
  throw Error(ErrorKind::Type, vertex.name + " is INT64, and derivatives are by real or complex numbers", std::nullopt,
              "define CAST(" + vertex.name + " AS FLOAT64), use that, and derive with respect to it");
}

}  // namespace eindb
