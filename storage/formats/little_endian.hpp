#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace eindb {

// Integers of byte formats that are little-endian, as every machine is that eindb runs on.

/// The integer at `source`, which has sizeof(T) bytes.
template <class T>
T load_little_endian(const std::byte* source) {
  static_assert(std::is_unsigned_v<T>);
  T value{};
  std::memcpy(&value, source, sizeof value);
  return value;
}

template <class T>
void append_little_endian(std::string& out, T value) {
  static_assert(std::is_unsigned_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace eindb
