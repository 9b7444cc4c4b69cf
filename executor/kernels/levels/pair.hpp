#pragma once

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "executor/kernels/levels/reduce.hpp"

/// Aggregates of a function of two elements over all pairs of rows and columns, such as max-plus products, distances,
/// or counts of equal values. Blocks of accumulators stay in registers, as in the innermost loop of a matrix product.
namespace eindb::EINDB_LEVEL {

#if defined(__AVX512F__)
inline constexpr int kPairBytes = 64;
inline constexpr int kPairRows = 6;
inline constexpr int kPairVectors = 4;  // 24 of 32 registers hold accumulators
#elif defined(__AVX__)
inline constexpr int kPairBytes = 32;
inline constexpr int kPairRows = 4;
inline constexpr int kPairVectors = 2;
#else
inline constexpr int kPairBytes = 16;
inline constexpr int kPairRows = 4;
inline constexpr int kPairVectors = 2;
#endif

template <class T>
struct PairVector {
  typedef T Type __attribute__((vector_size(kPairBytes)));
  static constexpr int kLanes = kPairBytes / static_cast<int>(sizeof(T));
};
template <class T>
using Lanes = typename PairVector<T>::Type;
// Vectors of unsigned integers of the same size: INT64 arithmetic wraps in them, and the sign is a bit.
template <class T>
using Bits = Lanes<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

// Subtracting zero changes no value, not even the sign of zero.
template <class T>
Lanes<T> all_lanes(T value) {
  return value - Lanes<T>{};
}

template <class T>
Lanes<T> truth_lanes(auto mask) {
  return mask ? all_lanes(T(1)) : Lanes<T>{};
}

/// a + b. With AVX-512 it is a multiplication by 1 and an addition in one instruction: AMD's processors have separate
/// units for these and for MIN and MAX, while those of additions are shared with the latter.
template <class T>
Lanes<T> sum_of(Lanes<T> a, Lanes<T> b) {
#if defined(__AVX512F__)
  Lanes<T> one = all_lanes(T(1));
  asm("" : "+v"(one));  // or the compiler would simplify the product
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<Lanes<T>>(
        _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(one), reinterpret_cast<__m512>(b)));
  else
    return reinterpret_cast<Lanes<T>>(
        _mm512_fmadd_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(one), reinterpret_cast<__m512d>(b)));
#else
  return a + b;
#endif
}

/// Applies the function to vectors of T.
template <class T, PairFunction kFunction>
Lanes<T> pair_value(Lanes<T> a, Lanes<T> b) {
  using enum PairFunction;
  using V = Lanes<T>;
  using U = Bits<T>;
  constexpr bool kInteger = std::is_integral_v<T>;
  if constexpr (kFunction == Add) {
    if constexpr (kInteger) return std::bit_cast<V>(std::bit_cast<U>(a) + std::bit_cast<U>(b));
    else return sum_of<T>(a, b);
  } else if constexpr (kFunction == Subtract) {
    if constexpr (kInteger) return std::bit_cast<V>(std::bit_cast<U>(a) - std::bit_cast<U>(b));
    else return a - b;
  } else if constexpr (kFunction == Multiply) {
    if constexpr (kInteger) return std::bit_cast<V>(std::bit_cast<U>(a) * std::bit_cast<U>(b));
    else return a * b;
  } else if constexpr (kFunction == Least) {
    return lesser_of(b, a);
  } else if constexpr (kFunction == Greatest) {
    return greater_of(b, a);
  } else if constexpr (kFunction == Equal) {
    return truth_lanes<T>(a == b);
  } else if constexpr (kFunction == NotEqual) {
    return truth_lanes<T>(a != b);
  } else if constexpr (kFunction == Less) {
    return truth_lanes<T>(a < b);
  } else if constexpr (kFunction == LessEqual) {
    return truth_lanes<T>(a <= b);
  } else if constexpr (kFunction == And) {
    return truth_lanes<T>((a != V{}) & (b != V{}));
  } else if constexpr (kFunction == Or) {
    return truth_lanes<T>((a != V{}) | (b != V{}));
  } else if constexpr (kFunction == SquaredDifference) {
    const V d = pair_value<T, Subtract>(a, b);
    return pair_value<T, Multiply>(d, d);
  } else {
    const V d = pair_value<T, Subtract>(a, b);
    if constexpr (kInteger) return d < V{} ? std::bit_cast<V>(U{} - std::bit_cast<U>(d)) : d;
    else return std::bit_cast<V>(std::bit_cast<U>(d) << 1 >> 1);
  }
}

