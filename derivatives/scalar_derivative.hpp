#pragma once

#include <cstddef>
#include <span>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// A scalar expression, to be differentiated by one of its operands.
struct ScalarFunction {
  ScalarPtr expression;
  std::size_t operand = 0;
  std::span<const DType> types = {};  ///< of all operands, including cotangents and tangents
  /// An operand that holds the expression's value, or null. Derivatives of EXP, TANH, SQRT, RELU and of quotients use
  /// it, so that the value is not computed again.
  ScalarPtr value = nullptr;
};

/// The cotangent of the operand: the expression's `cotangent` times the derivative f', arranged so that a CASE branch
/// that is not taken gives 0 even if its own derivative is not finite. Null: the value does not depend on the operand,
/// or is piecewise constant in it (comparisons, FLOOR, SIGN).
///
/// Complex values follow JAX: the differential of a real L is Re(cotangent * dz). So a product's cotangent is
/// multiplied by the other factor without conjugation; REAL passes its cotangent unchanged, IMAG multiplied by -i, CONJ
/// conjugated. A real operand's cotangent may come out complex; its real part counts.
///
/// At kinks: ABS 0 at 0; RELU 0 at 0; LEAST and GREATEST equal shares; the derivative of x ^ y by y is 0 at x = 0. At
/// poles the derivative is infinite: SQRT at 0. `cotangent` is an expression over the same operands.
ScalarPtr pullback(const ScalarFunction& function, const ScalarPtr& cotangent);

/// The tangent of the expression's value if the operand has `tangent`: f' * tangent. Otherwise like pullback.
ScalarPtr pushforward(const ScalarFunction& function, const ScalarPtr& tangent);

}  // namespace eindb
