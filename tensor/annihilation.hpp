#pragma once

#include <cstdint>
#include <span>

#include "tensor/einsum.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// What is known of all values of an operand at once: of a tile.
struct OperandFacts {
  bool zero = false;  ///< +0 everywhere: an absent tile
  /// Every value (part of a complex one) is less than 2^magnitude in size. kUnbounded: NaN or infinities may be there.
  int magnitude = 0;
};
inline constexpr int kUnbounded = 1 << 20;

/// How certain it is that an expression is zero.
enum class Zero : std::uint8_t {
  Unknown,
  EitherSign,  ///< +0 or -0 in every cell: nothing to a sum
  Plus,        ///< +0 in every cell: a tile that need not be there
};

/// What an expression with types (tensor/scalar_types) is wherever its operands, of the given types, are as `facts`
/// say, computed argument by argument. Errs towards Unknown.
///
/// Zero times x is zero only if x is finite: NaN and infinities of the other operand make NaN of it, whether the zero
/// is stored or absent. With x zero and |y| < 2^m:
///
///     x * y               zero for finite y           x * y - 3 * x       likewise
///     ABS(x), 2 * x       zero                        x + y, EXP(x)       unknown
///     x * EXP(y)          unknown: EXP may overflow   LEAST(x, y)         unknown
///     y * z * x           zero if y * z cannot overflow
///     CASE WHEN x > 0 THEN y ELSE 0 END    zero, whatever y is
Zero zero_of(const ScalarExpression& e, std::span<const OperandFacts> facts, std::span<const DType> operands);

/// Whether a kernel call whose operands are so leaves the result as it is: sums do not change by zeros, and a cell that
/// nothing is aggregated into may stay absent if it is +0. Products and extremes do change.
bool changes_nothing(const EinSum& einsum, std::span<const OperandFacts> facts, std::span<const DType> operands);

/// A magnitude that holds for all values of the tile: 0 or the least, found in one pass; for INT64, which is never
/// unbounded, that of the type.
int magnitude_of(const Tile& tile);

}  // namespace eindb
