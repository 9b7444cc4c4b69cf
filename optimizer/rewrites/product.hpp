#pragma once

#include <vector>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// One factor of a product: the expression, or one over it.
struct Factor {
  ScalarPtr expression;
  bool inverted = false;
};

/// The factors of nested products, quotients and minus signs, in order of occurrence. Example:
/// -(a * b) / c gives -1, a, b, 1/c. An expression of another kind is its own only factor.
std::vector<Factor> factors_of(const ScalarPtr& expression);

/// The inverse: numerators over denominators, with one division at most; factors -1 become one sign in front of all.
/// 1 for no factors.
ScalarPtr product_of(const std::vector<Factor>& factors);

}  // namespace eindb
