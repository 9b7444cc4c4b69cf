#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

namespace eindb {

/// Functions of whole vectors and matrices, which no loop over cells computes one by one.
enum class BlockOp : std::uint8_t {
  // Of n values:
  Order,     ///< the indices of the first ones in ascending or descending order, NaN last, equal ones as they come
  Quantile,  ///< the value below which a share of them lies, in proportion between two; NaN if there is one
  Mode,      ///< the value that is there most often
  Distinct,  ///< the number of different values; all NaN are one
  // Of the k different values in ascending order, NaN last and all of them one; n may differ from k, and if there are
  // more than k, the function is not defined:
  UniqueOrder,   ///< for each the index where it comes first; -1 behind the last one
  UniqueCount,   ///< how often each is there; 0 behind the last one
  UniqueNumber,  ///< for each of the n values its number among the different ones
  // Of m values to n: the discrete Fourier transform of length N = max(m, n) of the values with zeros behind them, of
  // whose results the first n are taken. So the transpose of a transform is one to the other number of values.
  Fourier,         ///< unscaled
  InverseFourier,  ///< divided by N
  // Of n values x and as many, or fewer, a, which hold for all: h[0] = x[0], and then, one after the other,
  SumRecurrence,        ///< h[t] = a[t] * h[t-1] + x[t]
  MaxRecurrence,        ///< h[t] = GREATEST(a[t] + h[t-1], x[t])
  MinRecurrence,        ///< h[t] = LEAST(a[t] + h[t-1], x[t])
  LogSumExpRecurrence,  ///< h[t] = LOG(EXP(a[t] + h[t-1]) + EXP(x[t])), of real floating-point numbers
  UserRecurrence,       ///< h[t] = f(a[t] o h[t-1], x[t]) of a user's aggregate f, which distributes over o
  // Of an m x n matrix, in FLOAT64 or COMPLEX128:
  Inverse,
  PseudoInverse,   ///< n x m
  Cholesky,        ///< the lower triangular L with L * L^H the matrix, whose lower triangle alone is read
  Exponential,     ///< exp(A)
  Determinant,     ///< a number
  LogDeterminant,  ///< the logarithm of its absolute value
  Solve,           ///< of a second operand, the right sides
  LeastSquares,    ///< likewise: of the solutions with the least residual that with the least norm
  Qr,              ///< (m + n) x k with k = min(m, n): Q above the transposed R; n x k: R alone
  Svd,             ///< (m + 1 + n) x k: U above values s above V, U * diag(s) * V^H the matrix; 1 x k: s alone
  Eigh,            ///< (1 + n) x n: eigenvalues above eigenvectors of a Hermitian matrix, whose lower triangle is read
};
inline constexpr BlockOp kLastBlockOp = BlockOp::Eigh;

/// Whether it is a function of matrices.
constexpr bool is_of_matrices(BlockOp op) { return op >= BlockOp::Inverse; }

constexpr bool is_recurrence(BlockOp op) { return op >= BlockOp::SumRecurrence && op <= BlockOp::UserRecurrence; }

/// The function that an EinSum with Aggregate::Block computes in place of an expression:
///
///     Z[batch..., result...] = F(X0[batch..., core...], X1[batch..., core...], ...)
///
/// The core labels of an operand are those that are aggregated; those of the result are those of the output that no
/// operand has. Their order, which tells rows from columns, is that in which the EinSum's expression names them
/// (block_expression), whatever the order of the tensors' dimensions: passes may permute these. All others are batch
/// labels, for each of whose indices F is computed by itself. Core labels are never cut.
struct BlockFunction {
  BlockOp op = BlockOp::Order;
  bool descending = false;  ///< of Order; of recurrences the transpose, from the last: h[t] = a[t+1] * h[t+1] + x[t]
  double share = 0;         ///< of Quantile, from 0 to 1

  friend auto operator<=>(const BlockFunction&, const BlockFunction&) = default;
};

/// "sort", "quantile", ...: for EXPLAIN.
std::string_view name_of(BlockOp op);

}  // namespace eindb
