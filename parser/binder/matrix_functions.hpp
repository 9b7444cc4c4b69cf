#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "tensor/block_function.hpp"

namespace eindb {

/// A function of matrices as statements name it: L[i,j] = CHOLESKY(A[i,j]), (Q, R) = QR(A[i,j]).
struct MatrixFunction {
  std::string_view word;
  BlockOp op;
  std::size_t results = 1;
  std::string_view example;  ///< of a definition, for messages
};

inline constexpr std::array kMatrixFunctions{
    MatrixFunction{"INVERSE", BlockOp::Inverse, 1, "B[i,j] = INVERSE(A[i,j])"},
    MatrixFunction{"PINV", BlockOp::PseudoInverse, 1, "B[j,i] = PINV(A[i,j])"},
    MatrixFunction{"CHOLESKY", BlockOp::Cholesky, 1, "L[i,j] = CHOLESKY(A[i,j])"},
    MatrixFunction{"EXPM", BlockOp::Exponential, 1, "B[i,j] = EXPM(A[i,j])"},
    MatrixFunction{"DET", BlockOp::Determinant, 1, "d[] = DET(A[i,j])"},
    MatrixFunction{"LOGDET", BlockOp::LogDeterminant, 1, "d[] = LOGDET(A[i,j])"},
    MatrixFunction{"SOLVE", BlockOp::Solve, 1, "x[j] = SOLVE(A[i,j], b[i])"},
    MatrixFunction{"LSTSQ", BlockOp::LeastSquares, 1, "x[j] = LSTSQ(A[i,j], b[i])"},
    MatrixFunction{"QR", BlockOp::Qr, 2, "(Q, R) = QR(A[i,j])"},
    MatrixFunction{"SVD", BlockOp::Svd, 3, "(U, s, V) = SVD(A[i,j])"},
    MatrixFunction{"EIGH", BlockOp::Eigh, 2, "(w, V) = EIGH(A[i,j])"},
};

}  // namespace eindb
