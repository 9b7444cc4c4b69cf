#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "executor/kernels/level_table.hpp"
#include "executor/kernels/matrix_values.hpp"
#include "tensor/block_function.hpp"

namespace eindb {

/// Factorisations of real matrices of m x n elements, in double precision and any size, each from products of matrices
/// as far as it can be. k is the less of m and n. Their results do not depend on the number of threads that are lent to
/// the call (executor/kernels/lent_threads).

/// Q, m x k, above R transposed, n x k; or R alone, if `result` has no more elements. The diagonal of R is not
/// negative, so that full-rank matrices have one factorisation. Columns of any magnitude keep their relative precision.
/// Not finite where the matrix is not.
void real_qr(const LevelTable& level, const MatrixValues<double>& matrix, std::span<double> result);

/// U, m x k, above the k singular values, descending, above V, n x k; or singular values alone, if `result` has no more
/// elements. Returns what is wrong with the matrix if a value
/// is not finite.
std::optional<std::string> real_svd(const LevelTable& level, const MatrixValues<double>& matrix,
                                    std::span<double> result);

/// The pseudo-inverse, n x m, without the singular values that are at most `smallest` times the greatest. Returns what
/// is wrong likewise.
std::optional<std::string> real_pseudo_inverse(const LevelTable& level, const MatrixValues<double>& matrix,
                                               double smallest, std::span<double> result);

/// The most bytes that Qr, Svd or PseudoInverse takes beside the matrix and the result, which has so many elements.
std::size_t real_factors_bytes(const LevelTable& level, BlockOp op, std::size_t rows, std::size_t columns,
                               std::size_t results);
/// The most bytes that a thread takes which helps with one of them; 0 for matrices so small that nobody does.
std::size_t lent_factors_bytes(const LevelTable& level, BlockOp op, std::size_t rows, std::size_t columns);

}  // namespace eindb
