#pragma once

#include <cstddef>
#include <span>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// A scalar expression as a function of one of its operands, to be linearised.
struct ScalarFunction {
  ScalarPtr expression;
  std::size_t operand = 0;
  std::span<const DType> types = {};  ///< of all operands, those of cotangents and tangents among them
  /// An operand that has the expression's value, or null. Derivatives of EXP, TANH, SQRT, RELU and of quotients are
  /// written with it, so that what has been computed is not computed again.
  ScalarPtr value = nullptr;
};

/// The cotangent of the operand: the `cotangent` of the expression's value, carried back. With f' the derivative,
/// cotangent * f', put together so that a branch of CASE which is not taken gives 0, whatever it would have given.
/// Null: the value does not depend on the operand, or stays the same between its steps (comparisons, FLOOR, SIGN).
///
/// Complex values follow the convention of JAX: the differential of a real L is Re(cotangent * dz). So a product's
/// cotangent is multiplied by the other factor without conjugation, REAL gives its cotangent as it is, IMAG -i times
/// it, CONJ the conjugate. A real operand's cotangent may come out complex, and means its real part.
///
/// At kinks: ABS 0 at 0; RELU 0 at 0; LEAST and GREATEST equal shares; x ^ y of x = 0 by y is 0. At poles infinities:
/// SQRT at 0. `cotangent` is an expression over the same operands.
ScalarPtr pullback(const ScalarFunction& function, const ScalarPtr& cotangent);

/// The tangent of the expression's value where the operand has `tangent`: f' * tangent. Otherwise as pullback.
ScalarPtr pushforward(const ScalarFunction& function, const ScalarPtr& tangent);

}  // namespace eindb
