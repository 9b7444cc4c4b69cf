#pragma once

#include <vector>

#include "executor/kernels/matrix_ref.hpp"

namespace eindb {

/// The singular value decomposition of an upper bidiagonal matrix of n x n elements by divide and conquer (Gu and
/// Eisenstat, A divide-and-conquer algorithm for the bidiagonal SVD, 1995; LAPACK's dlasd0 to dlasd8). Errors are some
/// epsilon times the largest singular value. Uses the threads that are lent to the call.
class BidiagonalSvd {
 public:
  /// `beside` are the n - 1 elements beside the diagonal. With `vectors`, singular vectors are computed too. All
  /// elements must be finite, and their squares neither overflow nor, unless they are negligible, underflow.
  BidiagonalSvd(const LevelTable& level, std::vector<double> diagonal, std::vector<double> beside, bool vectors);

  /// Descending.
  std::vector<double> values() const;
  /// The columns of `to`, of n rows and at most n columns, become singular vectors in the order of values().
  void copy_left(const MatrixRef& to) const { copy_columns(to, left_); }
  void copy_right(const MatrixRef& to) const { copy_columns(to, right_); }

 private:
  struct Part;
  class Merge;

  static void list_parts(const Part& part, int levels, std::vector<Part>& to);
  void merge_parts(const Part& part, int levels);
  void solve(const Part& part);
  void solve_single(const Part& part);
  double value(std::int64_t column) const { return values_[static_cast<std::size_t>(column)]; }
  void copy_columns(const MatrixRef& to, const std::vector<double>& from) const;

  const LevelTable& level_;
  std::int64_t size_;
  bool vectors_;
  std::vector<double> diagonal_;
  std::vector<double> beside_;
  std::vector<double> values_;
  std::vector<std::int64_t> order_;  // of the columns of vectors
  std::vector<double> left_;
  std::vector<double> right_;      // without vectors, the first and the last row of each part
  std::vector<double> products_;   // the room of each merge for the vectors of its small matrix,
  std::vector<double> temporary_;  // and for the columns that it multiplies
};

}  // namespace eindb
