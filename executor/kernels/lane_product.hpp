#pragma once

#include "executor/kernels/packed_product.hpp"

namespace eindb {

/// Whether multiply_lanes applies and is faster: for a batch label that is contiguous in both operands and in the
/// result, or for many small matrices. Operands must have the compute type, which must be real or INT64.
bool is_lane_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                     const ProductOperand& v);

/// Like multiply_packed, with one product of the batch in each lane of the vectors. If the batch is contiguous, vectors
/// are loaded directly; large matrices are copied to blocks that fit the caches. Otherwise as many matrices as a vector
/// has lanes are transposed into one block at a time, corresponding elements side by side, and the results are
/// transposed back.
void multiply_lanes(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                    const ProductOperand& s, const ProductOperand& v, void* result, bool first);

/// The most bytes of workspace for matrices m x k and k x n, beside those of the packed product.
std::size_t lane_workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace eindb
