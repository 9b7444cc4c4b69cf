#pragma once

#include <utility>
#include <vector>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The first and the second operand.
inline ScalarPtr x() { return ScalarExpression::operand(0); }
inline ScalarPtr y() { return ScalarExpression::operand(1); }

inline ScalarPtr call(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}

}  // namespace eindb
