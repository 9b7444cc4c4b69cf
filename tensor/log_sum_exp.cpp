#include "tensor/log_sum_exp.hpp"

#include <cmath>
#include <utility>

namespace eindb {
namespace {

ScalarPtr shift(const ScalarPtr& maximum) {
  auto magnitude = ScalarExpression::call(ScalarOp::Abs, {maximum});
  auto is_infinite = ScalarExpression::call(ScalarOp::Equal, {std::move(magnitude), ScalarExpression::real(INFINITY)});
  return ScalarExpression::call(ScalarOp::Case, {std::move(is_infinite), ScalarExpression::integer(0), maximum});
}

}  // namespace

ScalarPtr shifted_exponential(ScalarPtr e, const ScalarPtr& maximum) {
  auto difference = ScalarExpression::call(ScalarOp::Subtract, {std::move(e), shift(maximum)});
  return ScalarExpression::call(ScalarOp::Exp, {std::move(difference)});
}

ScalarPtr log_of_shifted_sum(ScalarPtr sum, const ScalarPtr& maximum) {
  return ScalarExpression::call(ScalarOp::Add,
                                {ScalarExpression::call(ScalarOp::Log, {std::move(sum)}), shift(maximum)});
}

}  // namespace eindb
