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

/// An aggregate of a function of two operands, seen as a batch of matrices: products, or pair blocks.
struct MatrixWork {
  std::vector<ContractionRole> roles;  ///< one per label of the EinSum
  std::size_t left = 0;                ///< operand numbers
  std::size_t right = 1;
  bool packs_left = false;  ///< the operand does not lie as a matrix and is copied first
  bool packs_right = false;
  bool packs_output = false;

  friend auto operator<=>(const MatrixWork&, const MatrixWork&) = default;
};

/// The work of the kernel of an EinSum, derived from the EinSum alone. executor/kernels/kernel decides by the same
/// rules, and a test compares both.
struct KernelWork {
  /// Each with its count; distinct subexpressions count once.
  using Operations = std::vector<std::pair<Operation, double>>;

  DType compute = DType::Float64;
  DType values =
      DType::Float64;  ///< as loops compute them: `compute`, but that of the values that have indices beside them
  std::vector<std::size_t> input_bytes;  ///< bytes of an element, per input; empty: those of `compute`
  std::size_t output_bytes = 8;

  KernelForm kernel;                 ///< decides, with a call's sizes, which kernel the call takes
  std::optional<MatrixWork> matrix;  ///< set if the form is that of matrix products or of pair blocks
  /// Of pair blocks: vector operations for each pair of elements, where a product and its sum are one.
  double pair_operations = 0;
  bool takes_exponentials = false;  ///< LOGSUMEXP: products of exponentials of the operands

  // For loops over the cells of the join, per cell:
  Operations operations;
  bool folds = false;          ///< aggregates
  bool folds_product = false;  ///< sums a product of two values in one operation
  double crosswise = 0;        ///< operands that are not read contiguously

  Operations epilogue;  ///< per element of the aggregated result

  friend auto operator<=>(const KernelWork&, const KernelWork&) = default;
};

/// `operand_types` and `compute` are those of the vertex; `result` is the element type that is stored.
KernelWork work_of(const EinSum& einsum, const std::vector<DType>& operand_types, DType compute, DType result);

}  // namespace eindb
