#pragma once

#include <vector>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// One factor of a product: the expression, or its reciprocal.
struct Factor {
  ScalarPtr expression;
  bool inverted = false;
};

/// The factors of nested products, quotients and minus signs, in order of occurrence. Example: -(a * b) / c gives -1,
/// a, b, 1/c. Any other expression is its own only factor.
std::vector<Factor> factors_of(const ScalarPtr& expression);

/// The inverse: the numerators over the denominators, with at most one division; factors of -1 become one leading sign.
/// 1 for no factors.
ScalarPtr product_of(const std::vector<Factor>& factors);

}  // namespace eindb
