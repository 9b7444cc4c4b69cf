#include "tensor/pair_form.hpp"

#include <algorithm>
#include <utility>

#include "tensor/placed_value.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

struct Pair {
  PairFunction function;
  std::size_t left;
  std::size_t right;
  bool converted = false;  // the value, which is 0 or 1
};

bool is_comparison(PairFunction function) {
  using enum PairFunction;
  return function == Equal || function == NotEqual || function == Less || function == LessEqual;
}

// The argument of AND or OR without a conversion to FLOAT64, which keeps every value other than zero so.
const ScalarExpression& truth_read(const ScalarExpression& e) {
  return e.is_call(ScalarOp::ToFloat64) ? *e.arguments()[0] : e;
}

std::optional<PairFunction> function_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::Add: return PairFunction::Add;
    case ScalarOp::Subtract: return PairFunction::Subtract;
    case ScalarOp::Multiply: return PairFunction::Multiply;
    case ScalarOp::Least: return PairFunction::Least;
    case ScalarOp::Greatest: return PairFunction::Greatest;
    case ScalarOp::Equal: return PairFunction::Equal;
    case ScalarOp::NotEqual: return PairFunction::NotEqual;
    case ScalarOp::Less:
    case ScalarOp::Greater: return PairFunction::Less;
    case ScalarOp::LessEqual:
    case ScalarOp::GreaterEqual: return PairFunction::LessEqual;
    case ScalarOp::And: return PairFunction::And;
    case ScalarOp::Or: return PairFunction::Or;
    default: return std::nullopt;
  }
}

std::optional<Pair> function_of_two(const ScalarExpression& e) {
  if (e.kind() != Kind::Call || e.arguments().size() != 2) return std::nullopt;
  const auto function = function_of(e.op());
  const bool joins_truths = e.op() == ScalarOp::And || e.op() == ScalarOp::Or;
  const auto& a = joins_truths ? truth_read(*e.arguments()[0]) : *e.arguments()[0];
  const auto& b = joins_truths ? truth_read(*e.arguments()[1]) : *e.arguments()[1];
  if (!function || a.kind() != Kind::Operand || b.kind() != Kind::Operand || a.operand() == b.operand())
    return std::nullopt;
  const bool reversed = e.op() == ScalarOp::Greater || e.op() == ScalarOp::GreaterEqual;
  return reversed ? Pair{*function, b.operand(), a.operand()} : Pair{*function, a.operand(), b.operand()};
}

// The expression that is squared, as x * x or POWER(x, 2); null if there is none.
const ScalarExpression* squared(const ScalarExpression& e) {
  if (e.kind() != Kind::Call || e.arguments().size() != 2) return nullptr;
  const auto& base = *e.arguments()[0];
  const auto& other = *e.arguments()[1];
  if (e.op() == ScalarOp::Multiply && equal(base, other)) return &base;
  const bool is_two = other.kind() == Kind::Integer && other.integer_value() == 2;
  return e.op() == ScalarOp::Power && is_two ? &base : nullptr;
}

std::optional<Pair> pair_of(const ScalarExpression& e) {
  // 0 and 1 are the same in all types.
  if (e.kind() == Kind::Call && converts_to(e.op()) && gives_boolean(*e.arguments()[0])) {
    auto pair = pair_of(*e.arguments()[0]);
    if (pair) pair->converted = true;
    return pair;
  }
  const auto* square = squared(e);
  const bool measures = e.is_call(ScalarOp::Abs);
  if (square == nullptr && !measures) return function_of_two(e);
  auto pair = function_of_two(measures ? *e.arguments()[0] : *square);
  if (!pair || pair->function != PairFunction::Subtract) return std::nullopt;
  pair->function = measures ? PairFunction::AbsoluteDifference : PairFunction::SquaredDifference;
  return pair;
}

// A search compares what it computes, as do extremes with their indices.
bool is_searched(PairFunction function) {
  using enum PairFunction;
  return function == Add || function == Subtract || function == Multiply || function == Least || function == Greatest ||
         function == SquaredDifference || function == AbsoluteDifference;
}

