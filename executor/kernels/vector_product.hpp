#pragma once

#include "executor/kernels/packed_product.hpp"

namespace eindb {

/// Whether multiply_vector applies: one row of the result, operands of the compute type, which must be real or INT64, v
/// plain or encoded: of FLOAT32 as encoded_slot() has it, of INT64 as INT8. The matrix is contiguous along a label of
/// some length; along a contracted one, in whole units, if its encoding has scales.
bool is_vector_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                       const ProductOperand& v);

/// Like multiply_packed, for matrices v times vectors s, at the speed of reading v once.
///
///  - v contiguous along contracted labels: dot products of several rows at a time with the vector.
///  - v contiguous along columns: rows of v, times an element of the vector each, are added up, some at a time, in a
///    strip of sums that stays in the first-level cache.
///
/// Sums are computed over at most a few thousand terms in several lanes, or over 512 terms in one lane. These partial
/// sums are added in double precision (dot products) or in strips.
void multiply_vector(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                     const ProductOperand& s, const ProductOperand& v, void* result, bool first);

/// The most bytes of workspace.
std::size_t vector_workspace_bytes();

}  // namespace eindb
