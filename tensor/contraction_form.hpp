#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/einsum.hpp"

namespace eindb {

/// The role of a label in a contraction of two operands (Peters, Fast Einsum, table 1).
enum class ContractionRole : std::uint8_t {
  Batch,       ///< left, right and output
  Left,        ///< left and output: the rows, m
  Right,       ///< right and output: the columns, n
  Contracted,  ///< left and right: k
  SummedLeft,  ///< left only: summed before the product
  SummedRight,
};

/// SUM over a constant times two operands, which batches of matrix products compute.
/// Example: Z[i] = SUM(-2 * X[i,j] * Y[j]) has factor -2 and roles i Left, j Contracted.
struct ContractionForm {
  std::size_t left = 0;  ///< numbers of operands
  std::size_t right = 1;
  double factor = 1;
  std::vector<ContractionRole> roles;  ///< one per label of the EinSum
};

/// The roles of all labels of an EinSum in a function of operands `left` and `right`, in the order of einsum.labels();
/// nullopt if neither operand has some label.
std::optional<std::vector<ContractionRole>> roles_of(const EinSum& einsum, std::size_t left, std::size_t right);

/// nullopt if the EinSum has another form or must not be computed so: a factor beyond the type's range must not become
/// infinite before another operand would compensate for it, and in INT64 it is a whole number that FLOAT64 has exactly,
/// and of operands of INT64.
std::optional<ContractionForm> contraction_form(const EinSum& einsum, DType compute);

}  // namespace eindb
