#include "optimizer/rewrites/constant_folding.hpp"

#include <algorithm>
#include <cmath>

#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using enum ScalarOp;
using Arguments = std::vector<ScalarPtr>;

template <class T>
T value_of(const ScalarExpression& literal) {
  if constexpr (is_complex_type<T>) return T(value_of<typename T::value_type>(literal));
  else if (literal.kind() == Kind::Integer) return static_cast<T>(literal.integer_value());
  else return static_cast<T>(literal.real_value());
}

// The literal of type `type` that converts to `value`; null if there is none.
template <class T>
ScalarPtr literal_of(T value, DType type) {
  if constexpr (std::is_integral_v<T>) {
    return type == DType::Int64 ? ScalarExpression::integer(value) : nullptr;
  } else if constexpr (is_complex_type<T>) {
    if (value.imag() != 0 || std::signbit(value.imag())) return nullptr;
    return literal_of(value.real(), type);
  } else {
    const auto real = static_cast<double>(value);
    if (type == DType::Float64) return ScalarExpression::real(real);
    constexpr double kBeyondInt64 = 0x1p63;
    const bool is_whole =
        std::trunc(real) == real && std::abs(real) < kBeyondInt64 && !(real == 0 && std::signbit(real));
    return type == DType::Int64 && is_whole ? ScalarExpression::integer(static_cast<std::int64_t>(real)) : nullptr;
  }
}

bool is_number(const ScalarPtr& e, double value) {
  return e->is_constant() && e->real_value() == value && std::signbit(e->real_value()) == std::signbit(value);
}

// Folds the expressions of one vertex, bottom-up.
class Folder {
 public:
  Folder(DType compute, const LabelTable& labels) : compute_(compute), labels_(labels) {}

  ScalarPtr fold(const ScalarPtr& e) const {
    if (e->kind() == Kind::LabelIndex && labels_.extent(e->label()) == 1) return ScalarExpression::integer(0);
    if (e->kind() != Kind::Call) return e;
    Arguments arguments;
    bool changed = false;
    for (const auto& argument : e->arguments()) {
      arguments.push_back(fold(argument));
      changed = changed || arguments.back() != argument;
    }
    if (e->op() == Case) return fold_case(arguments);
    changed = fold_leading_constants(e->op(), arguments) || changed;
    if (arguments.size() == 1 && info_of(e->op()).min_arguments > 1) return arguments[0];
    const auto call = changed ? ScalarExpression::call(e->op(), std::move(arguments)) : e;
    if (auto constant = value_of_call(*call)) return constant;
    return simplified(call);
  }

 private:
  static bool all_constant(const Arguments& arguments) {
    return std::all_of(arguments.begin(), arguments.end(), [](const auto& a) { return a->is_constant(); });
  }

  bool truth_of(const ScalarExpression& literal) const {
    return dispatch(compute_, [&](auto t) {
      using T = typename decltype(t)::type;
      return eindb::value_of<T>(literal) != T(0);
    });
  }

  // What a kernel computes, as a literal that every type rule reads as it read the call; null if there is none.
  ScalarPtr value_of_call(const ScalarExpression& call) const {
    if (!all_constant(call.arguments())) return nullptr;
    const auto type = type_of_weak(call);
    return dispatch(compute_, [&](auto t) -> ScalarPtr {
      using T = typename decltype(t)::type;
      const auto& arguments = call.arguments();
      T result = eindb::value_of<T>(*arguments[0]);
      if (arguments.size() == 1) return literal_of(apply_scalar<T>(call.op(), result), type);
      for (std::size_t n = 1; n < arguments.size(); ++n)
        result = apply_scalar<T>(call.op(), result, eindb::value_of<T>(*arguments[n]));
      return literal_of(result, type);
    });
  }

  // INT64 if a call of constants is one of whole numbers: with an INT64 operand it stays INT64.
  static DType type_of_weak(const ScalarExpression& call) {
    const DType whole[] = {DType::Int64};
    const auto beside = ScalarExpression::operand(0);
    return type_of(*ScalarExpression::call(Add, {beside, std::make_shared<ScalarExpression>(call)}), whole).dtype;
  }

  // 2 * 3 * x is computed from the left, so 2 * 3 is a value of its own.
  bool fold_leading_constants(ScalarOp op, Arguments& arguments) const {
    if (info_of(op).max_arguments >= 0) return false;
    std::size_t count = 0;
    while (count < arguments.size() && arguments[count]->is_constant()) ++count;
    if (count < 2) return false;
    const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(count);
    const auto value = value_of_call(*ScalarExpression::call(op, Arguments(arguments.begin(), end)));
    if (value == nullptr) return false;
    arguments.erase(arguments.begin() + 1, end);
    arguments[0] = value;
    return true;
  }