template <class T, Aggregate kAggregate>
Lanes<T> pair_fold(Lanes<T> all, Lanes<T> value) {
  if constexpr (kAggregate == Aggregate::Sum && std::is_integral_v<T>)
    return pair_value<T, PairFunction::Add>(all, value);
  else if constexpr (kAggregate == Aggregate::Sum) return all + value;
  else if constexpr (kAggregate == Aggregate::Min) return lesser_of(value, all);
  else return greater_of(value, all);
}

#if defined(__AVX512F__)
// MIN and MAX by a comparison and a choice, where MIN and MAX are in use for the values: these come from other units of
// AMD's processors.
template <class T, Aggregate kAggregate>
Lanes<T> chosen(Lanes<T> all, Lanes<T> value) {
  constexpr int kOrder = kAggregate == Aggregate::Min ? _CMP_LT_OQ : _CMP_GT_OQ;
  if constexpr (sizeof(T) == 4) {
    const auto a = reinterpret_cast<__m512>(all);
    const auto v = reinterpret_cast<__m512>(value);
    return reinterpret_cast<Lanes<T>>(_mm512_mask_mov_ps(a, _mm512_cmp_ps_mask(v, a, kOrder), v));
  } else {
    const auto a = reinterpret_cast<__m512d>(all);
    const auto v = reinterpret_cast<__m512d>(value);
    return reinterpret_cast<Lanes<T>>(_mm512_mask_mov_pd(a, _mm512_cmp_pd_mask(v, a, kOrder), v));
  }
}
#endif

template <class T, PairFunction kFunction, Aggregate kAggregate>
Lanes<T> pair_fold_of(Lanes<T> all, Lanes<T> value) {
#if defined(__AVX512F__)
  constexpr bool kOrders = kFunction == PairFunction::Least || kFunction == PairFunction::Greatest;
  if constexpr (kOrders && kAggregate != Aggregate::Sum && std::is_floating_point_v<T>)
    return chosen<T, kAggregate>(all, value);
#endif
  return pair_fold<T, kAggregate>(all, value);
}

template <class T, PairFunction kFunction, Aggregate kAggregate>
void pair_block(const void* a, const void* b, std::int64_t k, MatrixView c, std::int64_t rows, std::int64_t columns,
                bool first) {
  using V = Lanes<T>;
  constexpr int kLanes = PairVector<T>::kLanes;
  constexpr int kColumns = kPairVectors * kLanes;
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const V*>(b);
  V all[kPairRows][kPairVectors];
  for (auto& row : all)
    for (auto& cell : row) cell = all_lanes(identity_of<T>(kAggregate));
  for (std::int64_t p = 0; p < k; ++p, x += kPairRows, y += kPairVectors) {
#pragma GCC unroll 8
    for (int r = 0; r < kPairRows; ++r) {
      const V value = all_lanes(x[r]);
#pragma GCC unroll 4
      for (int v = 0; v < kPairVectors; ++v)
        all[r][v] = pair_fold_of<T, kFunction, kAggregate>(all[r][v], pair_value<T, kFunction>(value, y[v]));
    }
  }
  alignas(64) T block[kPairRows][kColumns];
  for (int r = 0; r < kPairRows; ++r)
    for (int v = 0; v < kPairVectors; ++v) *reinterpret_cast<V*>(block[r] + v * kLanes) = all[r][v];
  for (std::int64_t r = 0; r < rows; ++r) {
    auto* out = static_cast<T*>(c.data) + r * c.row_stride;
    if (first) {
      for (std::int64_t s = 0; s < columns; ++s) out[s * c.column_stride] = block[r][s];
    } else {
      for (std::int64_t s = 0; s < columns; ++s) {
        auto& cell = out[s * c.column_stride];
        cell = Fold<kAggregate, T>::apply(cell, block[r][s]);
      }
    }
  }
}

