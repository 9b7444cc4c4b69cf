#pragma once

#include "executor/kernels/packed_product.hpp"

namespace eindb {

/// Whether multiply_vector does these: one row of the result, operands of the compute type, a real one or INT64, and a
/// matrix that is contiguous along a label of some length.
bool is_vector_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                       const ProductOperand& v);

/// As multiply_packed, for matrices v times vectors s, at the speed of reading v once.
///
///  - v contiguous along contracted labels: dot products of several rows at a time with the vector.
///  - v contiguous along columns: rows of v, times an element of the vector each, are added up, some at a time, in a
///    strip of sums that stays in the first-level cache.
///
/// Sums are taken over at most some thousand terms in several lanes, or over 512 terms in one; those in double
/// precision (dot products) or again in strips.
void multiply_vector(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                     const ProductOperand& s, const ProductOperand& v, void* result, bool first);

/// Bytes of workspace that it takes at most.
std::size_t vector_workspace_bytes();

}  // namespace eindb