// The parts of MIN[j](CASE WHEN value = sought OR value <> value THEN j ELSE none END).
struct Search {
  const ScalarExpression* value;
  std::size_t sought;
  double none;
};

// The values are compared in their own type, or all in a wider one.
std::optional<Search> search_of(const EinSum& einsum) {
  const auto& e = *einsum.expression;
  if (einsum.aggregate != Aggregate::Min || einsum.aggregated.size() != 1) return std::nullopt;
  if (!e.is_call(ScalarOp::Case) || e.arguments().size() != 3) return std::nullopt;
  const auto& condition = *e.arguments()[0];
  const auto& index = *e.arguments()[1];
  const auto& none = *e.arguments()[2];
  if (index.kind() != Kind::LabelIndex || index.label() != einsum.aggregated.front() || !none.is_constant() ||
      !condition.is_call(ScalarOp::Or) || condition.arguments().size() != 2)
    return std::nullopt;
  const auto& equals = *condition.arguments()[0];
  const auto& is_nan = *condition.arguments()[1];
  if (!equals.is_call(ScalarOp::Equal) || !is_nan.is_call(ScalarOp::NotEqual)) return std::nullopt;
  const auto* value = equals.arguments()[0].get();
  const auto* sought = equals.arguments()[1].get();
  if (!equal(*value, *is_nan.arguments()[0]) || !equal(*value, *is_nan.arguments()[1])) return std::nullopt;
  if (value->kind() == Kind::Call && converts_to(value->op())) {
    if (!sought->is_call(value->op())) return std::nullopt;
    value = value->arguments()[0].get();
    sought = sought->arguments()[0].get();
  }
  if (sought->kind() != Kind::Operand || contains(einsum.inputs[sought->operand()], index.label())) return std::nullopt;
  return Search{value, sought->operand(), none.real_value()};
}

// Pair blocks have no pass in which labels of one operand alone are aggregated before.
bool is_summed_alone(ContractionRole role) {
  return role == ContractionRole::SummedLeft || role == ContractionRole::SummedRight;
}

}  // namespace

std::optional<PairForm> pair_form(const EinSum& einsum, DType compute) {
  using enum Aggregate;
  if (einsum.aggregate == None || einsum.aggregate == Prod || einsum.aggregate == User) return std::nullopt;
  const auto placed = placed_value(einsum);
  if (is_complex(compute) && !placed) return std::nullopt;
  auto search = search_of(einsum);
  const auto pair = pair_of(search ? *search->value : placed ? *placed->value : *einsum.expression);
  if (placed && pair && !is_searched(pair->function)) return std::nullopt;
  if (search && (!pair || !is_searched(pair->function) || einsum.inputs.size() != 3 || search->sought == pair->left ||
                 search->sought == pair->right))
    return std::nullopt;
  if (!pair || (einsum.aggregate == LogSumExp && pair->function != PairFunction::Add)) return std::nullopt;
  PairForm form{.function = pair->function, .left = pair->left, .right = pair->right, .roles = {}};
  form.compares_before_converting = pair->converted && is_comparison(pair->function);
  form.places_integers = placed && placed->type == DType::Int64;
  auto roles = roles_of(einsum, form.left, form.right);
  if (!roles || std::any_of(roles->begin(), roles->end(), is_summed_alone)) return std::nullopt;
  form.roles = *std::move(roles);
  if (search) {
    form.sought = search->sought;
    form.none = search->none;
  }
  return form;
}

std::optional<IndexSearch> index_search(const EinSum& einsum) {
  const auto search = search_of(einsum);
  if (!search || search->value->kind() != Kind::Operand) return std::nullopt;
  return IndexSearch{search->value->operand(), search->sought, search->none};
}

bool packs_truths(PairFunction function, Aggregate aggregate) {
  if (function == PairFunction::And) return aggregate == Aggregate::Sum || aggregate == Aggregate::Max;
  if (function == PairFunction::Or) return aggregate == Aggregate::Sum || aggregate == Aggregate::Min;
  return false;
}

}  // namespace eindb
