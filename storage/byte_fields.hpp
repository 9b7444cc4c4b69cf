#pragma once

#include <cstddef>
#include <cstring>
#include <span>

namespace eindb {

/// Fields of the headers that are stored in rows: numbers at fixed offsets, little-endian as the machine is. Sizes are
/// the caller's to check.
template <class T>
void put_field(std::span<std::byte> target, std::size_t offset, T value) {
  std::memcpy(target.data() + offset, &value, sizeof value);
}

template <class T>
T get_field(std::span<const std::byte> source, std::size_t offset) {
  T value{};
  std::memcpy(&value, source.data() + offset, sizeof value);
  return value;
}

}  // namespace eindb
