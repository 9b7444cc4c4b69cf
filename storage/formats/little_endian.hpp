#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

namespace eindb {

// Little-endian integers of byte formats. eindb only runs on little-endian machines.

/// Reads the sizeof(T) bytes at `source`.
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
