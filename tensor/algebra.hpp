#pragma once

#include <optional>
#include <span>

#include "tensor/einsum.hpp"
#include "tensor/join_function.hpp"

namespace eindb {

/// How closely an aggregate taken of the factors that have a label gives the aggregate of the whole:
/// aggregate over k of (a JOIN b[k]) as a JOIN (aggregate over k of b[k]).
enum class Exactness : std::uint8_t {
  Exact,    ///< in every case: NaN, infinities and INT64's wrapping included
  ByParts,  ///< but for rounding, and for infinities and overflow as docs/language.md, "Rewrites", has them
};

/// A pair of an aggregate and a join function over which it distributes, as + does over * (a semiring; the paper's
/// EinSum has any such pair, EinDecomp, section 3). The join function is associative and commutative, every aggregate
/// is.
struct Semiring {
  Aggregate aggregate = Aggregate::Sum;
  JoinFunction join = ScalarOp::Multiply;
  Exactness exactness = Exactness::ByParts;
  bool for_integers = true;        ///< holds for INT64, whose sums and products wrap
  bool for_complex = false;        ///< defined for complex numbers
  bool needs_nonnegative = false;  ///< holds if no factor has negative values
  bool idempotent = false;         ///< the aggregate of equal values is that value
};

/// All pairs that are known, in the order in which a vertex's expression is tried for them.
std::span<const Semiring> all_semirings();

/// Whether the pair holds for values of this type.
bool holds_for(const Semiring& semiring, DType compute);

/// The pair of an aggregate and a join function for values of this type; null if the aggregate does not distribute over
/// it.
const Semiring* find_semiring(Aggregate aggregate, ScalarOp join, DType compute);

/// Whether aggregating equal values gives that value: MIN and MAX.
bool is_idempotent(Aggregate aggregate);

/// MIN for MAX, and the reverse: what an extreme becomes under a decreasing function.
Aggregate opposite(Aggregate extreme);

/// The argument of a function f of one value with f(x) * f(y) = f(x * y), so that PROD of f is f of the PROD: ABS, 1 /
/// x and powers by a constant integer other than 0 (by a positive one for INT64, whose powers wrap). f takes no value
/// farther out of the range of floating-point numbers than the product of its arguments is. nullopt for other
/// functions.
std::optional<std::size_t> multiplicative_argument(const ScalarExpression& e, DType compute);

/// Whether no value of an expression is below 0, given which operands have no such values; -0 and NaN are not below 0.
/// If in doubt, false.
bool is_nonnegative(const ScalarExpression& e, const std::vector<bool>& operands);
/// Likewise of its reciprocal, which is negative for -0.
bool has_nonnegative_reciprocal(const ScalarExpression& e, const std::vector<bool>& operands);

}  // namespace eindb
