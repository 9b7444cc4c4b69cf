#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "executor/kernels/levels/reduce.hpp"
#include "executor/kernels/levels/vectors.hpp"

/// Finds the first occurrence of a value, or of NaN: in each row (along), or in each column (down).
namespace eindb::EINDB_LEVEL {

/// The number of elements whose match bits fit in one word.
template <class T>
inline constexpr std::int64_t kSearched = 4 * kLanes<T>;

/// Bit l is set if lane l of `a` equals that of `b` or is NaN.
template <class T>
[[gnu::always_inline]] inline std::uint64_t matching_lanes(Vector<T> a, Vector<T> b) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) return _mm512_cmpeq_ps_mask(a, b) | _mm512_cmpunord_ps_mask(a, a);
  else if constexpr (std::is_same_v<T, double>) return _mm512_cmpeq_pd_mask(a, b) | _mm512_cmpunord_pd_mask(a, a);
  else return _mm512_cmpeq_epi64_mask(std::bit_cast<__m512i>(a), std::bit_cast<__m512i>(b));
#else
  const auto matching = (a == b) | (a != a);
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 4) return static_cast<unsigned>(_mm256_movemask_ps(std::bit_cast<__m256>(matching)));
  else return static_cast<unsigned>(_mm256_movemask_pd(std::bit_cast<__m256d>(matching)));
#else
  if constexpr (sizeof(T) == 4) return static_cast<unsigned>(_mm_movemask_ps(std::bit_cast<__m128>(matching)));
  else return static_cast<unsigned>(_mm_movemask_pd(std::bit_cast<__m128d>(matching)));
#endif
#endif
}

/// The number of the first of `count` elements that matches; `count` if none does.
template <class T>
[[gnu::always_inline]] inline std::int64_t first_match(const ValueRows<T, T, true>& row, T value, std::int64_t count) {
  const auto wanted = broadcast(value);
  std::int64_t c = 0;
  for (; c + kSearched<T> <= count; c += kSearched<T>) {
    std::uint64_t found = 0;
    unrolled<kSearched<T> / kLanes<T>>([&](auto k) __attribute__((always_inline)) {
      found |= matching_lanes<T>(row.at(c + k * kLanes<T>), wanted) << (k * kLanes<T>);
    });
    if (found != 0) return c + std::countr_zero(found);
  }
  for (; c + kLanes<T> <= count; c += kLanes<T>)
    if (const auto found = matching_lanes<T>(row.at(c), wanted); found != 0) return c + std::countr_zero(found);
  if (c == count) return count;
  const auto lanes = (std::uint64_t{1} << (count - c)) - 1;
  const auto found = matching_lanes<T>(row.part(c, count - c), wanted) & lanes;
  return found != 0 ? c + std::countr_zero(found) : count;
}

// In short rows all columns are searched: reading on costs less than an unpredictable branch. Rows that follow each
// other in memory are prefetched.
template <class T>
void search_along(std::int32_t* places, Rows a, Rows b, std::int64_t rows, std::int64_t columns) {
  constexpr auto kSearchedAhead = 4096 / static_cast<std::int64_t>(sizeof(T));
  const bool all = columns <= 4 * kSearched<T>;
  const auto* wanted = static_cast<const T*>(b.data);
  const ValueRows<T, T, true> values(a);
  for (std::int64_t r = 0; r < rows; ++r, wanted += b.row_stride) {
    const auto row = values.row(r);
    if (all) row.prefetch(kSearchedAhead, columns);
    const auto found = first_match<T>(row, *wanted, all ? columns : places[r]);
    places[r] = std::min(places[r], static_cast<std::int32_t>(found));
  }
}

// A strip of adjacent columns, from row `begin` on.
template <class T, int kVectors, bool kStep>
[[gnu::always_inline]] inline void search_strip(std::int32_t* places, const ValueRows<T, T, true>& a, const T* b,
                                                std::int64_t column, std::int64_t begin, std::int64_t end,
                                                std::int64_t ahead) {
  using Number = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  constexpr auto kColumns = kVectors * kLanes<T>;
  std::array<Number, kColumns> first;
  std::copy_n(places + column, kColumns, first.data());
  std::array<Vector<T>, kVectors> wanted;
  std::array<Vector<Number>, kVectors> place;
  unrolled<kVectors>([&](auto k) __attribute__((always_inline)) {
    wanted[k] = kStep ? load(b + column + k * kLanes<T>) : broadcast(*b);
    place[k] = load(first.data() + k * kLanes<T>);
  });
  for (auto r = begin; r < end; ++r) {
    const auto row = a.row(r);
    const auto here = broadcast(static_cast<Number>(r));
    row.prefetch(column + ahead, kColumns);
    unrolled<kVectors>([&](auto k) __attribute__((always_inline)) {
      const auto values = row.at(column + k * kLanes<T>);
      const auto lower = place[k] < here ? place[k] : here;
      place[k] = values == wanted[k] ? lower : place[k];
      if constexpr (std::is_floating_point_v<T>) place[k] = values != values ? lower : place[k];
    });
  }
  unrolled<kVectors>([&](auto k) __attribute__((always_inline)) { store(first.data() + k * kLanes<T>, place[k]); });
  for (std::int64_t c = 0; c < kColumns; ++c)
    places[column + c] = static_cast<std::int32_t>(first[static_cast<std::size_t>(c)]);
}

