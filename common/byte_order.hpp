#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/check.hpp"

namespace eindb {

/// Integers in stored or sent headers: little-endian, at any offset.
template <class T>
void store_number(std::span<std::byte> to, std::size_t offset, T value) {
  CHECK(offset + sizeof(T) <= to.size(), "a number lies within its bytes");
  for (std::size_t n = 0; n < sizeof(T); ++n)
    to[offset + n] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> 8 * n);
}

template <class T>
T load_number(std::span<const std::byte> from, std::size_t offset) {
  CHECK(offset + sizeof(T) <= from.size(), "a number lies within its bytes");
  std::uint64_t value = 0;
  for (std::size_t n = 0; n < sizeof(T); ++n) value |= std::to_integer<std::uint64_t>(from[offset + n]) << 8 * n;
  return static_cast<T>(value);
}

}  // namespace eindb
