#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb::testing {

/// A value for an input in which every other element is NaN, an infinity, a zero of either sign or too large for sums;
/// for INT64 the smallest and largest numbers are included. Deterministic in the vertex's name and `seed`.
inline DenseTensor special_value_of(const Vertex& vertex, unsigned seed, bool nan = true) {
  auto tensor = DenseTensor::uninitialized(vertex.dtype, vertex.bound);
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>{}(vertex.name)) + seed);
  dispatch(vertex.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    auto* values = tensor.template mutable_data<T>();
    for (std::int64_t n = 0; n < vertex.bound.element_count(); ++n) {
      const auto plain = static_cast<T>(static_cast<int>(random() % 7) - 3);
      if constexpr (std::is_integral_v<T>) {
        const T special[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 0, -1};
        values[n] = random() % 4 == 0 ? special[random() % 4] : plain;
      } else if constexpr (std::is_floating_point_v<T>) {
        constexpr auto kInfinity = std::numeric_limits<T>::infinity();
        const T special[] = {kInfinity, -kInfinity, T(0), T(-0.0), T(0.5), std::numeric_limits<T>::quiet_NaN()};
        values[n] = random() % 3 == 0 ? special[random() % (nan ? 6 : 5)] : plain;
      } else {
        values[n] = plain;
      }
    }
  });
  return tensor;
}

/// Compares bit by bit, except for the bits of NaN; +0 equals -0 unless `zeros_differ`.
inline bool same_values(const DenseTensor& a, const DenseTensor& b, bool zeros_differ = true) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return dispatch(a.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t n = 0; n < a.shape().element_count(); ++n) {
      const T x = a.template data<T>()[n];
      const T y = b.template data<T>()[n];
      if (x != x && y != y) continue;
      // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): 0 and -0 are to differ
      if (zeros_differ ? std::memcmp(&x, &y, sizeof x) != 0 : x != y) return false;
    }
    return true;
  });
}

}  // namespace eindb::testing
