#pragma once

#include <algorithm>
#include <cstdint>

#include "executor/kernels/level_table.hpp"
#include "executor/kernels/levels/vectors.hpp"
#include "tensor/scalar_semantics.hpp"

/// The innermost loops of joins of cells (executor/kernels/cell_product).
namespace eindb::EINDB_LEVEL {

// Complex products by the plain formula, like matrix products.
template <class T>
[[gnu::always_inline]] inline T cell_times(T a, T b) {
  if constexpr (is_complex_type<T>)
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else return a * b;
}
template <class T>
[[gnu::always_inline]] inline T cell_plus(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else return a + b;
}

/// Adds to kColumns columns, which stay in registers.
template <class T, int kColumns>
[[gnu::always_inline]] inline void add_some_columns(T* to, const T* from, const std::uint32_t* places,
                                                    std::int64_t stride, const T* values, std::int64_t count,
                                                    T factor) {
  T sums[kColumns]{};
  for (std::int64_t n = 0; n < count; ++n) {
    const auto value = values[n];
    const auto* row = from + static_cast<std::int64_t>(places[n]) * stride;
    for (int c = 0; c < kColumns; ++c) sums[c] = cell_plus(sums[c], cell_times(value, row[c]));
  }
  for (int c = 0; c < kColumns; ++c) to[c] = cell_plus(to[c], cell_times(factor, sums[c]));
}

template <class T>
void add_cell_rows(void* to, const void* from, const std::uint32_t* places, std::int64_t stride, const void* values,
                   std::int64_t count, std::int64_t columns, const void* factor) {
  constexpr int kWide = static_cast<int>(256 / sizeof(T));
  constexpr int kNarrow = static_cast<int>(64 / sizeof(T));
  auto* sums = static_cast<T*>(to);
  const auto* rows = static_cast<const T*>(from);
  const auto* weights = static_cast<const T*>(values);
  const auto scale = *static_cast<const T*>(factor);
  std::int64_t c = 0;
  for (; c + kWide <= columns; c += kWide)
    add_some_columns<T, kWide>(sums + c, rows + c, places, stride, weights, count, scale);
  for (; c + kNarrow <= columns; c += kNarrow)
    add_some_columns<T, kNarrow>(sums + c, rows + c, places, stride, weights, count, scale);
  if (c + kNarrow / 4 <= columns) {
    for (; c + kNarrow / 4 <= columns; c += kNarrow / 4)
      add_some_columns<T, kNarrow / 4>(sums + c, rows + c, places, stride, weights, count, scale);
  }
  for (; c < columns; ++c) add_some_columns<T, 1>(sums + c, rows + c, places, stride, weights, count, scale);
}

template <class T>
void add_cell_products(void* to, const void* a, const void* b, const void* factor, std::int64_t count) {
  auto* __restrict out = static_cast<T*>(to);
  const auto* left = static_cast<const T*>(a);
  const auto* right = static_cast<const T*>(b);
  const auto scale = *static_cast<const T*>(factor);
  if (right == nullptr) {
    for (std::int64_t n = 0; n < count; ++n) out[n] = cell_plus(out[n], cell_times(scale, left[n]));
  } else {
    for (std::int64_t n = 0; n < count; ++n)
      out[n] = cell_plus(out[n], cell_times(scale, cell_times(left[n], right[n])));
  }
}

/// The sum of value(begin) to before value(end), in as many lanes as two vectors have. T is real.
template <class T, class Value>
[[gnu::always_inline]] inline T sum_of_block(std::int64_t begin, std::int64_t end, const Value& value) {
  T total{};
  auto n = begin;
  constexpr auto kStep = kLanes<T>;
  Vector<T> first{};
  Vector<T> second{};
  for (; n + 2 * kStep <= end; n += 2 * kStep) {
    first += value(n, std::true_type{});
    second += value(n + kStep, std::true_type{});
  }
  if (n + kStep <= end) {
    first += value(n, std::true_type{});
    n += kStep;
  }
  first += second;
  for (std::int64_t l = 0; l < kStep; ++l) total = cell_plus(total, first[l]);
  for (; n < end; ++n) total = cell_plus(total, value(n, std::false_type{}));
  return total;
}

/// The sum of value(0), ..., in blocks that are added up in double precision. T is real.
template <class T, class Value>
[[gnu::always_inline]] inline T sum_of_cells(std::int64_t count, const Value& value) {
  constexpr std::int64_t kBlock = 1024;
  if (count <= kBlock) return sum_of_block<T>(0, count, value);
  Wide<T> total{};
  for (std::int64_t n = 0; n < count; n += kBlock)
    total = cell_plus(total, static_cast<Wide<T>>(sum_of_block<T>(n, std::min(n + kBlock, count), value)));
  return static_cast<T>(total);
}

/// The sum of values one behind the other.
template <class T>
[[gnu::always_inline]] inline T sum_of_run(const T* values, std::int64_t count) {
  if constexpr (is_complex_type<T>) {
    T total{};
    for (std::int64_t n = 0; n < count; ++n) total = cell_plus(total, values[n]);
    return total;
  } else {
    return sum_of_cells<T>(
        count, [&](std::int64_t n, auto is_vector) __attribute__((always_inline)) {
          if constexpr (decltype(is_vector)::value) return load(values + n);
          else return values[n];
        });
  }
}

template <class T>
void dot_cell_runs(void* sum, const void* a, const void* b, std::int64_t count) {
  const auto* left = static_cast<const T*>(a);
  const auto* right = static_cast<const T*>(b);
  if (right == nullptr) {
    *static_cast<T*>(sum) = sum_of_run(left, count);
  } else if constexpr (is_complex_type<T>) {
    T total{};
    for (std::int64_t n = 0; n < count; ++n) total = cell_plus(total, cell_times(left[n], right[n]));
    *static_cast<T*>(sum) = total;
  } else {
    *static_cast<T*>(sum) = sum_of_cells<T>(
        count, [&](std::int64_t n, auto is_vector) __attribute__((always_inline)) {
          if constexpr (decltype(is_vector)::value) return load(left + n) * load(right + n);
          else return cell_times(left[n], right[n]);
        });
  }
}

/// Adds the values in groups of four to four sums, so that additions do not wait for each other; returns the first
/// index that is left.
template <class W, class Value>
[[gnu::always_inline]] inline std::int64_t add_fours(std::int64_t begin, std::int64_t end, const Value& value,
                                                     W (&sums)[4]) {
  auto n = begin;
  for (; n + 4 <= end; n += 4) {
    sums[0] = cell_plus(sums[0], W(value(n)));
    sums[1] = cell_plus(sums[1], W(value(n + 1)));
    sums[2] = cell_plus(sums[2], W(value(n + 2)));
    sums[3] = cell_plus(sums[3], W(value(n + 3)));
  }
  return n;
}

/// The sum of the values, in double precision.
template <class T, class Value>
[[gnu::always_inline]] inline T sum_of_four(std::int64_t begin, std::int64_t end, const Value& value) {
  using W = Wide<T>;
  W sums[4]{};
  for (auto n = add_fours(begin, end, value, sums); n < end; ++n) sums[0] = cell_plus(sums[0], W(value(n)));
  return static_cast<T>(cell_plus(cell_plus(sums[0], sums[1]), cell_plus(sums[2], sums[3])));
}

/// The same where values behind the end may be read and are left out: how many remain of a short sum cannot be
/// predicted, and a wrong prediction takes longer than three values.
template <class T, class Value>
[[gnu::always_inline]] inline T sum_of_four_and_rest(std::int64_t begin, std::int64_t end, const Value& value) {
  using W = Wide<T>;
  W sums[4]{};
  const auto n = add_fours(begin, end, value, sums);
  const W rest[3] = {W(value(n)), W(value(n + 1)), W(value(n + 2))};
  sums[0] = n < end ? cell_plus(sums[0], rest[0]) : sums[0];
  sums[1] = n + 1 < end ? cell_plus(sums[1], rest[1]) : sums[1];
  sums[2] = n + 2 < end ? cell_plus(sums[2], rest[2]) : sums[2];
  return static_cast<T>(cell_plus(cell_plus(sums[0], sums[1]), cell_plus(sums[2], sums[3])));
}

/// The same of the few cells of a row, of which there is one at least.
template <class T, class Value>
[[gnu::always_inline]] inline T sum_of_few(std::int64_t begin, std::int64_t end, const Value& value) {
  Wide<T> sum(value(begin));
  for (auto n = begin + 1; n < end; ++n) sum = cell_plus(sum, Wide<T>(value(n)));
  return static_cast<T>(sum);
}

template <class T>
void dot_cells(void* sum, const void* values, const std::uint32_t* places, const void* from, std::int64_t stride,
               std::int64_t count) {
  const auto* weights = static_cast<const T*>(values);
  const auto* dense = static_cast<const T*>(from);
  const auto at = [&](std::int64_t n) __attribute__((always_inline)) {
    return cell_times(weights[n], dense[static_cast<std::int64_t>(places[n]) * stride]);
  };
  *static_cast<T*>(sum) = sum_of_four<T>(0, count, at);
}

template <class T>
void add_row_sums(void* to, std::int64_t to_stride, const CellRows& rows, const void* from, std::int64_t stride,
                  const void* factor) {
  auto* sums = static_cast<T*>(to);
  const auto* weights = static_cast<const T*>(rows.values);
  const auto* dense = static_cast<const T*>(from);
  const auto* places = rows.places;
  const auto scale = *static_cast<const T*>(factor);
  const auto add_some = [&](std::int64_t first, std::int64_t last, const auto& sum_of_row)
      __attribute__((always_inline)) {
    if (to_stride == 0) {  // all rows into one sum
      Wide<T> sum(*sums);
      for (auto r = first; r < last; ++r)
        sum = cell_plus(sum, Wide<T>(cell_times(scale, sum_of_row(rows.begins[r], rows.begins[r + 1]))));
      *sums = static_cast<T>(sum);
      return;
    }
    for (auto r = first; r < last; ++r) {
      auto& sum = sums[static_cast<std::int64_t>(rows.rows[r]) * to_stride];
      sum = cell_plus(sum, cell_times(scale, sum_of_row(rows.begins[r], rows.begins[r + 1])));
    }
  };
  const auto add_each = [&](const auto& sum_of_row) __attribute__((always_inline)) {
    add_some(0, rows.count, sum_of_row);
  };
  const auto add = [&](const auto& value) __attribute__((always_inline)) {
    constexpr std::int64_t kShortRow = 4;
    if (rows.begins[rows.count] - rows.begins[0] <= kShortRow * rows.count)
      return add_each([&](std::int64_t begin, std::int64_t end)
                          __attribute__((always_inline)) { return sum_of_few<T>(begin, end, value); });
    auto whole = rows.count;  // behind these rows there are three cells at least
    if constexpr (sizeof(T) == 8 && !is_complex_type<T>) {
      while (whole > 0 && rows.begins[whole] + 3 > rows.begins[rows.count]) --whole;
      add_some(
          0, whole, [&](std::int64_t begin, std::int64_t end) __attribute__((always_inline)) {
            return sum_of_four_and_rest<T>(begin, end, value);
          });
    } else {
      whole = 0;
    }
    add_some(
        whole, rows.count, [&](std::int64_t begin, std::int64_t end) __attribute__((always_inline)) {
          return sum_of_four<T>(begin, end, value);
        });
  };
  if (dense == nullptr) {
    // In vectors, as the values lie one behind the other. GCC 12 adds up four integers wrongly here, with AVX-512.
    add_each([&](std::int64_t begin, std::int64_t end)
                 __attribute__((always_inline)) { return sum_of_run(weights + begin, end - begin); });
  } else if (stride == 1) {
    add([&](std::int64_t n) __attribute__((always_inline)) { return cell_times(weights[n], dense[places[n]]); });
  } else {
    add([&](std::int64_t n) __attribute__((always_inline)) {
      return cell_times(weights[n], dense[static_cast<std::int64_t>(places[n]) * stride]);
    });
  }
}

template <class T>
void dot_cell_rows(void* to, const void* row, const void* from, const std::uint32_t* places, std::int64_t stride,
                   const void* values, std::int64_t count, std::int64_t columns, const void* factor) {
  auto* products = static_cast<T*>(to);
  const auto* left = static_cast<const T*>(row);
  const auto* rows = static_cast<const T*>(from);
  const auto* weights = static_cast<const T*>(values);
  const auto scale = *static_cast<const T*>(factor);
  for (std::int64_t n = 0; n < count; ++n) {
    const auto* right = rows + static_cast<std::int64_t>(places[n]) * stride;
    T sum{};
    if constexpr (is_complex_type<T>) {
      for (std::int64_t c = 0; c < columns; ++c) sum = cell_plus(sum, cell_times(left[c], right[c]));
    } else {
      sum = sum_of_cells<T>(
          columns, [&](std::int64_t c, auto is_vector) __attribute__((always_inline)) {
            if constexpr (decltype(is_vector)::value) return load(left + c) * load(right + c);
            else return cell_times(left[c], right[c]);
          });
    }
    products[n] = cell_times(cell_times(scale, weights[n]), sum);
  }
}

template <class T>
CellTable cell_table() {
  return {add_cell_rows<T>, add_cell_products<T>, dot_cell_runs<T>, dot_cells<T>, add_row_sums<T>, dot_cell_rows<T>};
}

}  // namespace eindb::EINDB_LEVEL
