#pragma once

#include <vector>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The terms whose sum an expression is: through +, - and negations, those that are subtracted negated. One term, the
/// expression, if it is no sum. Signs of floating-point zeros apart the terms add up to the same value in any order.
///
/// Example: a - (b - -c) has the terms a, -b and -c.
std::vector<ScalarPtr> sum_terms(const ScalarPtr& expression);

}  // namespace eindb
