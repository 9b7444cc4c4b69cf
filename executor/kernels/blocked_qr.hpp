#pragma once

#include <vector>

#include "executor/kernels/block_reflector.hpp"

namespace eindb {

/// A = Q R of a real matrix by Householder reflections, blocks of kReflectorColumns columns at a time: a block is
/// factorised strip by strip (ElementTable's FactorTable), its reflections are applied to the columns behind it by
/// products of matrices, and while that is done the next block is factorised already.
///
///     R R R r r          r: above the block's diagonal, in `corners_` for the block itself
///     v R R r r
///     v v a a a          a: not yet factorised
///     v v a a a
///
/// Sums of squares of a column must neither overflow nor, unless they are negligible, underflow. Not thread-safe; uses
/// the threads that are lent to the call.
class BlockedQr {
 public:
  /// Factorises `a`, of m x n elements with contiguous rows, in its place. `a` must outlive this.
  BlockedQr(const LevelTable& level, const MatrixRef& a);

  /// The number of reflections, the less of m and n.
  std::int64_t count() const { return count_; }
  /// R(row, column) for row <= column.
  double r(std::int64_t row, std::int64_t column) const;
  /// c = Q c, for a matrix c of m rows.
  void apply(const MatrixRef& c) const;
  /// q = the first count() columns of Q.
  void form_q(const MatrixRef& q) const;

 private:
  BlockReflector reflector(std::int64_t begin) const;
  void factor(std::int64_t begin);
  void factor_strip(const BlockReflector& block, std::int64_t begin, std::int64_t first, std::vector<double>& strip);

  const LevelTable& level_;
  MatrixRef a_;
  std::int64_t count_;
  mutable std::vector<double> triangles_;  // t of all blocks, each of kReflectorColumns squared elements
  std::vector<double> corners_;            // R of the rows and columns of each block
};

}  // namespace eindb
