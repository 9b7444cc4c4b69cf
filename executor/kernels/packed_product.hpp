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

/// A batch of matrix products result[i, j] = sum over p of s[i, p] * v[p, j], in any layout. The columns j go along
/// vector registers: they should have the result's contiguous label, and are sorted by its strides.
struct ProductGroups {
  std::vector<BatchLoop> batch;
  IndexGroup rows;        ///< strides in s | result
  IndexGroup columns;     ///< in v | result
  IndexGroup contracted;  ///< in s | v
};

struct ProductOperand {
  DType dtype;
  const void* data;
};

/// Sizes of the blocks that a product is worked on in, in indices.
struct ProductBlocks {
  std::vector<std::int64_t> rows;  ///< sides of boxes, see box_sides
  std::vector<std::int64_t> columns;
  std::vector<std::int64_t> contracted;
  std::int64_t depth = 1;  ///< contracted indices that are summed at a time, of those that are packed
};
/// `v_in_place`: v is read where it lies, in rows that are the longer the fewer of them there are at a time.
ProductBlocks product_blocks(const PanelTable& table, DType compute, const ProductGroups& groups, bool v_in_place);

/// Matrices m x k and k x n, whichever of them is s.
struct PackedSize {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  bool one_row_and_column;  ///< no label but one is in the rows, nor in the columns
  bool one_contracted;
};
/// Bytes of workspace that multiply_packed takes at most, within the thread's Workspace::Bound.
std::size_t packed_workspace_bytes(const PanelTable& table, DType compute, const PackedSize& size);

/// result (+)= factor * s * v. Blocks of both operands are packed into panels straight from where they lie, in the
/// manner of Goto's matrix product: a panel of s stays in the first-level cache, a block of panels of v in the second,
/// one of s in the third; and the inner loop writes straight to where the result lies.
///
///     for each block of rows, for each block of contracted indices: pack s
///       for each block of columns: pack v
///         for each panel of s, for each panel of v: multiply, a tile of the result
///
/// Sums are taken in the compute type: at most a block of contracted indices (some hundred) one after the other, blocks
/// one after the other; so the error is at most (block + blocks) * epsilon times the sum of absolute values.
/// `result` is of type compute; none of the extents is 0. If `first`, the result's memory is not read.
void multiply_packed(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                     const ProductOperand& s, const ProductOperand& v, void* result, bool first);

}  // namespace eindb
