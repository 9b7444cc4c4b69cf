#pragma once

#include <cstring>

#include "executor/kernels/level_table.hpp"
#include "executor/kernels/levels/element_tables.hpp"
#include "tensor/scalar_semantics.hpp"

/// Strided copies with conversion of the element type.
namespace eindb::EINDB_LEVEL {

/// Complex to real takes the real part. Real to INT64 truncates; values out of range give the smallest INT64.
template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_complex_type<From> && is_complex_type<To>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  } else if constexpr (is_complex_type<From>) {
    return converted<To>(value.real());
  } else if constexpr (is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (std::is_integral_v<To>) {
    const bool fits = value >= From(-0x1p63) && value < From(0x1p63);
    return fits ? static_cast<To>(value) : std::numeric_limits<To>::min();
  } else {
    return static_cast<To>(value);
  }
}

template <std::size_t kSize>
void transpose(void* target, std::int64_t target_stride, const void* source, std::int64_t source_stride,
               std::int64_t rows, std::int64_t columns) {
  static_assert(kSize == 4 || kSize == 8 || kSize == 16);
  (kSize == 4   ? transpose4
   : kSize == 8 ? transpose8
                : transpose16)(target, target_stride, source, source_stride, rows, columns);
}

template <class To, class From>
void move(MatrixView to, ConstMatrixView from, std::int64_t rows, std::int64_t columns) {
  if constexpr (std::is_same_v<To, From>) {
    constexpr std::int64_t kWorthwhile = 4;
    if (rows >= kWorthwhile && columns >= kWorthwhile) {
      const auto is_across = [](const auto& a, const auto& b) {
        return a.row_stride == 1 && b.column_stride == 1 && a.column_stride > 1 && b.row_stride > 1;
      };
      if (is_across(from, to))
        return transpose<sizeof(To)>(to.data, to.row_stride, from.data, from.column_stride, columns, rows);
      if (is_across(to, from))
        return transpose<sizeof(To)>(to.data, to.column_stride, from.data, from.row_stride, rows, columns);
    }
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    auto* __restrict out = static_cast<To*>(to.data) + r * to.row_stride;
    const auto* __restrict in = static_cast<const From*>(from.data) + r * from.row_stride;
    if (to.column_stride != 1) {
      for (std::int64_t c = 0; c < columns; ++c) out[c * to.column_stride] = converted<To>(in[c * from.column_stride]);
    } else if (from.column_stride == 1) {
      for (std::int64_t c = 0; c < columns; ++c) out[c] = converted<To>(in[c]);
    } else if (from.column_stride == 0) {
      const auto value = converted<To>(*in);
      for (std::int64_t c = 0; c < columns; ++c) out[c] = value;
    } else {
      for (std::int64_t c = 0; c < columns; ++c) out[c] = converted<To>(in[c * from.column_stride]);
    }
  }
}

template <class To>
void fill_moves(ElementTable& table) {
  table.move = {move<To, float>, move<To, double>, move<To, std::complex<float>>, move<To, std::complex<double>>,
                move<To, std::int64_t>};
}

}  // namespace eindb::EINDB_LEVEL
