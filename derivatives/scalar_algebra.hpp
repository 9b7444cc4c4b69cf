#pragma once

#include <span>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// Builders of derivative expressions. Null stands for zero, which no kernel needs to compute; factors of 1, terms of 0
/// and operations on two constants are simplified at once.
///
///     times(x, 1) is x          plus(x, null) is x        over(x, 1) is x
///     times(2, times(3, x)) is 6 * x                      negated(negated(x)) is x
///     plus(x, x) is 2 * x
///
/// Zero absorbs infinities: null times anything is null. This is intended, since null means that nothing depends on the
/// other factor. Constants follow the type rules: 1 and 2 adapt to their context. Pure functions.
namespace algebra {

ScalarPtr number(double value);
ScalarPtr times(const ScalarPtr& a, const ScalarPtr& b);
/// The product of all factors; 1 for none.
ScalarPtr product(std::span<const ScalarPtr> factors);
ScalarPtr plus(const ScalarPtr& a, const ScalarPtr& b);
ScalarPtr minus(const ScalarPtr& a, const ScalarPtr& b);
ScalarPtr negated(const ScalarPtr& a);
/// `b` must not be null.
ScalarPtr over(const ScalarPtr& a, const ScalarPtr& b);
/// a ^ exponent for a constant `exponent`; `a` must not be null.
ScalarPtr power(const ScalarPtr& a, const ScalarPtr& exponent);
/// CASE WHEN condition THEN a ELSE b; null if both are.
ScalarPtr choose(const ScalarPtr& condition, const ScalarPtr& a, const ScalarPtr& b);
/// `op` of one argument, for linear functions; null for null.
ScalarPtr linear(ScalarOp op, const ScalarPtr& a);

/// The expression, or 0 if it is null.
ScalarPtr or_zero(const ScalarPtr& a);

}  // namespace algebra
}  // namespace eindb
