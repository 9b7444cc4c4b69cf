#pragma once

#include <vector>

#include "executor/kernels/block_reflector.hpp"

namespace eindb {

/// A = Q B P^T of a real matrix with m >= n rows and columns, B upper bidiagonal (as LAPACK's dgebrd and dlabrd). For
/// each block of columns the reflections from both sides are collected,
///
///     A - V Y^T - X U^T
///
/// and applied to the rest of A by one product of matrices. Half of the work are products of the rest of A with a
/// vector, two for each column, which memory limits: threads take parts of its rows.
///
///     d e u u        v: reflections from the left, u: from the right; the ones of both are not stored
///     v d e u
///     v v d e
///     v v v d
///
/// Sums of squares of a row or column must neither overflow nor, unless they are negligible, underflow. Not
/// thread-safe.
class BidiagonalForm {
 public:
  /// Reduces `a`, with contiguous rows, in its place; it must outlive this.
  BidiagonalForm(const LevelTable& level, const MatrixRef& a);

  const std::vector<double>& diagonal() const { return diagonal_; }
  const std::vector<double>& beside() const { return beside_; }  ///< n - 1 values
  /// c = Q c, for a matrix of m rows.
  void apply_left(const MatrixRef& c) const;
  /// c = P c, for a matrix of n rows.
  void apply_right(const MatrixRef& c) const;

 private:
  class Block;

  void apply(const std::vector<double>& taus, std::int64_t offset, const MatrixRef& a, const MatrixRef& c) const;

  const LevelTable& level_;
  MatrixRef a_;
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  std::vector<double> left_taus_;
  std::vector<double> right_taus_;
};

}  // namespace eindb