/// `place` in the lanes where `value` is the one sought, or NaN, and `found` elsewhere.
template <class T, class Places>
Places place_where_equal(Places found, Lanes<T> value, Lanes<T> one, Places place) {
#if defined(__AVX512F__)
  const auto before = reinterpret_cast<__m512i>(found);
  const auto after = reinterpret_cast<__m512i>(place);
  if constexpr (std::is_same_v<T, float>) {
    const auto v = reinterpret_cast<__m512>(value);
    const auto mask = _mm512_cmp_ps_mask(v, reinterpret_cast<__m512>(one), _CMP_EQ_OQ);
    const auto nan = _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q);
    return reinterpret_cast<Places>(_mm512_mask_mov_epi32(before, static_cast<__mmask16>(mask | nan), after));
  } else if constexpr (std::is_same_v<T, double>) {
    const auto v = reinterpret_cast<__m512d>(value);
    const auto mask = _mm512_cmp_pd_mask(v, reinterpret_cast<__m512d>(one), _CMP_EQ_OQ);
    const auto nan = _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q);
    return reinterpret_cast<Places>(_mm512_mask_mov_epi64(before, static_cast<__mmask8>(mask | nan), after));
  }
#endif
  if constexpr (std::is_integral_v<T>) return value == one ? place : found;
  else return ((value == one) | (value != value)) ? place : found;
}

// Places are in registers, and the values sought in the first-level cache.
template <class T, PairFunction kFunction>
void pair_search(const void* a, const void* b, std::int64_t k, ConstMatrixView sought, std::int64_t rows,
                 std::int64_t columns, std::int32_t* places) {
  using V = Lanes<T>;
  using Place = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using P = Lanes<Place>;
  constexpr int kLanes = PairVector<T>::kLanes;
  constexpr int kColumns = kPairVectors * kLanes;
  alignas(64) T wanted[kPairRows][kColumns] = {};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t s = 0; s < columns; ++s)
      wanted[r][s] = static_cast<const T*>(sought.data)[r * sought.row_stride + s * sought.column_stride];
  const auto* x = static_cast<const T*>(a) + k * kPairRows;
  const auto* y = static_cast<const V*>(b) + k * kPairVectors;
  P found[kPairRows][kPairVectors];
  for (auto& row : found)
    for (auto& cell : row) cell = P{} + static_cast<Place>(k);
  // Backwards, so that the least place is the last that is kept.
  for (auto p = static_cast<Place>(k); p-- > 0;) {
    x -= kPairRows;
    y -= kPairVectors;
    const P place = P{} + p;
#pragma GCC unroll 8
    for (int r = 0; r < kPairRows; ++r) {
      const V left = all_lanes(x[r]);
#pragma GCC unroll 4
      for (int v = 0; v < kPairVectors; ++v) {
        const V value = pair_value<T, kFunction>(left, y[v]);
        const V& one = *reinterpret_cast<const V*>(wanted[r] + v * kLanes);
        found[r][v] = place_where_equal<T>(found[r][v], value, one, place);
      }
    }
  }
  for (int r = 0; r < kPairRows; ++r)
    for (int v = 0; v < kPairVectors; ++v)
      for (int l = 0; l < kLanes; ++l)
        places[r * kColumns + v * kLanes + l] = static_cast<std::int32_t>(found[r][v][l]);
}

// ---- Extremes with their indices -----------------------------------------------------------------------------------

// The values of a cell are folded in groups; what is kept of an index is the group, until the end.
inline constexpr int kPlaceGroup = 4;

template <class T>
using PlaceNumber = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// The extremes of a row of a panel, and the groups that they come of.
template <class T>
struct PlacedRow {
  Lanes<T> best[kPairVectors];
  Lanes<PlaceNumber<T>> group[kPairVectors];
};

/// Takes in `kCount` values of each cell.
template <class T, PairFunction kFunction, Aggregate kAggregate, int kCount>
[[gnu::always_inline]] inline void place_group(PlacedRow<T>& row, const T* x, const Lanes<T>* y,
                                               PlaceNumber<T> number) {
  const auto here = PlaceNumber<T>(number) - Lanes<PlaceNumber<T>>{};
#pragma GCC unroll 4
  for (int v = 0; v < kPairVectors; ++v) {
    auto value = pair_value<T, kFunction>(all_lanes(x[0]), y[v]);
#pragma GCC unroll 4
    for (int q = 1; q < kCount; ++q)
      value = pair_fold<T, kAggregate>(value,
                                       pair_value<T, kFunction>(all_lanes(x[q * kPairRows]), y[q * kPairVectors + v]));
    const auto before = row.best[v];
    row.group[v] = (kAggregate == Aggregate::Min ? value < before : value > before) ? here : row.group[v];
    row.best[v] = pair_fold<T, kAggregate>(before, value);
  }
}

