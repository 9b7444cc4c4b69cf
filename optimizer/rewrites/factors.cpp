#include "optimizer/rewrites/factors.hpp"

#include <optional>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

using enum ScalarOp;

std::optional<ScalarOp> inverse_of(ScalarOp join) {
  if (join == Multiply) return Divide;
  return join == Add ? std::optional(Subtract) : std::nullopt;
}

// Conversions, and the comparison with 0, of a truth value.
bool keeps_truth(const ScalarExpression& e) {
  if (e.kind() != ScalarExpression::Kind::Call) return false;
  const bool compares = e.op() == NotEqual && e.arguments()[1]->is_constant() && e.arguments()[1]->real_value() == 0;
  return (compares || converts_to(e.op())) && gives_boolean(*e.arguments()[0]);
}

void collect(const ScalarPtr& e, ScalarOp join, bool inverted, std::vector<Factor>& out) {
  const auto& arguments = e->arguments();
  if ((join == And || join == Or) && keeps_truth(*e)) return collect(arguments[0], join, inverted, out);
  if (e->is_call(join)) {
    for (const auto& argument : arguments) collect(argument, join, inverted, out);
  } else if (const auto inverse = inverse_of(join); inverse && e->is_call(*inverse)) {
    collect(arguments[0], join, inverted, out);
    collect(arguments[1], join, !inverted, out);
  } else if (e->is_call(Negate) && join == Multiply) {
    out.push_back({ScalarExpression::integer(-1), false});
    collect(arguments[0], join, inverted, out);
  } else if (e->is_call(Negate) && join == Add) {
    collect(arguments[0], join, !inverted, out);
  } else {
    out.push_back({e, inverted});
  }
}

// AND and OR have two arguments.
ScalarPtr joined_truth(const std::vector<ScalarPtr>& arguments, ScalarOp join) {
  CHECK(!arguments.empty(), "truth values are joined where there are some");
  auto all = arguments.front();
  for (std::size_t n = 1; n < arguments.size(); ++n) all = ScalarExpression::call(join, {std::move(all), arguments[n]});
  return gives_boolean(*all) ? all : ScalarExpression::call(NotEqual, {std::move(all), ScalarExpression::integer(0)});
}

ScalarPtr joined_plain(std::vector<ScalarPtr> arguments, ScalarOp join) {
  if (join == And || join == Or) return joined_truth(arguments, join);
  if (arguments.size() == 1) return arguments.front();
  if (!arguments.empty()) return ScalarExpression::call(join, std::move(arguments));
  CHECK(join == Multiply || join == Add, "there is something to join");
  return ScalarExpression::integer(join == Multiply ? 1 : 0);
}

bool is_minus_one(const ScalarExpression& e) {
  return e.kind() == ScalarExpression::Kind::Integer && e.integer_value() == -1;
}

void collect_calls(const ScalarPtr& e, const JoinFunction& join, std::vector<Factor>& out) {
  const auto arguments = join.arguments_of(e);
  if (!arguments) return out.push_back({e, false});
  collect_calls(arguments->first, join, out);
  collect_calls(arguments->second, join, out);
}

ScalarPtr joined_by_user(const std::vector<Factor>& factors, const JoinFunction& join) {
  CHECK(!factors.empty(), "there is something to join");
  auto all = factors.front().expression;
  for (std::size_t n = 1; n < factors.size(); ++n) {
    CHECK(!factors[n].inverted, "a user's function has no inverse");
    all = join.call(all, factors[n].expression);
  }
  return all;
}

}  // namespace

std::vector<Factor> factors_of(const ScalarPtr& expression, const JoinFunction& join) {
  std::vector<Factor> out;
  if (join.is_user()) collect_calls(expression, join, out);
  else collect(expression, join.op(), false, out);
  return out;
}

ScalarPtr joined(const std::vector<Factor>& factors, const JoinFunction& function) {
  if (function.is_user()) return joined_by_user(factors, function);
  const auto join = function.op();
  std::vector<ScalarPtr> plain;
  std::vector<ScalarPtr> inverted;
  bool negative = false;
  for (const auto& factor : factors) {
    if (join == Multiply && is_minus_one(*factor.expression)) negative = !negative;
    else (factor.inverted ? inverted : plain).push_back(factor.expression);
  }
  if (inverted.empty()) {
    auto result = joined_plain(std::move(plain), join);
    return negative ? ScalarExpression::call(Negate, {std::move(result)}) : result;
  }
  const auto inverse = inverse_of(join);
  CHECK(inverse.has_value(), "only + and * have inverses");
  auto rest = joined_plain(std::move(inverted), join);
  if (join == Add && plain.empty()) return ScalarExpression::call(Negate, {std::move(rest)});
  auto result = ScalarExpression::call(*inverse, {joined_plain(std::move(plain), join), std::move(rest)});
  return negative ? ScalarExpression::call(Negate, {std::move(result)}) : result;
}

}  // namespace eindb
