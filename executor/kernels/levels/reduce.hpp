#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "executor/kernels/levels/elementwise.hpp"
#include "executor/kernels/levels/vectors.hpp"

/// Aggregation of rows: each row into its own accumulator (along), or all rows into one row of accumulators (down);
/// then of accumulators into the result (settle). Accumulators are wide: float sums are computed in double.
namespace eindb::EINDB_LEVEL {

// Arithmetic on vectors V of T; INT64 wraps.
template <class T, class V>
[[gnu::always_inline]] inline V vector_add(V a, V b) {
  using Unsigned = Vector<std::uint64_t>;
  if constexpr (std::is_integral_v<T>) return std::bit_cast<V>(std::bit_cast<Unsigned>(a) + std::bit_cast<Unsigned>(b));
  else return a + b;
}
template <class T, class V>
[[gnu::always_inline]] inline V vector_multiply(V a, V b) {
  using Unsigned = Vector<std::uint64_t>;
  if constexpr (std::is_integral_v<T>) return std::bit_cast<V>(std::bit_cast<Unsigned>(a) * std::bit_cast<Unsigned>(b));
  else return a * b;
}

/// aggregate(a, b) and its neutral element.
template <Aggregate kAggregate, class W>
struct Fold {
  using Value = W;

  static W apply(W a, W b) {
    if constexpr (kAggregate == Aggregate::Sum) return scalar_add(a, b);
    else if constexpr (kAggregate == Aggregate::Prod) return scalar_multiply(a, b);
    else if constexpr (kAggregate == Aggregate::Min) return least(a, b);
    else if constexpr (kAggregate == Aggregate::LogSumExp) return scalar_log_add_exp(a, b);
    else if constexpr (has_place(kAggregate)) return scalar_first_extreme(kAggregate, a, b);
    else return greatest(a, b);
  }
  // Lane by lane. The MIN and MAX instructions return `a` if either argument is NaN, so `b` is checked for NaN.
  template <class V>
  [[gnu::always_inline]] static V lanes(V a, V b) {
    if constexpr (kAggregate == Aggregate::Sum) return vector_add<W>(a, b);
    else if constexpr (kAggregate == Aggregate::Prod) return vector_multiply<W>(a, b);
    else if constexpr (kAggregate == Aggregate::Min) return b == b ? lesser_of(b, a) : b;
    else if constexpr (kAggregate == Aggregate::LogSumExp) return one_by_one(a, b);
    else return b == b ? greater_of(b, a) : b;
  }
  static W identity() { return identity_of<W>(kAggregate); }

 private:
  template <class V>
  static V one_by_one(V a, V b) {
    for (std::int64_t lane = 0; lane < kLanes<W>; ++lane) a[lane] = apply(a[lane], b[lane]);
    return a;
  }
};

inline constexpr std::int64_t kLine = 64;  // bytes per cache line

// Rows of values as vectors of W: row(r), and of a row the vector from element c on, or its first `count` lanes with
// arbitrary values in the others. prefetch(c, count) requests elements that are needed soon: hardware prefetches the
// rest of a long row, but not the row after a short one. Prefetching past the end has no effect.
template <class T, class W, bool kStep>
class ValueRows {
 public:
  static constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));

  ValueRows(const T* values, std::int64_t row_stride) : values_(values), row_stride_(row_stride) {}
  explicit ValueRows(Rows rows) : ValueRows(static_cast<const T*>(rows.data), rows.row_stride) {}

  ValueRows row(std::int64_t r) const { return {values_ + r * row_stride_, row_stride_}; }
  T value(std::int64_t c) const { return kStep ? values_[c] : *values_; }
  [[gnu::always_inline]] Vector<W> at(std::int64_t c) const { return widened<T, W>(piece(c)); }
  [[gnu::always_inline]] Vector<W> part(std::int64_t c, std::int64_t count) const {
    return widened<T, W>(piece_part(c, count));
  }

  [[gnu::always_inline]] void prefetch(std::int64_t c, std::int64_t count) const {
    if constexpr (kStep)
      for (std::int64_t i = 0; i < count; i += kLine / kBytes) __builtin_prefetch(values_ + c + i);
  }

  [[gnu::always_inline]] Piece<T, W> piece(std::int64_t c) const {
    if constexpr (kStep) return load_piece<T, W>(values_ + c);
    else return *values_ - Piece<T, W>{};
  }
  [[gnu::always_inline]] Piece<T, W> piece_part(std::int64_t c, std::int64_t count) const {
    if constexpr (kStep) return load_piece_part<T, W>(values_ + c, count);
    else return piece(c);
  }

 private:
  const T* values_;
  std::int64_t row_stride_;
};