/// pair_value() of two numbers.
template <class T, PairFunction kFunction>
[[gnu::always_inline]] inline T pair_number(T a, T b) {
  using enum PairFunction;
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr bool kInteger = std::is_integral_v<T>;
  if constexpr (kFunction == Least) return b < a ? b : a;
  else if constexpr (kFunction == Greatest) return b > a ? b : a;
  else if constexpr (kFunction == SquaredDifference) {
    const T d = pair_number<T, Subtract>(a, b);
    return pair_number<T, Multiply>(d, d);
  } else if constexpr (kFunction == AbsoluteDifference) {
    const T d = pair_number<T, Subtract>(a, b);
    if constexpr (kInteger) return d < 0 ? T(U{} - U(d)) : d;
    else return std::abs(d);
  } else if constexpr (kInteger) {
    if constexpr (kFunction == Add) return T(U(a) + U(b));
    else if constexpr (kFunction == Subtract) return T(U(a) - U(b));
    else return T(U(a) * U(b));
  } else {
    if constexpr (kFunction == Add) return a + b;
    else if constexpr (kFunction == Subtract) return a - b;
    else return a * b;
  }
}

/// The first of the `count` values of a cell from `x` and `y` on that is `best`, which one of them is.
template <class T, PairFunction kFunction>
[[gnu::always_inline]] inline int first_in_group(const T* x, const T* y, int count, T best) {
  constexpr int kColumns = kPairVectors * PairVector<T>::kLanes;
  int found = 0;
  if (count == kPlaceGroup) {
    int differs = 1;
    for (int q = 0; q + 1 < kPlaceGroup; ++q) {
      differs &= pair_number<T, kFunction>(x[q * kPairRows], y[q * kColumns]) != best;
      found += differs;
    }
    return found;
  }
  while (found + 1 < count && pair_number<T, kFunction>(x[found * kPairRows], y[found * kColumns]) != best) ++found;
  return found;
}

/// The columns of a vector in whose cells the group is known, which is not -1, as bits.
template <class T>
std::uint32_t placed_lanes(Lanes<PlaceNumber<T>> groups) {
#if defined(__AVX512F__)
  const auto all = reinterpret_cast<__m512i>(groups);
  if constexpr (sizeof(T) == 4) return static_cast<std::uint16_t>(~_mm512_movepi32_mask(all));
  else return static_cast<std::uint8_t>(~_mm512_movepi64_mask(all));
#else
  std::uint32_t lanes = 0;
  for (int l = 0; l < PairVector<T>::kLanes; ++l) lanes |= static_cast<std::uint32_t>(groups[l] >= 0) << l;
  return lanes;
#endif
}

#if defined(__AVX512F__)
/// Elements of `from` at the offsets in all lanes.
template <class T>
Lanes<T> gathered(const T* from, Lanes<PlaceNumber<T>> offsets) {
  const auto at = reinterpret_cast<__m512i>(offsets);
  if constexpr (std::is_same_v<T, float>) return reinterpret_cast<Lanes<T>>(_mm512_i32gather_ps(at, from, 4));
  else if constexpr (std::is_same_v<T, double>) return reinterpret_cast<Lanes<T>>(_mm512_i64gather_pd(at, from, 8));
  else return reinterpret_cast<Lanes<T>>(_mm512_i64gather_epi64(at, from, 8));
}

/// first_in_group() of all columns of a vector, whose groups are whole.
template <class T, PairFunction kFunction>
[[gnu::always_inline]] inline Lanes<PlaceNumber<T>> first_in_groups(const T* x, const T* y,
                                                                    Lanes<PlaceNumber<T>> groups, Lanes<T> best) {
  using N = Lanes<PlaceNumber<T>>;
  constexpr int kColumns = kPairVectors * PairVector<T>::kLanes;
  N lane;
  for (int l = 0; l < PairVector<T>::kLanes; ++l) lane[l] = l;
  const auto left = groups * PlaceNumber<T>(kPlaceGroup * kPairRows);
  const auto right = groups * PlaceNumber<T>(kPlaceGroup * kColumns) + lane;
  N differs = N{} - 1;
  N found = {};
#pragma GCC unroll 4
  for (int q = 0; q + 1 < kPlaceGroup; ++q) {
    const auto value =
        pair_value<T, kFunction>(gathered<T>(x + q * kPairRows, left), gathered<T>(y + q * kColumns, right));
    differs &= value != best;
    found -= differs;
  }
  return found;
}
#endif

