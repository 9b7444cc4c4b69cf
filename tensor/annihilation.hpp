#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tensor/einsum.hpp"
#include "tensor/scalar_value.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Facts about all values of an operand's tile.
struct OperandFacts {
  bool zero = false;  ///< +0 everywhere, like an absent tile
  /// Every value (each part of a complex one) is below 2^magnitude in absolute value. kUnbounded: NaN or infinities may
  /// occur.
  int magnitude = 0;
  bool nonzero = false;  ///< no value is a zero of either sign
};
inline constexpr int kUnbounded = 1 << 20;

/// How certain it is that an expression is zero.
enum class Zero : std::uint8_t {
  Unknown,
  EitherSign,  ///< +0 or -0 in every cell: does not change a sum
  Plus,        ///< +0 in every cell: the tile may be absent
};

/// Whether a typed expression (tensor/scalar_types) is zero in every cell, given the types of its operands and `facts`
/// about them; determined argument by argument. If in doubt, Unknown.
///
/// Zero times x is zero only if x is finite: NaN and infinities make it NaN, whether the zero is stored or absent. With
/// x zero and |y| < 2^m:
///
///     x * y               zero for finite y           x * y - 3 * x       likewise
///     ABS(x), 2 * x       zero                        x + y, EXP(x)       unknown
///     x * EXP(y)          unknown: EXP may overflow   LEAST(x, y)         unknown
///     y * z * x           zero if y * z cannot overflow
///     x / y               zero if y is nonzero and finite
///     CASE WHEN x > 0 THEN y ELSE 0 END    zero, whatever y is
Zero zero_of(const ScalarExpression& e, std::span<const OperandFacts> facts, std::span<const DType> operands);

/// The value of a typed expression in every cell, if it has one alone; found likewise.
std::optional<ScalarValue> constant_of(const ScalarExpression& e, std::span<const OperandFacts> facts,
                                       std::span<const DType> operands);

/// Whether a kernel call with such operands leaves the result unchanged: a sum ignores zeros, and a cell into which
/// nothing is aggregated may stay absent if it is +0. Products and extremes do change.
bool changes_nothing(const EinSum& einsum, std::span<const OperandFacts> facts, std::span<const DType> operands);

/// Whether an EinSum's epilogue leaves +0 as it is, so that what nothing is aggregated into may stay absent.
bool keeps_zero(const EinSum& einsum, DType compute);

/// A magnitude for all values of the tile, found in one pass: 0 or the least possible; for INT64, which is never
/// unbounded, that of the type.
int magnitude_of(const Tile& tile);
/// Whether a zero is among the values of a plain tile, in one pass up to it.
bool has_zeros(const Tile& tile);

}  // namespace eindb
