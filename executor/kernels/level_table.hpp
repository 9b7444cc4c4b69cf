#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.hpp"
#include "tensor/einsum.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The border between code for every x86-64 processor and code for one instruction-set level: plain structs of
/// function pointers on raw pointers, so that no template compiled for one level is ever used by another. The
/// tables of the levels are made in executor/kernels/levels/ and chosen in instruction_set.cpp.
///
/// Unless said otherwise: pointers are to elements of the table's type, aligned as that type; counts and strides are
/// in elements; regions written do not overlap regions read. Functions have no state and throw nothing but
/// std::bad_alloc.

inline constexpr std::size_t kScalarOpCount = static_cast<std::size_t>(ScalarOp::Case) + 1;
inline constexpr std::size_t kAggregateCount = static_cast<std::size_t>(Aggregate::Max) + 1;
inline constexpr std::size_t kDTypeCount = 5;

constexpr std::size_t slot_of(DType type) { return static_cast<std::size_t>(type) - 1; }
constexpr std::size_t slot_of(ScalarOp op) { return static_cast<std::size_t>(op); }
constexpr std::size_t slot_of(Aggregate aggregate) { return static_cast<std::size_t>(aggregate); }

/// Sums and products are accumulated in double precision for single precision values.
constexpr DType wide_of(DType type) {
  if (type == DType::Float32) return DType::Float64;
  return type == DType::Complex64 ? DType::Complex128 : type;
}

/// Arguments of an element-wise operation: element i is data[i * step]; step is 1, or 0 for one value for all.
struct Values {
  const void* data;
  std::int64_t step;
};

/// A matrix in memory: element (r, c) is data[r * row_stride + c * column_stride].
struct MatrixView {
  void* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};
struct ConstMatrixView {
  const void* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// The operations of one element type T at one level. W is the C++ type of wide_of(T).
struct ElementTable {
  using Unary = void (*)(void* to, const void* a, std::int64_t count);
  using Binary = void (*)(void* to, Values a, Values b, std::int64_t count);
  using Select = void (*)(void* to, const void* condition, Values yes, Values no, std::int64_t count);
  using Ramp = void (*)(void* to, std::int64_t begin, std::int64_t row_step, std::int64_t column_step,
                        std::int64_t rows, std::int64_t columns);
  using Move = void (*)(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns);
  using Across = void (*)(void* wide, Values a, std::int64_t count, bool first);
  using MultiplyAcross = void (*)(void* wide, Values a, Values b, std::int64_t count, bool first);
  using Along = void (*)(void* wide, Values a, std::int64_t rows, std::int64_t columns, bool first);
  using MultiplyAlong = void (*)(void* wide, Values a, Values b, std::int64_t rows, std::int64_t columns, bool first);
  using Settle = void (*)(MatrixView to, const void* wide, std::int64_t rows, std::int64_t columns, bool first);
  using Combine = void (*)(void* into, const void* from, std::int64_t count);
  using Gemm = void (*)(std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha, ConstMatrixView a,
                        ConstMatrixView b, MatrixView c);

  /// By ScalarOp; null where the operation takes another number of arguments.
  std::array<Unary, kScalarOpCount> unary;
  std::array<Binary, kScalarOpCount> binary;
  /// to[i] = condition[i] != 0 ? yes[i] : no[i]
  Select select;
  /// to[r * columns + c] = begin + r * row_step + c * column_step, wrapping, converted to T.
  Ramp ramp;
  /// to(r, c) = from(r, c), converted from the element type of the slot.
  std::array<Move, kDTypeCount> move;

  // By Aggregate; null for None and where T has no order. `first`: `wide` holds nothing yet.
  /// wide[i] = aggregate(wide[i], a[i])
  std::array<Across, kAggregateCount> across;
  /// wide[r] = aggregate(wide[r], a[r * columns], ..., a[r * columns + columns - 1]), summed in several lanes
  std::array<Along, kAggregateCount> along;
  /// to(r, c) = aggregate(to(r, c), wide[r * columns + c]); without looking at `to` if first
  std::array<Settle, kAggregateCount> settle;
  /// into[i] = aggregate(into[i], from[i])
  std::array<Combine, kAggregateCount> combine;
  /// across and along of SUM over a[i] * b[i], in one pass; null where products need more care (complex numbers).
  MultiplyAcross multiply_across;
  MultiplyAlong multiply_along;

  /// c += alpha * a * b with a: m x k, b: k x n, c: m x n; each has row_stride 1 or column_stride 1. Null for INT64.
  Gemm gemm;
};

/// target[c * target_stride + r] = source[r * source_stride + c] for elements of 4, 8 or 16 bytes: both sides are
/// contiguous along their own dimension.
using Transpose = void (*)(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
                           std::int64_t rows, std::int64_t columns);

struct LevelTable {
  std::array<ElementTable, kDTypeCount> elements;
  Transpose transpose4;
  Transpose transpose8;
  Transpose transpose16;

  const ElementTable& of(DType type) const { return elements[slot_of(type)]; }
};

}  // namespace eindb
