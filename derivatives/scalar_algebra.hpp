#pragma once

#include <span>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// Expressions as derivatives are put together from them: null stands for zero, which no kernel needs to compute, and
/// what a factor 1, a term 0 or two constants give is written down at once.
///
///     times(x, 1) is x          plus(x, null) is x        over(x, 1) is x
///     times(2, times(3, x)) is 6 * x                      negated(negated(x)) is x
///     plus(x, x) is 2 * x
///
/// A zero swallows infinities: null times anything is null. That is meant, since a null says that nothing depends on
/// the factor beside it. Constants are those of the type rules: 1 and 2 adapt to what they meet. Pure functions.
namespace algebra {

ScalarPtr number(double value);
ScalarPtr times(const ScalarPtr& a, const ScalarPtr& b);
/// A product of all; 1 for none.
ScalarPtr product(std::span<const ScalarPtr> factors);
ScalarPtr plus(const ScalarPtr& a, const ScalarPtr& b);
ScalarPtr minus(const ScalarPtr& a, const ScalarPtr& b);
ScalarPtr negated(const ScalarPtr& a);
/// `b` is not null.
ScalarPtr over(const ScalarPtr& a, const ScalarPtr& b);
/// a ^ exponent for a number `exponent`; `a` is not null.
ScalarPtr power(const ScalarPtr& a, const ScalarPtr& exponent);
/// CASE WHEN condition THEN a ELSE b; null if both are.
ScalarPtr choose(const ScalarPtr& condition, const ScalarPtr& a, const ScalarPtr& b);
/// `op` of one argument, null of null: of functions that are linear.
ScalarPtr linear(ScalarOp op, const ScalarPtr& a);

/// The expression, or 0 in place of null.
ScalarPtr or_zero(const ScalarPtr& a);

}  // namespace algebra
}  // namespace eindb