// Products, computed in T.
template <class T, class W, bool kStepA, bool kStepB>
class ProductRows {
 public:
  using A = ValueRows<T, W, kStepA>;
  using B = ValueRows<T, W, kStepB>;
  static constexpr auto kBytes = A::kBytes;

  ProductRows(A a, B b) : a_(a), b_(b) {}

  ProductRows row(std::int64_t r) const { return {a_.row(r), b_.row(r)}; }
  [[gnu::always_inline]] Vector<W> at(std::int64_t c) const {
    return widened<T, W>(vector_multiply<T>(a_.piece(c), b_.piece(c)));
  }
  [[gnu::always_inline]] Vector<W> part(std::int64_t c, std::int64_t count) const {
    return widened<T, W>(vector_multiply<T>(a_.piece_part(c, count), b_.piece_part(c, count)));
  }

  [[gnu::always_inline]] void prefetch(std::int64_t c, std::int64_t count) const {
    a_.prefetch(c, count);
    b_.prefetch(c, count);
  }

 private:
  A a_;
  B b_;
};

// One complex number for a whole row, with its two parts alternating.
template <class T, class W>
class PairRows {
 public:
  static constexpr auto kBytes = static_cast<std::int64_t>(sizeof(T));

  PairRows(const T* parts, std::int64_t row_stride) : parts_(parts), row_stride_(row_stride) {}

  PairRows row(std::int64_t r) const { return {parts_ + r * row_stride_, row_stride_}; }
  Vector<W> at(std::int64_t /*c*/) const {
    Vector<W> values;
    for (std::int64_t l = 0; l < kLanes<W>; ++l) values[l] = static_cast<W>(parts_[l % 2]);
    return values;
  }
  Vector<W> part(std::int64_t c, std::int64_t /*count*/) const { return at(c); }
  void prefetch(std::int64_t /*c*/, std::int64_t /*count*/) const {}

 private:
  const T* parts_;
  std::int64_t row_stride_;
};

// The prefetch distance in bytes within a long row: hardware prefetching ends at a page boundary.
inline constexpr std::int64_t kFoldAhead = 4096;

// Folds a row into one vector. There are many independent chains: their instructions overlap, and sums are precise,
// since each lane adds only a small part of the terms.
template <class F, class Row>
[[gnu::always_inline]] inline auto fold_row(const Row& row, std::int64_t columns) {
  using W = typename F::Value;
  constexpr int kChains = 8;
  constexpr auto kStep = kChains * kLanes<W>;
  const Vector<W> identity = broadcast(F::identity());
  auto total = identity;
  std::int64_t c = 0;
  if (columns >= kStep) {
    std::array<Vector<W>, kChains> chain;
    unrolled<kChains>([&](auto k) __attribute__((always_inline)) { chain[k] = row.at(k * kLanes<W>); });
    const auto ahead = columns > kFoldAhead / Row::kBytes ? kFoldAhead / Row::kBytes : 0;
    for (c = kStep; c + kStep <= columns; c += kStep) {
      row.prefetch(c + ahead, kStep);
      unrolled<kChains>([&](auto k) __attribute__((always_inline)) {
        chain[k] = F::lanes(chain[k], row.at(c + k * kLanes<W>));
      });
    }
    unrolled<4>([&](auto k) __attribute__((always_inline)) { chain[k] = F::lanes(chain[k], chain[k + 4]); });
    unrolled<2>([&](auto k) __attribute__((always_inline)) { chain[k] = F::lanes(chain[k], chain[k + 2]); });
    total = F::lanes(chain[0], chain[1]);
  }
  for (; c + kLanes<W> <= columns; c += kLanes<W>) total = F::lanes(total, row.at(c));
  if (c < columns) total = F::lanes(total, first_lanes<W>(row.part(c, columns - c), columns - c, identity));
  return total;
}

