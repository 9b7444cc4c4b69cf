#pragma once

#include <bit>
#include <concepts>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/check.hpp"

namespace eindb {

// eindb supports only little-endian machines.
static_assert(std::endian::native == std::endian::little);

/// Reads a big-endian integer from the beginning of `bytes`, which must be long enough.
template <std::integral T>
T load_big_endian(std::string_view bytes) {
  DCHECK(bytes.size() >= sizeof(T), "an integer has all of its bytes");
  std::make_unsigned_t<T> value = 0;
  for (std::size_t n = 0; n < sizeof(T); ++n)
    value = static_cast<std::make_unsigned_t<T>>((static_cast<std::uint64_t>(value) << 8U) |
                                                 static_cast<unsigned char>(bytes[n]));
  return static_cast<T>(value);
}

/// Writes a big-endian integer to `to`.
template <std::integral T>
void store_big_endian(char* to, T value) {
  auto rest = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t n = sizeof(T); n-- > 0;) {
    to[n] = static_cast<char>(rest & 0xFFU);
    rest = static_cast<std::make_unsigned_t<T>>(static_cast<std::uint64_t>(rest) >> 8U);
  }
}

template <std::integral T>
void append_big_endian(std::string& out, T value) {
  char bytes[sizeof(T)];
  store_big_endian(bytes, value);
  out.append(bytes, sizeof(T));
}

}  // namespace eindb
