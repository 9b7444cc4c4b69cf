#pragma once

#include <array>
#include <cstring>
#include <random>

#include "tensor/tile.hpp"

namespace eindb {

inline constexpr std::array<DType, 5> kAllTypes{DType::Float32, DType::Float64, DType::Complex64, DType::Complex128,
                                                DType::Int64};

/// Small integers of either sign in each part, which every type represents exactly.
inline Tile random_tile(std::mt19937_64& random, DType type, const Shape& shape) {
  auto tile = Tile::zeros(type, shape);
  const auto draw = [&] { return static_cast<double>(static_cast<int>(random() % 2001) - 1000) + 0.0; };
  dispatch(type, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t n = 0; n < shape.element_count(); ++n) {
      if constexpr (std::is_arithmetic_v<T>) {
        tile.mutable_data<T>()[n] = static_cast<T>(draw());
      } else {
        using Part = typename T::value_type;
        tile.mutable_data<T>()[n] = T(static_cast<Part>(draw()), static_cast<Part>(draw()));
      }
    }
  });
  return tile;
}

inline bool same_tile(const Tile& a, const Tile& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.bytes().data(), b.bytes().data(), a.byte_size()) == 0;
}

}  // namespace eindb
