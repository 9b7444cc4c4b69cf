#pragma once

#include "executor/kernels/packed_product.hpp"

namespace eindb {

/// Whether multiply_bytes pays: none of the product's three dimensions is so short that most of the work would be
/// moving values.
bool is_byte_product(const ProductGroups& groups);

/// Like multiply_packed, for operands of INT64 whose values all are ones of INT8, encoded so or not: panels of bytes,
/// or of INT16 where the processor cannot multiply bytes, and sums of INT32 over as many contracted indices as they
/// hold exactly, which are added up in INT64. Exact, as the product of the values in INT64 is.
void multiply_bytes(const LevelTable& level, double factor, const ProductGroups& groups, const ProductOperand& s,
                    const ProductOperand& v, std::int64_t* result, bool first);

}  // namespace eindb