// Folds as many rows at a time as a vector has lanes (for complex numbers, pairs of lanes). Their vectors are combined
// in pairs, which halves the columns and doubles the rows per vector, until each lane belongs to one row.
template <class F, int kParts, class Values>
void fold_along(typename F::Value* wide, const Values& values, std::int64_t rows, std::int64_t columns, bool first) {
  using W = typename F::Value;
  constexpr auto kRows = kLanes<W> / kParts;
  constexpr auto kRowsAhead =
      kFoldAhead / Values::kBytes;  // of rows, which lie one behind the other where they are short
  for (std::int64_t r = 0; r < rows; r += kRows, wide += kLanes<W>) {
    const auto count = std::min(kRows, rows - r);
    Vector<W> row[kRows];
    for (std::int64_t k = 0; k < count; ++k) {
      const auto here = values.row(r + k);
      if (columns <= kRowsAhead) here.prefetch(kRowsAhead, columns);
      row[k] = fold_row<F>(here, columns);
    }
    auto vectors = count;
    for (auto level = kRows; level > 1; level /= 2) {
      for (std::int64_t k = 0; 2 * k < vectors; ++k) {
        const auto a = row[2 * k];
        const auto b = row[std::min(2 * k + 1, vectors - 1)];
        row[k] = F::lanes(every_second<kParts, 0, W>(a, b), every_second<kParts, 1, W>(a, b));
      }
      vectors = (vectors + 1) / 2;
    }
    const auto lanes = count * kParts;
    if (count == kRows) store(wide, first ? row[0] : F::lanes(load(wide), row[0]));
    else store_part(wide, first ? row[0] : F::lanes(load_part(wide, lanes), row[0]), lanes);
  }
}

template <class F, int kVectors, class Values>
[[gnu::always_inline]] inline void fold_strip(typename F::Value* wide, const Values& values, std::int64_t column,
                                              std::int64_t rows, bool first) {
  using W = typename F::Value;
  constexpr auto kColumns = kVectors * kLanes<W>;
  std::array<Vector<W>, kVectors> strip;
  const auto top = values.row(0);
  if (rows == 1) top.prefetch(column + kFoldAhead / Values::kBytes, kColumns);
  unrolled<kVectors>([&](auto k) __attribute__((always_inline)) { strip[k] = top.at(column + k * kLanes<W>); });
  for (std::int64_t r = 1; r < rows; ++r) {
    const auto row = values.row(r);
    row.prefetch(column + 2 * kColumns, kColumns);
    unrolled<kVectors>([&](auto k) __attribute__((always_inline)) {
      strip[k] = F::lanes(strip[k], row.at(column + k * kLanes<W>));
    });
  }
  unrolled<kVectors>([&](auto k) __attribute__((always_inline)) {
    auto* to = wide + column + k * kLanes<W>;
    store(to, first ? strip[k] : F::lanes(load(to), strip[k]));
  });
}

// A strip of accumulators stays in registers for all rows, and is summed separately first: a sum of n rows in calls of
// r rows has at most r + n / r roundings.
template <class F, class Values>
void fold_down(typename F::Value* wide, const Values& values, std::int64_t rows, std::int64_t columns, bool first) {
  using W = typename F::Value;
  std::int64_t c = 0;
  const auto strips = [&]<int kVectors>(std::integral_constant<int, kVectors>) {
    for (; c + kVectors * kLanes<W> <= columns; c += kVectors * kLanes<W>)
      fold_strip<F, kVectors>(wide, values, c, rows, first);
  };
  strips(std::integral_constant<int, 8>{});
  strips(std::integral_constant<int, 4>{});
  strips(std::integral_constant<int, 1>{});
  if (c == columns) return;
  const auto count = columns - c;
  auto strip = values.row(0).part(c, count);
  for (std::int64_t r = 1; r < rows; ++r) strip = F::lanes(strip, values.row(r).part(c, count));
  store_part(wide + c, first ? strip : F::lanes(load_part(wide + c, count), strip), count);
}

template <class F, int kParts, bool kAlong, class Values>
void fold(typename F::Value* wide, const Values& values, std::int64_t rows, std::int64_t columns, bool first) {
  if constexpr (kAlong) fold_along<F, kParts>(wide, values, rows, columns, first);
  else fold_down<F>(wide, values, rows, columns, first);
}

// Products and extremes of complex numbers, one element at a time.
template <class T, Aggregate kAggregate, bool kAlong>
void fold_one_by_one(void* wide, Rows a, std::int64_t rows, std::int64_t columns, bool first) {
  using W = Accumulator<T, kAggregate>;
  using F = Fold<kAggregate, W>;
  auto* out = static_cast<W*>(wide);
  const auto* in = static_cast<const T*>(a.data);
  if (first) std::fill_n(out, kAlong ? rows : columns, F::identity());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      auto& cell = out[kAlong ? r : c];
      cell = F::apply(cell, static_cast<W>(in[r * a.row_stride + c * a.step]));
    }
  }
}

// Complex numbers are summed by their real parts and imaginary parts.
template <class T, bool kAlong>
void sum_parts(void* wide, Rows a, std::int64_t rows, std::int64_t columns, bool first) {
  using R = typename T::value_type;
  using W = typename Wide<T>::value_type;
  using F = Fold<Aggregate::Sum, W>;
  auto* out = static_cast<W*>(wide);
  const auto* in = static_cast<const R*>(a.data);
  if (a.step != 0) fold<F, 2, kAlong>(out, ValueRows<R, W, true>(in, 2 * a.row_stride), rows, 2 * columns, first);
  else fold<F, 2, kAlong>(out, PairRows<R, W>(in, 2 * a.row_stride), rows, 2 * columns, first);
}

