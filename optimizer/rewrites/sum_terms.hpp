#pragma once

#include <vector>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The terms of a sum, collected through +, - and negations; subtracted terms are negated. An expression that is no sum
/// is its only term. Except for signs of floating-point zeros, the terms add up to the same value in any order.
///
/// Example: a - (b - -c) has the terms a, -b and -c.
std::vector<ScalarPtr> sum_terms(const ScalarPtr& expression);

}  // namespace eindb
