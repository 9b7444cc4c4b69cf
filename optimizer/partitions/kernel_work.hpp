#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/partitions/machine_figures.hpp"
#include "tensor/einsum.hpp"
#include "tensor/kernel_choice.hpp"

namespace eindb {

/// A product of two operands that is summed, as batches of matrix products.
struct MatrixWork {
  std::vector<ContractionRole> roles;  ///< one per label of the EinSum
  std::size_t left = 0;                ///< operand numbers
  std::size_t right = 1;
  bool packs_left = false;  ///< the operand does not lie as a matrix and is copied first
  bool packs_right = false;
  bool packs_output = false;

  friend auto operator<=>(const MatrixWork&, const MatrixWork&) = default;
};

/// The work of the kernel of an EinSum, told from the EinSum alone. Which kernel a call takes tensor/kernel_choice
/// says, to the optimizer and to the executor.
struct KernelWork {
  using Operations = std::vector<std::pair<Operation, double>>;  ///< and how many; each distinct subexpression once

  DType compute = DType::Float64;
  std::vector<std::size_t> input_bytes;  ///< of an element, per input; none given: those of `compute`
  std::size_t output_bytes = 8;

  KernelForm kernel;                 ///< with a call's sizes it says which kernel the call takes
  std::optional<MatrixWork> matrix;  ///< set where the form is that of matrix products

  // In loops over the cells of the join, per cell:
  Operations operations;
  bool folds = false;          ///< aggregates
  bool folds_product = false;  ///< sums a product of two values in one go
  double crosswise = 0;        ///< operands that lie across the loops

  Operations epilogue;  ///< per element of the result, when it has been aggregated

  friend auto operator<=>(const KernelWork&, const KernelWork&) = default;
};

/// `operand_types` and `compute` as of the vertex; `result` is the element type that is stored.
KernelWork work_of(const EinSum& einsum, const std::vector<DType>& operand_types, DType compute, DType result);

}  // namespace eindb
