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
template <class T, bool kStep>
struct OneValue {
  const T* a;
  Wide<T> operator()(std::int64_t i) const { return static_cast<Wide<T>>(a[kStep ? i : 0]); }
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
template <class F, class W, class Value>
void fold_along(W* __restrict wide, Value value, std::int64_t rows, std::int64_t columns, bool first) {
  constexpr std::int64_t kLanes = is_complex_type<W> ? 8 : 32;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto begin = r * columns;
    auto total = F::identity();
    std::int64_t c = 0;
    if (columns >= kLanes) {
      W lanes[kLanes];
      for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = value(begin + l);
      for (c = kLanes; c + kLanes <= columns; c += kLanes)
        for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = F::apply(lanes[l], value(begin + c + l));
      for (auto half = kLanes / 2; half > 0; half /= 2)
        for (std::int64_t l = 0; l < half; ++l) lanes[l] = F::apply(lanes[l], lanes[l + half]);
      total = F::apply(total, lanes[0]);
    }
    for (; c < columns; ++c) total = F::apply(total, value(begin + c));
    wide[r] = first ? total : F::apply(wide[r], total);
  }
}

template <class T, class Use>
void with_values(Values a, Use use) {
  const auto* x = static_cast<const T*>(a.data);
  if (a.step != 0) use(OneValue<T, true>{x});
  else use(OneValue<T, false>{x});
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
  with_values<T>(
      a, [&](auto value) { fold_across<Fold<kAggregate, Wide<T>>>(static_cast<Wide<T>*>(wide), value, count, first); });
}
template <class T, Aggregate kAggregate>
void along(void* wide, Values a, std::int64_t rows, std::int64_t columns, bool first) {
  with_values<T>(a, [&](auto value) {
    fold_along<Fold<kAggregate, Wide<T>>>(static_cast<Wide<T>*>(wide), value, rows, columns, first);
  });
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
  const auto* from = static_cast<const Wide<T>*>(wide);
  for (std::int64_t r = 0; r < rows; ++r, from += columns) {
    auto* out = static_cast<T*>(to.data) + r * to.row_stride;
    if (first) {
      for (std::int64_t c = 0; c < columns; ++c) out[c * to.column_stride] = static_cast<T>(from[c]);
    } else {
      for (std::int64_t c = 0; c < columns; ++c) {
        auto& cell = out[c * to.column_stride];
        cell = static_cast<T>(Fold<kAggregate, Wide<T>>::apply(static_cast<Wide<T>>(cell), from[c]));
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
