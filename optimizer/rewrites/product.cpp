#include "optimizer/rewrites/product.hpp"

namespace eindb {
namespace {

void collect(const ScalarPtr& e, bool inverted, std::vector<Factor>& out) {
  if (e->is_call(ScalarOp::Multiply)) {
    for (const auto& argument : e->arguments()) collect(argument, inverted, out);
  } else if (e->is_call(ScalarOp::Divide)) {
    collect(e->arguments()[0], inverted, out);
    collect(e->arguments()[1], !inverted, out);
  } else if (e->is_call(ScalarOp::Negate)) {
    out.push_back({ScalarExpression::integer(-1), false});
    collect(e->arguments()[0], inverted, out);
  } else {
    out.push_back({e, inverted});
  }
}

ScalarPtr multiply(std::vector<ScalarPtr> arguments) {
  if (arguments.empty()) return ScalarExpression::integer(1);
  if (arguments.size() == 1) return arguments.front();
  return ScalarExpression::call(ScalarOp::Multiply, std::move(arguments));
}

bool is_minus_one(const ScalarExpression& e) {
  return e.kind() == ScalarExpression::Kind::Integer && e.integer_value() == -1;
}

}  // namespace

std::vector<Factor> factors_of(const ScalarPtr& expression) {
  std::vector<Factor> out;
  collect(expression, false, out);
  return out;
}

ScalarPtr product_of(const std::vector<Factor>& factors) {
  std::vector<ScalarPtr> numerators;
  std::vector<ScalarPtr> denominators;
  bool negative = false;
  for (const auto& factor : factors) {
    if (is_minus_one(*factor.expression)) negative = !negative;
    else (factor.inverted ? denominators : numerators).push_back(factor.expression);
  }
  const bool divides = !denominators.empty();
  auto result = multiply(std::move(numerators));
  if (divides)
    result = ScalarExpression::call(ScalarOp::Divide, {std::move(result), multiply(std::move(denominators))});
  return negative ? ScalarExpression::call(ScalarOp::Negate, {std::move(result)}) : result;
}

}  // namespace eindb
