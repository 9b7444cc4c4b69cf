#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>

namespace eindb {

/// The indices of the first `order.size()` of the values in ascending or descending order. NaN come last either way,
/// and equal values in the order of their indices.
template <class T>
void order_indices(std::span<const T> values, bool descending, std::span<std::int64_t> order);

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

/// The discrete Fourier transform of `values` into `result`, of the same number; inverse, it is divided by it.
template <class T>
void fourier(std::span<const std::complex<T>> values, bool inverse, std::span<std::complex<T>> result);

}  // namespace eindb
