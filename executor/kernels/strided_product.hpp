#pragma once

#include "executor/kernels/packed_product.hpp"

namespace eindb {

/// Whether multiply_strided does these and is the faster way: matrices of one label (or several that nest) each way,
/// contiguous in the result along columns, and in s along one of its labels; so few columns that the second cache holds
/// some hundred rows of v; operands of the compute type, a real one or INT64.
bool is_strided_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                        const ProductOperand& v);

/// As multiply_packed, with s read where it lies: packing does not pay where it is read by few columns, and the set-up
/// of a call costs more than a small matrix. v is read where it lies, too, if its rows are contiguous and near each
/// other; else as panels, those of many tiny matrices side by side. Deep matrices are worked on some hundred contracted
/// indices at a time.
void multiply_strided(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                      const ProductOperand& s, const ProductOperand& v, void* result, bool first);

/// Bytes of workspace that it takes at most, whichever of the matrices is s.
std::size_t strided_workspace_bytes(const PanelTable& table, DType compute, const PackedSize& size);

}  // namespace eindb