/// The indices of a vector of cells whose groups are known, from `begin` on.
template <class T, PairFunction kFunction>
void place_in_groups(const T* x, const T* y, std::int64_t k, Lanes<PlaceNumber<T>> groups, Lanes<T> best,
                     std::int32_t begin, std::int32_t* places) {
  constexpr int kColumns = kPairVectors * PairVector<T>::kLanes;
  auto lanes = placed_lanes<T>(groups);
#if defined(__AVX512F__)
  constexpr int kFewestGathered = 4;
  if (std::popcount(lanes) >= kFewestGathered && k % kPlaceGroup == 0) {
    const auto known = groups >= 0;
    const auto within = first_in_groups<T, kFunction>(x, y, known ? groups : 0, best);
    const auto found = groups * PlaceNumber<T>(kPlaceGroup) + within + PlaceNumber<T>(begin);
    if constexpr (sizeof(T) == 4)
      _mm512_mask_storeu_epi32(places, static_cast<__mmask16>(lanes), reinterpret_cast<__m512i>(found));
    else
      _mm256_mask_storeu_epi32(places, static_cast<__mmask8>(lanes),
                               _mm512_cvtepi64_epi32(reinterpret_cast<__m512i>(found)));
    return;
  }
#endif
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto c = std::countr_zero(lanes);
    const auto p = static_cast<std::int64_t>(groups[c]) * kPlaceGroup;
    const auto count = static_cast<int>(std::min<std::int64_t>(kPlaceGroup, k - p));
    places[c] = begin + static_cast<std::int32_t>(p) +
                first_in_group<T, kFunction>(x + p * kPairRows, y + c + p * kColumns, count, best[c]);
  }
}

/// Places `kRows` rows of a panel, which share what is read of the other one.
template <class T, PairFunction kFunction, Aggregate kAggregate, int kRows>
[[gnu::always_inline]] inline void place_rows(const T* a, const T* b, std::int64_t k, T* best, std::int32_t* places,
                                              std::int64_t stride, std::int32_t begin, bool first) {
  using V = Lanes<T>;
  using N = PlaceNumber<T>;
  constexpr int kLanes = PairVector<T>::kLanes;
  PlacedRow<T> rows[kRows];
#pragma GCC unroll 2
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kPairVectors; ++v) {
      if (first) rows[r].best[v] = all_lanes(identity_of<T>(kAggregate));
      else std::memcpy(&rows[r].best[v], best + r * stride + v * kLanes, sizeof(V));
      rows[r].group[v] = N(first ? 0 : -1) - Lanes<N>{};
    }
  }
  const auto* x = a;
  const auto* y = reinterpret_cast<const V*>(b);
  const auto take = [&]<int kCount>(std::integral_constant<int, kCount>, std::int64_t n)
      __attribute__((always_inline)) {
#pragma GCC unroll 2
    for (int r = 0; r < kRows; ++r) place_group<T, kFunction, kAggregate, kCount>(rows[r], x + r, y, static_cast<N>(n));
  };
  const auto whole = k / kPlaceGroup;
  for (std::int64_t n = 0; n < whole; ++n, x += kPlaceGroup * kPairRows, y += kPlaceGroup * kPairVectors)
    take(std::integral_constant<int, kPlaceGroup>{}, n);
  if (k % kPlaceGroup == 1) take(std::integral_constant<int, 1>{}, whole);
  if (k % kPlaceGroup == 2) take(std::integral_constant<int, 2>{}, whole);
  if (k % kPlaceGroup == 3) take(std::integral_constant<int, 3>{}, whole);
#pragma GCC unroll 2
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kPairVectors; ++v) {
      std::memcpy(best + r * stride + v * kLanes, &rows[r].best[v], sizeof(V));
      place_in_groups<T, kFunction>(a + r, b + v * kLanes, k, rows[r].group[v], rows[r].best[v], begin,
                                    places + r * stride + v * kLanes);
    }
}

