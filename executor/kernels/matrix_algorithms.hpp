#pragma once

// The functions of matrices by Eigen. They are compiled where this is included, with names of their own: for all
// machines in executor/kernels/matrix_functions, and for the vector registers of newer ones in
// executor/kernels/levels/real_matrices.

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "executor/kernels/matrix_failures.hpp"
#include "executor/kernels/matrix_values.hpp"
#include "tensor/block_function.hpp"

namespace eindb {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using RowMajorMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Failure = std::optional<std::string>;

template <class T>
Matrix<T> matrix_of(const MatrixValues<T>& values) {
  return Eigen::Map<const RowMajorMatrix<T>>(values.values.data(), values.rows, values.columns);
}

template <class T>
Eigen::Map<RowMajorMatrix<T>> into(std::span<T> result, Eigen::Index rows, Eigen::Index columns) {
  CHECK(std::cmp_equal(result.size(), rows * columns), "the result of a function of matrices has its size");
  return {result.data(), rows, columns};
}

template <class T>
bool has_zero_pivot(const Eigen::PartialPivLU<Matrix<T>>& factors) {
  return (factors.matrixLU().diagonal().array().abs() == 0).any();
}

template <class T>
Failure solve(const Matrix<T>& a, const Matrix<T>& right, std::span<T> result) {
  const Eigen::PartialPivLU<Matrix<T>> factors(a);
  if (has_zero_pivot(factors)) return kSingular;
  into(result, a.cols(), right.cols()) = factors.solve(right);
  return std::nullopt;
}

template <class T>
Failure pseudo_inverse(const Matrix<T>& a, std::span<T> result) {
  const Eigen::BDCSVD<Matrix<T>> svd(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  if (svd.info() != Eigen::Success) return kNotFinite;
  const auto& s = svd.singularValues();
  const double least = s.size() > 0 ? kLeastSingularValue * s(0) : 0;
  const Eigen::VectorXd reciprocals = s.unaryExpr([&](double value) { return value > least ? 1 / value : 0; });
  into(result, a.cols(), a.rows()) = svd.matrixV() * reciprocals.asDiagonal() * svd.matrixU().adjoint();
  return std::nullopt;
}

template <class T>
Failure cholesky(const Matrix<T>& a, std::span<T> result) {
  const Eigen::LLT<Matrix<T>> factor(a);
  if (factor.info() != Eigen::Success) return kNotPositive;
  auto out = into(result, a.rows(), a.cols());
  out = Matrix<T>(factor.matrixL());
  return std::nullopt;
}

// Q above R transposed. The diagonal of R is made not negative, so that full-rank matrices have one factorisation.
template <class T>
void qr(const Matrix<T>& a, std::span<T> result) {
  const auto k = std::min(a.rows(), a.cols());
  const Eigen::HouseholderQR<Matrix<T>> factors(a);
  Matrix<T> q = factors.householderQ() * Matrix<T>::Identity(a.rows(), k);
  Matrix<T> r = factors.matrixQR().topRows(k).template triangularView<Eigen::Upper>();
  for (Eigen::Index n = 0; n < k; ++n) {
    const auto size = std::abs(r(n, n));
    if (size == 0) continue;
    const T phase = r(n, n) / static_cast<T>(size);
    r.row(n) /= phase;
    q.col(n) *= phase;
  }
  auto out = into(result, a.rows() + a.cols(), k);
  out.topRows(a.rows()) = q;
  out.bottomRows(a.cols()) = r.transpose();
}

// U above the singular values above V.
template <class T>
Failure svd(const Matrix<T>& a, std::span<T> result) {
  const auto k = std::min(a.rows(), a.cols());
  const Eigen::BDCSVD<Matrix<T>> factors(a, Eigen::ComputeThinU | Eigen::ComputeThinV);
  if (factors.info() != Eigen::Success) return kNotFinite;
  auto out = into(result, a.rows() + 1 + a.cols(), k);
  out.topRows(a.rows()) = factors.matrixU();
  out.row(a.rows()) = factors.singularValues().template cast<T>().transpose();
  out.bottomRows(a.cols()) = factors.matrixV();
  return std::nullopt;
}

// The eigenvalues above the eigenvectors.
template <class T>
Failure eigh(const Matrix<T>& a, std::span<T> result) {
  if (!a.allFinite()) return kNotFinite;
  const Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(a);
  if (solver.info() != Eigen::Success) return "has eigenvalues that were not found";
  auto out = into(result, 1 + a.rows(), a.rows());
  out.row(0) = solver.eigenvalues().template cast<T>().transpose();
  out.bottomRows(a.rows()) = solver.eigenvectors();
  return std::nullopt;
}

template <class T>
T determinant(const Matrix<T>& a) {
  return a.rows() == 0 ? T{1} : Eigen::PartialPivLU<Matrix<T>>(a).determinant();
}

template <class T>
T log_determinant(const Matrix<T>& a) {
  if (a.rows() == 0) return T{0};
  const Eigen::PartialPivLU<Matrix<T>> factors(a);
  return static_cast<T>(factors.matrixLU().diagonal().array().abs().log().sum());
}

// All functions of matrices but the exponential, and those of real ones that real_factors has.
template <class T>
Failure function_by_eigen(BlockOp op, const MatrixValues<T>& matrix, const std::optional<MatrixValues<T>>& right,
                          std::span<T> result) {
  const auto a = matrix_of(matrix);
  switch (op) {
    case BlockOp::Inverse: return solve<T>(a, Matrix<T>::Identity(a.rows(), a.cols()), result);
    case BlockOp::Solve: return solve<T>(a, matrix_of(*right), result);
    case BlockOp::LeastSquares: {
      if (!a.allFinite()) return kNotFinite;
      const auto b = matrix_of(*right);
      into(result, a.cols(), b.cols()) = Eigen::CompleteOrthogonalDecomposition<Matrix<T>>(a).solve(b);
      return std::nullopt;
    }
    case BlockOp::Cholesky: return cholesky<T>(a, result);
    case BlockOp::Determinant: result.front() = determinant<T>(a); return std::nullopt;
    case BlockOp::LogDeterminant: result.front() = log_determinant<T>(a); return std::nullopt;
    case BlockOp::Eigh: return eigh<T>(a, result);
    default: break;
  }
  if constexpr (Eigen::NumTraits<T>::IsComplex) {
    switch (op) {
      case BlockOp::PseudoInverse: return pseudo_inverse<T>(a, result);
      case BlockOp::Qr: qr<T>(a, result); return std::nullopt;
      case BlockOp::Svd: return svd<T>(a, result);
      default: break;
    }
  }
  CHECK(false, "a function of matrices is none of vectors");
}

}  // namespace
}  // namespace eindb
