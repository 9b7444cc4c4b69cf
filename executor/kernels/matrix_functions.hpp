#pragma once

#include <optional>
#include <span>
#include <string>

#include "executor/kernels/matrix_values.hpp"
#include "tensor/block_function.hpp"

namespace eindb {

/// Computes a function of a matrix, or of one and the right sides of equations, into `result`, row-major (see BlockOp).
/// T is double or complex<double>. Returns what is wrong with the matrix if there is no result, "is singular";
/// nullopt otherwise.
template <class T>
std::optional<std::string> matrix_function(BlockOp op, const MatrixValues<T>& matrix,
                                           const std::optional<MatrixValues<T>>& right, std::span<T> result);

}  // namespace eindb
