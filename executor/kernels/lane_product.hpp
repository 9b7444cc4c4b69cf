#pragma once

#include "executor/kernels/packed_product.hpp"

namespace eindb {

/// Whether multiply_lanes does these and is the faster way: a batch label that is contiguous in both operands and in
/// the result, or many small matrices; operands of the compute type, a real one or INT64.
bool is_lane_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                     const ProductOperand& v);

/// As multiply_packed, with one product of the batch in each lane of the vectors. Where the batch is contiguous they
/// are loaded from where they lie, large ones by way of blocks that fit the caches. Else as many matrices as a vector
/// has lanes are transposed into one block at a time, element by element side by side, and the results back.
void multiply_lanes(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                    const ProductOperand& s, const ProductOperand& v, void* result, bool first);

/// Bytes of workspace that it takes at most for matrices m x k and k x n, beside what the packed product takes.
std::size_t lane_workspace_bytes(std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace eindb
