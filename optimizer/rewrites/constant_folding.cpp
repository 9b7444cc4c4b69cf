#include "optimizer/rewrites/constant_folding.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/scalar_value.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using enum ScalarOp;
using Arguments = std::vector<ScalarPtr>;

// A literal with the type and value of `value`; null if none is exact. Whole numbers are written as such, so that rules
// that look for them still match.
ScalarPtr literal_of(const ScalarValue& value, bool whole) {
  const auto type = value.type();
  if (type == DType::Int64)
    return ScalarExpression::with_type(ScalarExpression::integer(value.as<std::int64_t>()), type);
  const auto number = value.as<std::complex<double>>();
  if (number.imag() != 0 || std::signbit(number.imag())) return nullptr;
  const auto real = number.real();
  constexpr double kBeyondInt64 = 0x1p63;
  const bool is_whole = std::trunc(real) == real && std::abs(real) < kBeyondInt64 && !(real == 0 && std::signbit(real));
  return ScalarExpression::with_type(
      whole && is_whole ? ScalarExpression::integer(static_cast<std::int64_t>(real)) : ScalarExpression::real(real),
      type);
}

bool is_number(const ScalarPtr& e, double value) {
  return e->is_constant() && e->real_value() == value && std::signbit(e->real_value()) == std::signbit(value);
}

// Folds the expressions of one vertex, bottom-up.
class Folder {
 public:
  Folder(std::vector<DType> operands, const LabelTable& labels) : operands_(std::move(operands)), labels_(labels) {}

  ScalarPtr fold(const ScalarPtr& e) const {
    if (e->kind() == Kind::LabelIndex && labels_.extent(e->label()) == 1)
      return ScalarExpression::with_type(ScalarExpression::integer(0), e->type());
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

  static bool truth_of(const ScalarExpression& literal) { return ScalarValue::of(literal).is_true(); }

  bool gives_complex(const ScalarExpression& e) const { return is_complex(written_type(e, operands_).value()); }
  bool gives_int64(const ScalarExpression& e) const { return written_type(e, operands_) == DType::Int64; }

  // The literal of the value that a kernel computes for the call; null if there is none.
  static ScalarPtr value_of_call(const ScalarExpression& call) {
    const auto& arguments = call.arguments();
    CHECK(!arguments.empty(), "an operation has an argument");
    if (!all_constant(arguments)) return nullptr;
    const bool whole =
        !info_of(call.op()).floating &&
        std::all_of(arguments.begin(), arguments.end(), [](const auto& a) { return a->kind() == Kind::Integer; });
    auto result = ScalarValue::of(*arguments[0]);
    if (arguments.size() == 1) return literal_of(ScalarValue::apply(call.op(), result), whole);
    for (std::size_t n = 1; n < arguments.size(); ++n)
      result = ScalarValue::apply(call.op(), result, ScalarValue::of(*arguments[n]));
    return literal_of(result, whole);
  }

  // Operations associate to the left: in 2 * 3 * x, 2 * 3 is a value of its own.
  static bool fold_leading_constants(ScalarOp op, Arguments& arguments) {
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

  static ScalarPtr fold_case(const Arguments& arguments) {
    CHECK(arguments.size() % 2 == 1, "a CASE ends in its ELSE");
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
      case Multiply: return gives_complex(*e) ? e : without_neutral(e, 1);
      case Add: return gives_complex(*e) ? e : without_neutral(e, gives_int64(*e) ? 0.0 : -0.0);
      case Subtract: return is_number(a[1], 0) ? a[0] : e;
      case Divide: return is_number(a[1], 1) && !gives_complex(*e) ? a[0] : e;
      case Power: return fold_power(e);
      case Negate: return a[0]->is_call(Negate) ? a[0]->arguments()[0] : e;
      case And:
      case Or: return fold_logic(e);
      case NotEqual: return is_number(a[1], 0) && gives_truth(*a[0]) ? a[0] : e;
      case Equal: return is_number(a[1], 0) && gives_boolean(*a[0]) ? ScalarExpression::call(Not, {a[0]}) : e;
      case Floor:
      case Ceil:
      case Round: return gives_int64(*e) ? a[0] : e;
      case Real:
      case Conj: return gives_complex(*a[0]) ? e : a[0];
      default: return e;
    }
  }

  // Truth values are 0 and 1 in every type.
  static bool gives_truth(const ScalarExpression& e) {
    return gives_boolean(e) || (e.kind() == Kind::Call && converts_to(e.op()) && !is_complex(*converts_to(e.op())) &&
                                gives_truth(*e.arguments()[0]));
  }

  ScalarPtr fold_power(const ScalarPtr& e) const {
    const auto& a = e->arguments();
    if (a[1]->kind() != Kind::Integer || gives_complex(*e)) return e;
    if (a[1]->integer_value() == 0) return ScalarExpression::with_type(ScalarExpression::integer(1), a[1]->type());
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

  static ScalarPtr fold_logic(const ScalarPtr& e) {
    const auto& a = e->arguments();
    for (const std::size_t n : {0U, 1U}) {
      if (!a[n]->is_constant()) continue;
      const bool settles = truth_of(*a[n]) == (e->op() == Or);
      if (settles) return ScalarExpression::with_type(ScalarExpression::integer(e->op() == Or ? 1 : 0), a[n]->type());
      if (gives_boolean(*a[1 - n])) return a[1 - n];
    }
    return e;
  }

  std::vector<DType> operands_;
  const LabelTable& labels_;
};

// Drops operands that the expression does not read. Their labels stay in the head or aggregated.
Vertex drop_unread(Vertex vertex) {
  const auto read = operands_of(*vertex.einsum.expression);
  if (read.size() == vertex.inputs.size()) return vertex;
  std::vector<VertexId> inputs;
  std::vector<Labels> labels;
  std::vector<std::size_t> now(vertex.inputs.size());
  for (const auto n : read) {
    CHECK(n < vertex.inputs.size(), "operands that are read are those of the vertex");
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

}  // namespace

EinGraph fold_constants(const EinGraph& graph) {
  return rewrite_each(graph, [](EinGraph& out, const Vertex& vertex) -> std::optional<VertexId> {
    // The labels of a block function's expression say which are its core (tensor/block_form).
    if (vertex.is_input() || vertex.einsum.block) return std::nullopt;
    auto folded = Folder(input_types(out, vertex.inputs), out.labels()).fold(vertex.einsum.expression);
    if (folded == vertex.einsum.expression) return std::nullopt;
    auto rewritten = vertex;
    rewritten.einsum.expression = std::move(folded);
    return out.add(drop_unread(std::move(rewritten)));
  });
}

}  // namespace eindb
