#pragma once

#include "executor/kernels/level_table.hpp"

/// One translation unit per element type and level; entry.cpp assembles them.
namespace eindb::EINDB_LEVEL {

ElementTable float32_table();
ElementTable float64_table();
ElementTable complex64_table();
ElementTable complex128_table();
ElementTable int64_table();

/// Products of INT8; the second is empty at levels without one.
ByteTable byte_pairs();
ByteTable byte_quads();

FactorTable factor_table();
StreamTable stream_table();

/// Null at levels without one.
RealMatrixFunction real_matrix_function();

// The pair blocks of a type have translation units of their own, since they take as long to compile as all the rest.
void fill_pairs_float32(ElementTable& table);
void fill_pairs_float64(ElementTable& table);
void fill_pairs_int64(ElementTable& table);

/// target[c * target_stride + r] = source[r * source_stride + c] for elements of 4, 8 or 16 bytes. Each side is
/// contiguous along one of its dimensions.
void transpose4(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                std::int64_t rows, std::int64_t columns);
void transpose8(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                std::int64_t rows, std::int64_t columns);
void transpose16(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                 std::int64_t rows, std::int64_t columns);

}  // namespace eindb::EINDB_LEVEL