template <class T, PairFunction kFunction, Aggregate kAggregate>
void pair_place(const void* a, const void* b, std::int64_t k, void* extremes, std::int32_t* places, std::int64_t stride,
                std::int64_t rows, std::int32_t begin, bool first) {
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  auto* best = static_cast<T*>(extremes);
  std::int64_t r = 0;
  for (; r + 2 <= rows; r += 2)
    place_rows<T, kFunction, kAggregate, 2>(x + r, y, k, best + r * stride, places + r * stride, stride, begin, first);
  if (r < rows)
    place_rows<T, kFunction, kAggregate, 1>(x + r, y, k, best + r * stride, places + r * stride, stride, begin, first);
}

template <class T>
unsigned specials(ConstMatrixView a, std::int64_t rows, std::int64_t columns) {
  if constexpr (std::is_integral_v<T>) {
    return 0;
  } else {
    if (a.column_stride != 1 && a.row_stride == 1) {
      std::swap(rows, columns);
      std::swap(a.row_stride, a.column_stride);
    }
    constexpr auto kInfinity = std::numeric_limits<T>::infinity();
    using V = Lanes<T>;
    constexpr int kLanes = PairVector<T>::kLanes;
    auto nans = V{} != V{};
    V largest{};
    V smallest{};
    const auto look_at = [&](V values) {
      nans |= values != values;
      largest = greater_of(values, largest);
      smallest = lesser_of(values, smallest);
    };
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto* row = static_cast<const T*>(a.data) + r * a.row_stride;
      std::int64_t c = 0;
      if (a.column_stride == 1) {
        for (; c + kLanes <= columns; c += kLanes) {
          V values;
          std::memcpy(&values, row + c, sizeof values);
          look_at(values);
        }
      }
      for (; c < columns; ++c) look_at(all_lanes(row[c * a.column_stride]));
    }
    bool nan = false;
    bool most = false;
    bool least = false;
    for (int l = 0; l < kLanes; ++l) {
      nan = nan || nans[l] != 0;
      most = most || largest[l] == kInfinity;
      least = least || smallest[l] == -kInfinity;
    }
    return (nan ? kHasNan : 0) | (most ? kHasInfinity : 0) | (least ? kHasNegativeInfinity : 0);
  }
}

template <class T, PairFunction kFunction>
void fill_pair_function(ElementTable& table) {
  auto& by_aggregate = table.pair[slot_of(kFunction)];
  by_aggregate[slot_of(Aggregate::Sum)] = pair_block<T, kFunction, Aggregate::Sum>;
  by_aggregate[slot_of(Aggregate::Min)] = pair_block<T, kFunction, Aggregate::Min>;
  by_aggregate[slot_of(Aggregate::Max)] = pair_block<T, kFunction, Aggregate::Max>;
}

template <class T, PairFunction... kFunctions>
void fill_searches(ElementTable& table) {
  ((table.pair_search[slot_of(kFunctions)] = pair_search<T, kFunctions>), ...);
  ((table.pair_place_least[slot_of(kFunctions)] = pair_place<T, kFunctions, Aggregate::Min>), ...);
  ((table.pair_place_greatest[slot_of(kFunctions)] = pair_place<T, kFunctions, Aggregate::Max>), ...);
}

template <class T>
void fill_pairs(ElementTable& table) {
  using enum PairFunction;
  fill_searches<T, Add, Subtract, Multiply, Least, Greatest, SquaredDifference, AbsoluteDifference>(table);
  fill_pair_function<T, Add>(table);
  fill_pair_function<T, Subtract>(table);
  fill_pair_function<T, Multiply>(table);
  fill_pair_function<T, Least>(table);
  fill_pair_function<T, Greatest>(table);
  fill_pair_function<T, Equal>(table);
  fill_pair_function<T, NotEqual>(table);
  fill_pair_function<T, Less>(table);
  fill_pair_function<T, LessEqual>(table);
  fill_pair_function<T, And>(table);
  fill_pair_function<T, Or>(table);
  fill_pair_function<T, SquaredDifference>(table);
  fill_pair_function<T, AbsoluteDifference>(table);
  table.pair_rows = kPairRows;
  table.pair_columns = kPairVectors * PairVector<T>::kLanes;
  table.specials = specials<T>;
}

}  // namespace eindb::EINDB_LEVEL
