#pragma once

#include "executor/kernels/packed_product.hpp"

namespace eindb {

/// Whether multiply_strided applies and is faster: for matrices with one label (or several nested ones) per dimension,
/// contiguous in the result along columns, and in s along one of its labels; with so few columns that the second-level
/// cache holds a few hundred rows of v. Operands must have the compute type, which must be real or INT64.
bool is_strided_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                        const ProductOperand& v);

/// Like multiply_packed, but reads s in place: packing does not pay if few columns use it, and the set-up of a call
/// costs more than a small matrix. v is also read in place if its rows are contiguous and close to each other;
/// otherwise it is packed into panels, many tiny matrices next to each other. Deep matrices are processed a few hundred
/// contracted indices at a time.
void multiply_strided(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                      const ProductOperand& s, const ProductOperand& v, void* result, bool first);

/// The most bytes of workspace, whichever of the matrices is s.
std::size_t strided_workspace_bytes(const PanelTable& table, DType compute, const PackedSize& size);

}  // namespace eindb