template <class T, Aggregate kAggregate, bool kAlong>
void fold_values(void* wide, Rows a, std::int64_t rows, std::int64_t columns, bool first) {
  if constexpr (!is_complex_type<T>) {
    using W = Accumulator<T, kAggregate>;
    using F = Fold<kAggregate, W>;
    auto* out = static_cast<W*>(wide);
    if (a.step != 0) fold<F, 1, kAlong>(out, ValueRows<T, W, true>(a), rows, columns, first);
    else fold<F, 1, kAlong>(out, ValueRows<T, W, false>(a), rows, columns, first);
  } else if constexpr (kAggregate == Aggregate::Sum) {
    sum_parts<T, kAlong>(wide, a, rows, columns, first);
  } else {
    fold_one_by_one<T, kAggregate, kAlong>(wide, a, rows, columns, first);
  }
}

template <class T, bool kAlong>
void fold_products(void* wide, Rows a, Rows b, std::int64_t rows, std::int64_t columns, bool first) {
  using W = Wide<T>;
  using F = Fold<Aggregate::Sum, W>;
  using Stepping = ValueRows<T, W, true>;
  using Standing = ValueRows<T, W, false>;
  const auto use = [&](auto x, auto y) {
    constexpr bool kStepX = std::is_same_v<decltype(x), Stepping>;
    constexpr bool kStepY = std::is_same_v<decltype(y), Stepping>;
    const ProductRows<T, W, kStepX, kStepY> values(x, y);
    fold<F, 1, kAlong>(static_cast<W*>(wide), values, rows, columns, first);
  };
  if (a.step == 0) std::swap(a, b);
  if (a.step == 0) use(Standing(a), Standing(b));
  else if (b.step == 0) use(Stepping(a), Standing(b));
  else use(Stepping(a), Stepping(b));
}

template <class T, Aggregate kAggregate>
void settle(MatrixView to, const void* wide, std::int64_t rows, std::int64_t columns, bool first) {
  using W = Accumulator<T, kAggregate>;
  const auto* from = static_cast<const W*>(wide);
  for (std::int64_t r = 0; r < rows; ++r, from += columns) {
    auto* out = static_cast<T*>(to.data) + r * to.row_stride;
    if (first) {
      for (std::int64_t c = 0; c < columns; ++c) out[c * to.column_stride] = static_cast<T>(from[c]);
    } else {
      for (std::int64_t c = 0; c < columns; ++c) {
        auto& cell = out[c * to.column_stride];
        cell = static_cast<T>(Fold<kAggregate, W>::apply(static_cast<W>(cell), from[c]));
      }
    }
  }
}

template <class T, Aggregate kAggregate>
void combine(void* into, const void* from, std::int64_t count) {
  auto* __restrict out = static_cast<T*>(into);
  const auto* __restrict in = static_cast<const T*>(from);
  if constexpr (is_complex_type<T>) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = Fold<kAggregate, T>::apply(out[i], in[i]);
  } else {
    fold_down<Fold<kAggregate, T>>(out, ValueRows<T, T, true>(in, 0), 1, count, false);
  }
}

template <class T, Aggregate kAggregate>
void fill_aggregate(ElementTable& table) {
  constexpr auto slot = slot_of(kAggregate);
  table.along[slot] = fold_values<T, kAggregate, true>;
  table.down[slot] = fold_values<T, kAggregate, false>;
  table.settle[slot] = settle<T, kAggregate>;
  table.combine[slot] = combine<T, kAggregate>;
}

template <class T>
void fill_aggregates(ElementTable& table) {
  fill_aggregate<T, Aggregate::Sum>(table);
  fill_aggregate<T, Aggregate::Prod>(table);
  fill_aggregate<T, Aggregate::Min>(table);
  fill_aggregate<T, Aggregate::Max>(table);
  if constexpr (std::is_floating_point_v<T>) fill_aggregate<T, Aggregate::LogSumExp>(table);
  if constexpr (std::is_same_v<T, std::complex<double>>) {
    fill_aggregate<T, Aggregate::FirstLeast>(table);
    fill_aggregate<T, Aggregate::FirstGreatest>(table);
  }
  if constexpr (!is_complex_type<T>) {
    table.multiply_along = fold_products<T, true>;
    table.multiply_down = fold_products<T, false>;
  }
}

}  // namespace eindb::EINDB_LEVEL
