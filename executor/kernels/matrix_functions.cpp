#include "executor/kernels/matrix_functions.hpp"

#include <type_traits>
#include <unsupported/Eigen/MatrixFunctions>

#include "common/poll_steps.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/matrix_algorithms.hpp"
#include "executor/kernels/real_factors.hpp"

namespace eindb {

template <class T>
std::optional<std::string> matrix_function(BlockOp op, const MatrixValues<T>& matrix,
                                           const std::optional<MatrixValues<T>>& right, std::span<T> result) {
  const auto size = static_cast<std::size_t>(std::max(matrix.rows, matrix.columns));
  poll_cancellation_after(size * size);
  if (op == BlockOp::Exponential) {
    const auto a = matrix_of(matrix);
    if (!a.allFinite()) return kNotFinite;
    into(result, a.rows(), a.cols()) = a.exp();
    return std::nullopt;
  }
  if constexpr (std::is_same_v<T, double>) {
    const auto& level = preferred_level_table();
    if (op == BlockOp::Svd) return real_svd(level, matrix, result);
    if (op == BlockOp::PseudoInverse) return real_pseudo_inverse(level, matrix, kLeastSingularValue, result);
    if (op == BlockOp::Qr) {
      real_qr(level, matrix, result);
      return std::nullopt;
    }
  }
  // Eigen's factorisations gain nothing from the registers of v4.
  if constexpr (std::is_same_v<T, double>) {
    if (preferred_instruction_set() != InstructionSet::Baseline)
      if (const auto function = level_table(InstructionSet::V3).real_matrix_function)
        return function(op, matrix, right, result);
  }
  return function_by_eigen<T>(op, matrix, right, result);
}

template std::optional<std::string> matrix_function(BlockOp, const MatrixValues<double>&,
                                                    const std::optional<MatrixValues<double>>&, std::span<double>);
template std::optional<std::string> matrix_function(BlockOp, const MatrixValues<std::complex<double>>&,
                                                    const std::optional<MatrixValues<std::complex<double>>>&,
                                                    std::span<std::complex<double>>);

}  // namespace eindb
