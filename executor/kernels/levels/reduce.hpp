#pragma once

#include "executor/kernels/levels/elementwise.hpp"

/// Aggregation: into blocks of accumulators (across), of rows into one accumulator each (along), and of accumulators
/// into the result (settle). Accumulators are wide: float sums are taken in double.
namespace eindb::EINDB_LEVEL {

template <class T>
struct WideType {
  using type = T;
};
template <>
struct WideType<float> {
  using type = double;
};
template <>
struct WideType<std::complex<float>> {
  using type = std::complex<double>;
};
template <class T>
using Wide = typename WideType<T>::type;

/// What values are accumulated in: sums and products in double precision, extremes as they are.
template <class T, Aggregate kAggregate>
using Accumulator = std::conditional_t<kAggregate == Aggregate::Sum || kAggregate == Aggregate::Prod, Wide<T>, T>;

/// aggregate(a, b) and its neutral element.
template <Aggregate kAggregate, class W>
struct Fold {
  static W apply(W a, W b) {
    if constexpr (kAggregate == Aggregate::Sum) return scalar_add(a, b);
    else if constexpr (kAggregate == Aggregate::Prod) return scalar_multiply(a, b);
    else if constexpr (kAggregate == Aggregate::Min) return least(a, b);
    else return greatest(a, b);
  }
  static W identity() { return identity_of<W>(kAggregate); }
};

// The value i of a one-argument or a fused two-argument aggregation.
template <class T, class W, bool kStep>
struct OneValue {
  const T* a;
  W operator()(std::int64_t i) const { return static_cast<W>(a[kStep ? i : 0]); }
};
template <class T, bool kStepA, bool kStepB>
struct ProductValue {
  const T* a;
  const T* b;
  Wide<T> operator()(std::int64_t i) const {
    return static_cast<Wide<T>>(scalar_multiply(a[kStepA ? i : 0], b[kStepB ? i : 0]));
  }
};

template <class F, class W, class Value>
void fold_across(W* __restrict wide, Value value, std::int64_t count, bool first) {
  if (first) {
    for (std::int64_t i = 0; i < count; ++i) wide[i] = F::apply(F::identity(), value(i));
  } else {
    for (std::int64_t i = 0; i < count; ++i) wide[i] = F::apply(wide[i], value(i));
  }
}

// Many independent lanes: vector code without reassociation by the compiler, and a sum that is exact enough, since
// each lane adds only a small part of the terms.
template <class F, std::int64_t kLanes, class W, class Value>
W fold_row(Value value, std::int64_t begin, std::int64_t columns) {
  W lanes[kLanes];
  for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = value(begin + l);
  std::int64_t c = kLanes;
  for (; c + kLanes <= columns; c += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = F::apply(lanes[l], value(begin + c + l));
  for (auto half = kLanes / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) lanes[l] = F::apply(lanes[l], lanes[l + half]);
  auto total = lanes[0];
  for (; c < columns; ++c) total = F::apply(total, value(begin + c));
  return total;
}

// Rows of a few columns: a lane for each of several rows.
template <class F, std::int64_t kLanes, class W, class Value>
void fold_short_rows(W* __restrict wide, Value value, std::int64_t rows, std::int64_t columns, bool first) {
  std::int64_t r = 0;
  for (; r + kLanes <= rows; r += kLanes) {
    W lanes[kLanes];
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = first ? F::identity() : wide[r + l];
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = F::apply(lanes[l], value((r + l) * columns + c));
    for (std::int64_t l = 0; l < kLanes; ++l) wide[r + l] = lanes[l];
  }
  for (; r < rows; ++r) {
    auto total = first ? F::identity() : wide[r];
    for (std::int64_t c = 0; c < columns; ++c) total = F::apply(total, value(r * columns + c));
    wide[r] = total;
  }
}

template <class F, class W, class Value>
void fold_along(W* __restrict wide, Value value, std::int64_t rows, std::int64_t columns, bool first) {
  constexpr std::int64_t kMost = is_complex_type<W> ? 8 : 32;
  constexpr std::int64_t kFew = is_complex_type<W> ? 4 : 8;
  // What the lanes of a row have is added up at its end: few where rows are short.
  if (columns < kFew) return fold_short_rows<F, kFew>(wide, value, rows, columns, first);
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto begin = r * columns;
    const W total = columns < 8 * kMost ? fold_row<F, kFew, W>(value, begin, columns)
                                        : fold_row<F, kMost, W>(value, begin, columns);
    wide[r] = first ? total : F::apply(wide[r], total);
  }
}

// A strip of accumulators stays in registers for all rows. They are added up by themselves first: a sum of n rows in
// calls of r of them is off by at most r + n / r roundings.
template <class T, Aggregate kAggregate>
void down(void* wide, const void* a, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, bool first) {
  using W = Accumulator<T, kAggregate>;
  using F = Fold<kAggregate, W>;
  constexpr std::int64_t kStrip = is_complex_type<W> ? 8 : 64;
  auto* __restrict out = static_cast<W*>(wide);
  const auto* in = static_cast<const T*>(a);
  std::int64_t c = 0;
  for (; c + kStrip <= columns; c += kStrip) {
    W strip[kStrip];
    for (std::int64_t l = 0; l < kStrip; ++l) strip[l] = static_cast<W>(in[c + l]);
    for (std::int64_t r = 1; r < rows; ++r)
      for (std::int64_t l = 0; l < kStrip; ++l)
        strip[l] = F::apply(strip[l], static_cast<W>(in[r * row_stride + c + l]));
    for (std::int64_t l = 0; l < kStrip; ++l) out[c + l] = first ? strip[l] : F::apply(out[c + l], strip[l]);
  }
  for (; c < columns; ++c) {
    auto total = static_cast<W>(in[c]);
    for (std::int64_t r = 1; r < rows; ++r) total = F::apply(total, static_cast<W>(in[r * row_stride + c]));
    out[c] = first ? total : F::apply(out[c], total);
  }
}

template <class T, class W, class Use>
void with_values(Values a, Use use) {
  const auto* x = static_cast<const T*>(a.data);
  if (a.step != 0) use(OneValue<T, W, true>{x});
  else use(OneValue<T, W, false>{x});
}
template <class T, class Use>
void with_products(Values a, Values b, Use use) {
  if (a.step == 0) std::swap(a, b);
  const auto* x = static_cast<const T*>(a.data);
  const auto* y = static_cast<const T*>(b.data);
  if (a.step == 0) use(ProductValue<T, false, false>{x, y});
  else if (b.step == 0) use(ProductValue<T, true, false>{x, y});
  else use(ProductValue<T, true, true>{x, y});
}

template <class T, Aggregate kAggregate>
void across(void* wide, Values a, std::int64_t count, bool first) {
  using W = Accumulator<T, kAggregate>;
  with_values<T, W>(a,
                    [&](auto value) { fold_across<Fold<kAggregate, W>>(static_cast<W*>(wide), value, count, first); });
}
template <class T, Aggregate kAggregate>
void along(void* wide, Values a, std::int64_t rows, std::int64_t columns, bool first) {
  using W = Accumulator<T, kAggregate>;
  with_values<T, W>(
      a, [&](auto value) { fold_along<Fold<kAggregate, W>>(static_cast<W*>(wide), value, rows, columns, first); });
}
template <class T>
void multiply_across(void* wide, Values a, Values b, std::int64_t count, bool first) {
  with_products<T>(a, b, [&](auto value) {
    fold_across<Fold<Aggregate::Sum, Wide<T>>>(static_cast<Wide<T>*>(wide), value, count, first);
  });
}
template <class T>
void multiply_along(void* wide, Values a, Values b, std::int64_t rows, std::int64_t columns, bool first) {
  with_products<T>(a, b, [&](auto value) {
    fold_along<Fold<Aggregate::Sum, Wide<T>>>(static_cast<Wide<T>*>(wide), value, rows, columns, first);
  });
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
  for (std::int64_t i = 0; i < count; ++i) out[i] = Fold<kAggregate, T>::apply(out[i], in[i]);
}

template <class T, Aggregate kAggregate>
void fill_aggregate(ElementTable& table) {
  constexpr auto slot = slot_of(kAggregate);
  table.across[slot] = across<T, kAggregate>;
  table.along[slot] = along<T, kAggregate>;
  table.down[slot] = down<T, kAggregate>;
  table.settle[slot] = settle<T, kAggregate>;
  table.combine[slot] = combine<T, kAggregate>;
}

template <class T>
void fill_aggregates(ElementTable& table) {
  fill_aggregate<T, Aggregate::Sum>(table);
  fill_aggregate<T, Aggregate::Prod>(table);
  fill_aggregate<T, Aggregate::Min>(table);
  fill_aggregate<T, Aggregate::Max>(table);
  if constexpr (!is_complex_type<T>) {
    table.multiply_across = multiply_across<T>;
    table.multiply_along = multiply_along<T>;
  }
}

}  // namespace eindb::EINDB_LEVEL
