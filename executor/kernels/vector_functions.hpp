#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace eindb {

/// The indices of the first `order.size()` of the values in ascending or descending order. NaN come last either way,
/// and equal values in the order of their indices.
template <class T>
void order_indices(std::span<const T> values, bool descending, std::span<std::int64_t> order);

/// Whether two values are one: both zeros are, and all NaN.
template <class T>
bool are_equal_or_nan(T a, T b) {
  return a == b || (a != a && b != b);
}

/// The value below which a share of the values lies, between two of them in proportion, as NumPy's method "linear" has
/// it; NaN if there is one. `values`, at least one, are put in another order.
template <class T>
T quantile_of(std::span<T> values, double share);

/// The value that occurs most often, of several the least; all NaN are equal and greatest. At least one value; they are
/// put in another order.
template <class T>
T mode_of(std::span<T> values);

/// The number of different values, all NaN being one. They are put in another order.
template <class T>
std::int64_t distinct_of(std::span<T> values);

/// The different values among `values` in ascending order, NaN last and all of them one: `number(n, u)` is called for
/// each value n with its number u among them, and where it is the first of them `first(u, n)`, before that. Calls for
/// equal values come in the order of their indices. Returns how many there are.
template <class T, class First, class Number>
std::int64_t for_each_unique(std::span<const T> values, First&& first, Number&& number) {
  std::vector<std::int64_t> order(values.size());
  order_indices<T>(values, false, order);
  std::int64_t found = 0;
  for (std::size_t n = 0; n < order.size(); ++n) {
    const auto value = values[static_cast<std::size_t>(order[n])];
    const bool is_new = n == 0 || !are_equal_or_nan(values[static_cast<std::size_t>(order[n - 1])], value);
    if (is_new) first(found++, order[n]);
    number(order[n], found - 1);
  }
  return found;
}

}  // namespace eindb
