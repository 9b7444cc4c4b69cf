#include "engine/constant_expression.hpp"

#include <array>
#include <string>

#include "common/error.hpp"
#include "tensor/reference_evaluator.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {
namespace {

/// Operators of one chain that nest: recursion goes as deep.
constexpr std::size_t kLongestChain = 500;

/// In the order of ast::InfixOp.
constexpr std::array kInfix{ScalarOp::Or,     ScalarOp::And,       ScalarOp::Equal,    ScalarOp::NotEqual,
                            ScalarOp::Less,   ScalarOp::LessEqual, ScalarOp::Greater,  ScalarOp::GreaterEqual,
                            ScalarOp::Add,    ScalarOp::Subtract,  ScalarOp::Multiply, ScalarOp::Divide,
                            ScalarOp::Modulo, ScalarOp::Power};

ScalarOp scalar_op(ast::InfixOp op) { return kInfix[static_cast<std::size_t>(op)]; }

[[noreturn]] void no_constant(const std::string& what, SourceSpan span) {
  throw Error(ErrorKind::Value, what + " is no constant", span, "write a number, or an expression of numbers");
}

/// A syntax tree as a scalar expression without operands.
class Lowering {
 public:
  ScalarPtr lower(const ast::Expression& e) const {
    return std::visit([&](const auto& node) { return (*this)(node, e.span); }, e.node);
  }

 private:
  ScalarPtr operator()(const ast::Integer& e, SourceSpan) const { return ScalarExpression::integer(e.value); }
  ScalarPtr operator()(const ast::Real& e, SourceSpan) const { return ScalarExpression::real(e.value); }

  ScalarPtr operator()(const ast::Parameter& e, SourceSpan span) const {
    throw Error(ErrorKind::Value, "no value is given for parameter $" + std::to_string(e.number), span);
  }
  ScalarPtr operator()(const ast::Name& e, SourceSpan span) const { no_constant(e.name.text, span); }
  ScalarPtr operator()(const ast::Reference& e, SourceSpan span) const { no_constant(e.name.text + "[...]", span); }
  ScalarPtr operator()(const ast::Aggregate& e, SourceSpan) const { no_constant("an aggregate", e.op_span); }
  ScalarPtr operator()(const ast::Cast&, SourceSpan span) const {
    throw Error(ErrorKind::Unsupported, "a constant takes no CAST", span, "the tensor has a type");
  }

  ScalarPtr operator()(const ast::Prefix& e, SourceSpan) const {
    auto value = lower(e.operand.front());
    return ScalarExpression::call(e.op == ast::PrefixOp::Not ? ScalarOp::Not : ScalarOp::Negate, {std::move(value)});
  }

  /// From left to right; sums and products of any length are one call.
  ScalarPtr operator()(const ast::Infix& e, SourceSpan span) const {
    const auto first = e.operators.front();
    if (first == ast::InfixOp::Add || first == ast::InfixOp::Subtract) return sum(e);
    const bool flat = first == ast::InfixOp::Multiply && std::count(e.operators.begin(), e.operators.end(), first) ==
                                                             static_cast<std::ptrdiff_t>(e.operators.size());
    if (!flat && e.operators.size() > kLongestChain)
      throw Error(ErrorKind::Unsupported, "a constant of more than 500 operators", span, "write its value");
    if (flat) return ScalarExpression::call(ScalarOp::Multiply, lower_all(e.operands));
    auto result = lower(e.operands.front());
    for (std::size_t n = 0; n < e.operators.size(); ++n)
      result = ScalarExpression::call(scalar_op(e.operators[n]), {std::move(result), lower(e.operands[n + 1])});
    return result;
  }

  ScalarPtr sum(const ast::Infix& e) const {
    auto terms = lower_all(e.operands);
    for (std::size_t n = 0; n < e.operators.size(); ++n)
      if (e.operators[n] == ast::InfixOp::Subtract)
        terms[n + 1] = ScalarExpression::call(ScalarOp::Negate, {std::move(terms[n + 1])});
    return ScalarExpression::call(ScalarOp::Add, std::move(terms));
  }

  ScalarPtr operator()(const ast::Call& e, SourceSpan span) const {
    const auto op = find_scalar_function(e.function.text);
    if (!op) no_constant(e.function.text + "(...)", e.function.span);
    const auto& info = info_of(*op);
    const auto given = static_cast<int>(e.arguments.size());
    if (given < info.min_arguments || (info.max_arguments >= 0 && given > info.max_arguments)) {
      throw Error(ErrorKind::Value,
                  std::string(info.name) + " takes " + std::to_string(info.min_arguments) +
                      (info.max_arguments < 0 ? " or more" : "") + " arguments, but " + std::to_string(given) +
                      (given == 1 ? " is given" : " are given"),
                  span);
    }
    return ScalarExpression::call(*op, lower_all(e.arguments));
  }

  ScalarPtr operator()(const ast::Case& e, SourceSpan span) const {
    if (e.otherwise.empty())
      throw Error(ErrorKind::Value, "CASE needs an ELSE: a cell always has a value", span, "write ... ELSE 0 END");
    std::vector<ScalarPtr> arguments;
    for (const auto& branch : e.branches) {
      auto when = lower(branch.when);
      if (!e.subject.empty())
        when = ScalarExpression::call(ScalarOp::Equal, {lower(e.subject.front()), std::move(when)});
      arguments.push_back(std::move(when));
      arguments.push_back(lower(branch.then));
    }
    arguments.push_back(lower(e.otherwise.front()));
    return ScalarExpression::call(ScalarOp::Case, std::move(arguments));
  }

  std::vector<ScalarPtr> lower_all(const std::vector<ast::Expression>& expressions) const {
    std::vector<ScalarPtr> out;
    for (const auto& expression : expressions) out.push_back(lower(expression));
    return out;
  }
};

template <class T>
CellValue as_cell_value(T value) {
  if constexpr (std::is_same_v<T, std::int64_t>) return value;
  else if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
  else return std::complex<double>(value.real(), value.imag());
}

/// A number, with any sign before it: most values are nothing else.
std::optional<CellValue> literal(const ast::Expression& e) {
  if (const auto* integer = std::get_if<ast::Integer>(&e.node)) return integer->value;
  if (const auto* real = std::get_if<ast::Real>(&e.node)) return real->value;
  const auto* prefix = std::get_if<ast::Prefix>(&e.node);
  if (prefix == nullptr || prefix->op != ast::PrefixOp::Negate) return std::nullopt;
  if (const auto* real = std::get_if<ast::Real>(&prefix->operand.front().node)) return -real->value;
  const auto* integer = std::get_if<ast::Integer>(&prefix->operand.front().node);
  if (integer == nullptr || integer->value == INT64_MIN) return std::nullopt;
  return -integer->value;
}

}  // namespace

CellValue evaluate_constant(const ast::Expression& expression) {
  if (const auto number = literal(expression)) return *number;
  EinSum einsum;
  einsum.expression = Lowering().lower(expression);
  return with_place(expression.span, [&] {
    const auto type = type_of(*einsum.expression, {}).dtype;
    const auto value = evaluate_reference(einsum, {}, {}, compute_type_of(*einsum.expression, {}), type);
    return dispatch(type, [&](auto t) { return as_cell_value(*value.data<typename decltype(t)::type>()); });
  });
}

}  // namespace eindb