template <class T, bool kStep>
void search_rows(std::int32_t* places, const ValueRows<T, T, true>& a, const T* b, std::int64_t begin, std::int64_t end,
                 std::int64_t columns, std::int64_t ahead) {
  std::int64_t c = 0;
  const auto strips = [&]<int kVectors>(std::integral_constant<int, kVectors>) {
    for (; c + kVectors * kLanes<T> <= columns; c += kVectors * kLanes<T>)
      search_strip<T, kVectors, kStep>(places, a, b, c, begin, end, ahead);
  };
  strips(std::integral_constant<int, 4>{});
  strips(std::integral_constant<int, 1>{});
  for (; c < columns; ++c) {
    const auto wanted = kStep ? b[c] : *b;
    for (auto r = begin; r < std::min<std::int64_t>(end, places[c]); ++r) {
      const auto value = a.row(r).value(c);
      if (value == wanted || value != value) places[c] = static_cast<std::int32_t>(r);
    }
  }
}

// Rows longer than a page are searched one at a time, since memory is fastest for long runs.
template <class T, bool kStep>
void search_columns(std::int32_t* places, Rows a, const T* b, std::int64_t rows, std::int64_t columns) {
  constexpr auto kPage = 4096 / static_cast<std::int64_t>(sizeof(T));
  const ValueRows<T, T, true> values(a);
  if (a.row_stride < kPage || columns < kPage) return search_rows<T, kStep>(places, values, b, 0, rows, columns, kPage);
  for (std::int64_t r = 0; r < rows; ++r) search_rows<T, kStep>(places, values, b, r, r + 1, columns, kPage);
}

template <class T>
void search_down(std::int32_t* places, Rows a, Rows b, std::int64_t rows, std::int64_t columns) {
  const auto* wanted = static_cast<const T*>(b.data);
  if (b.step != 0) search_columns<T, true>(places, a, wanted, rows, columns);
  else search_columns<T, false>(places, a, wanted, rows, columns);
}

// Extremes of a strip of adjacent columns and their places, which stay in registers for all rows.
template <class T, bool kLeast, int kVectors>
[[gnu::always_inline]] inline void place_strip(T* extremes, std::int32_t* places, const ValueRows<T, T, true>& a,
                                               std::int64_t column, std::int32_t begin, std::int64_t rows, bool first) {
  using Number = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  constexpr auto kColumns = kVectors * kLanes<T>;
  std::array<Number, kColumns> numbers;
  if (first) numbers.fill(begin);
  else std::copy_n(places + column, kColumns, numbers.data());
  std::array<Vector<T>, kVectors> extreme;
  std::array<Vector<Number>, kVectors> place;
  unrolled<kVectors>([&](auto k) __attribute__((always_inline)) {
    const auto c = column + k * kLanes<T>;
    extreme[k] = first ? a.row(0).at(c) : load(extremes + c);
    place[k] = load(numbers.data() + k * kLanes<T>);
  });
  for (std::int64_t r = first ? 1 : 0; r < rows; ++r) {
    const auto row = a.row(r);
    const auto here = broadcast(static_cast<Number>(begin + r));
    row.prefetch(column + 2 * kColumns, kColumns);
    unrolled<kVectors>([&](auto k) __attribute__((always_inline)) {
      const auto values = row.at(column + k * kLanes<T>);
      auto is_beyond = kLeast ? values < extreme[k] : values > extreme[k];
      if constexpr (std::is_floating_point_v<T>) is_beyond |= (values != values) & (extreme[k] == extreme[k]);
      place[k] = is_beyond ? here : place[k];
      extreme[k] = is_beyond ? values : extreme[k];
    });
  }
  unrolled<kVectors>([&](auto k) __attribute__((always_inline)) {
    store(extremes + column + k * kLanes<T>, extreme[k]);
    store(numbers.data() + k * kLanes<T>, place[k]);
  });
  for (std::int64_t c = 0; c < kColumns; ++c)
    places[column + c] = static_cast<std::int32_t>(numbers[static_cast<std::size_t>(c)]);
}

template <class T, bool kLeast>
void place_down(void* values, std::int32_t* places, Rows a, std::int32_t begin, std::int64_t rows, std::int64_t columns,
                bool first) {
  auto* extremes = static_cast<T*>(values);
  const ValueRows<T, T, true> from(a);
  std::int64_t c = 0;
  const auto strips = [&]<int kVectors>(std::integral_constant<int, kVectors>) {
    for (; c + kVectors * kLanes<T> <= columns; c += kVectors * kLanes<T>)
      place_strip<T, kLeast, kVectors>(extremes, places, from, c, begin, rows, first);
  };
  strips(std::integral_constant<int, 4>{});
  strips(std::integral_constant<int, 1>{});
  for (; c < columns; ++c) {
    if (first) {
      extremes[c] = from.row(0).value(c);
      places[c] = begin;
    }
    for (std::int64_t r = first ? 1 : 0; r < rows; ++r) {
      const auto value = from.row(r).value(c);
      const bool is_nan = value != value && extremes[c] == extremes[c];
      if (!is_nan && !(kLeast ? value < extremes[c] : value > extremes[c])) continue;
      extremes[c] = value;
      places[c] = begin + static_cast<std::int32_t>(r);
    }
  }
}

template <class T>
void fill_search(ElementTable& table) {
  table.search_along = search_along<T>;
  table.search_down = search_down<T>;
  table.place_least_down = place_down<T, true>;
  table.place_greatest_down = place_down<T, false>;
}

}  // namespace eindb::EINDB_LEVEL
