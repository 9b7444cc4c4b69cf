#pragma once

#include <vector>

#include "tensor/join_function.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// One factor of an expression under a join function: the expression, or its inverse, which is the reciprocal under *
/// and the negative under +.
struct Factor {
  ScalarPtr expression;
  bool inverted = false;
};

/// The factors of nested calls of a join function and of its inverse, in order of occurrence. Any other expression is
/// its own only factor. Examples:
///
///     -(a * b) / c        under *: -1, a, b, 1/c          a + b - (c - d)     under +: a, b, -c, d
///     LEAST(a, b, c)      under LEAST: a, b, c            (a AND b) AND c     under AND: a, b, c
///
/// A user's function has no inverse; its calls are those that have the form of its body.
std::vector<Factor> factors_of(const ScalarPtr& expression, const JoinFunction& join = ScalarOp::Multiply);

/// The inverse: at most one division or subtraction of all that is inverted; under * factors of -1 become one leading
/// sign. For no factors the identity of the join function, which only * and + have. A single factor under AND and OR
/// becomes a truth value.
ScalarPtr joined(const std::vector<Factor>& factors, const JoinFunction& join = ScalarOp::Multiply);

}  // namespace eindb
