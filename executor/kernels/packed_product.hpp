#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/kernels/index_group.hpp"
#include "executor/kernels/level_table.hpp"

namespace eindb {

/// A label that both operands and the result have, with its strides in them.
struct BatchLoop {
  std::int64_t extent = 1;
  std::int64_t s = 0;
  std::int64_t v = 0;
  std::int64_t result = 0;
};

/// A batch of matrix products result[i, j] = sum over p of s[i, p] * v[p, j], in any layout. Columns j correspond to
/// the lanes of vector registers; they should include the result's contiguous label, and are sorted by the result's
/// strides.
struct ProductGroups {
  std::vector<BatchLoop> batch;
  IndexGroup rows;        ///< strides in s | result
  IndexGroup columns;     ///< strides in v | result
  IndexGroup contracted;  ///< strides in s | v
};

struct ProductOperand {
  DType dtype;
  const void* data;
  Encoding encoding = Encoding::Plain;

  bool is_plain(DType compute) const { return dtype == compute && encoding == Encoding::Plain; }
};

/// The block sizes of a product, in indices.
struct ProductBlocks {
  std::vector<std::int64_t> rows;  ///< sides of boxes, see box_sides
  std::vector<std::int64_t> columns;
  std::vector<std::int64_t> contracted;
  std::int64_t depth = 1;  ///< contracted indices that are packed and summed at a time
};
/// `v_in_place`: v is read in place; the fewer of its rows are read at a time, the longer they are.
ProductBlocks product_blocks(const PanelTable& table, DType compute, const ProductGroups& groups, bool v_in_place);

/// Matrices m x k and k x n, in either order as s and v.
struct PackedSize {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  bool one_row_and_column;  ///< the rows have at most one label, and so do the columns
  bool one_contracted;
};
/// The most bytes of workspace for multiply_packed, within the thread's Workspace::Bound.
std::size_t packed_workspace_bytes(const PanelTable& table, DType compute, const PackedSize& size);

/// result (+)= factor * s * v. Blocks of both operands are packed into panels directly from strided memory, as in
/// Goto's matrix product: a panel of s stays in the first-level cache, a block of panels of v in the second, one of s
/// in the third. The inner loop writes directly to the result.
///
///     for each block of rows, for each block of contracted indices: pack s
///       for each block of columns: pack v
///         for each panel of s, for each panel of v: multiply, a tile of the result
///
/// Sums are computed in the compute type: the contracted indices of a block (a few hundred at most) in sequence, and
/// the blocks in sequence, so the error is at most (block + blocks) * epsilon times the sum of absolute values.
/// `result` is of type `compute`; no extent may be 0. If `first`, the result's memory is not read.
void multiply_packed(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                     const ProductOperand& s, const ProductOperand& v, void* result, bool first);

}  // namespace eindb