  ScalarPtr fold_case(const Arguments& arguments) const {
    Arguments kept;
    ScalarPtr otherwise = arguments.back();
    for (std::size_t n = 0; n + 1 < arguments.size(); n += 2) {
      if (!arguments[n]->is_constant()) {
        kept.insert(kept.end(), {arguments[n], arguments[n + 1]});
      } else if (truth_of(*arguments[n])) {
        otherwise = arguments[n + 1];
        break;
      }
    }
    while (!kept.empty() && equal(*kept.back(), *otherwise)) kept.resize(kept.size() - 2);
    if (kept.empty()) return otherwise;
    kept.push_back(std::move(otherwise));
    return ScalarExpression::call(Case, std::move(kept));
  }

  ScalarPtr simplified(const ScalarPtr& e) const {
    const auto& a = e->arguments();
    switch (e->op()) {
      case Multiply: return is_complex(compute_) ? e : without_neutral(e, 1);
      case Add: return is_complex(compute_) ? e : without_neutral(e, compute_ == DType::Int64 ? 0.0 : -0.0);
      case Subtract: return is_number(a[1], 0) ? a[0] : e;
      case Divide: return is_number(a[1], 1) && !is_complex(compute_) ? a[0] : e;
      case Power: return fold_power(e);
      case Negate: return a[0]->is_call(Negate) ? a[0]->arguments()[0] : e;
      case And:
      case Or: return fold_logic(e);
      case Floor:
      case Ceil:
      case Round: return compute_ == DType::Int64 ? a[0] : e;
      case Real:
      case Conj: return is_complex(compute_) ? e : a[0];
      default: return e;
    }
  }

  ScalarPtr fold_power(const ScalarPtr& e) const {
    const auto& a = e->arguments();
    if (a[1]->kind() != Kind::Integer || is_complex(compute_)) return e;
    if (a[1]->integer_value() == 0) return ScalarExpression::integer(1);
    return a[1]->integer_value() == 1 ? a[0] : e;
  }

  static ScalarPtr without_neutral(const ScalarPtr& e, double neutral) {
    Arguments kept;
    for (const auto& argument : e->arguments())
      if (!is_number(argument, neutral)) kept.push_back(argument);
    if (kept.size() == e->arguments().size()) return e;
    if (kept.empty()) return e->arguments().front();
    return kept.size() == 1 ? kept.front() : ScalarExpression::call(e->op(), std::move(kept));
  }

  ScalarPtr fold_logic(const ScalarPtr& e) const {
    const auto& a = e->arguments();
    for (const std::size_t n : {0U, 1U}) {
      if (!a[n]->is_constant()) continue;
      const bool settles = truth_of(*a[n]) == (e->op() == Or);
      if (settles) return ScalarExpression::integer(e->op() == Or ? 1 : 0);
      if (a[1 - n]->kind() == Kind::Call && gives_boolean(a[1 - n]->op())) return a[1 - n];
    }
    return e;
  }

  DType compute_;
  const LabelTable& labels_;
};

// Without the operands that the expression does not read. Their labels stay in the head or aggregated.
Vertex drop_unread(Vertex vertex) {
  const auto read = operands_of(*vertex.einsum.expression);
  if (read.size() == vertex.inputs.size()) return vertex;
  std::vector<VertexId> inputs;
  std::vector<Labels> labels;
  std::vector<std::size_t> now(vertex.inputs.size());
  for (const auto n : read) {
    now[n] = inputs.size();
    inputs.push_back(vertex.inputs[n]);
    labels.push_back(vertex.einsum.inputs[n]);
  }
  vertex.inputs = std::move(inputs);
  vertex.einsum.inputs = std::move(labels);
  vertex.einsum.expression =
      substitute_operands(vertex.einsum.expression, [&](std::size_t n) { return ScalarExpression::operand(now[n]); });
  return vertex;
}

// Numbers alone are FLOAT64: what has lost every operand of a shorter type would not be computed in that any more.
bool fits_compute_type(const EinGraph& graph, const Vertex& vertex) {
  std::vector<DType> types;
  for (const auto input : vertex.inputs) types.push_back(graph.vertex(input).dtype);
  return promote(vertex.compute_dtype, compute_type_of(*vertex.einsum.expression, types)) == vertex.compute_dtype;
}

}  // namespace

EinGraph fold_constants(const EinGraph& graph) {
  return rewrite_each(graph, [](EinGraph& out, Vertex vertex) {
    if (vertex.is_input()) return out.add(std::move(vertex));
    auto folded = vertex;
    folded.einsum.expression = Folder(vertex.compute_dtype, out.labels()).fold(vertex.einsum.expression);
    if (folded.einsum.expression == vertex.einsum.expression) return out.add(std::move(vertex));
    folded = drop_unread(std::move(folded));
    return out.add(std::move(fits_compute_type(out, folded) ? folded : vertex));
  });
}

}  // namespace eindb
