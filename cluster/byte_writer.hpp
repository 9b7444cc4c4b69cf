#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/check.hpp"

namespace eindb {

/// Writes the fields of a message in sequence, for ByteReader. Integers are in groups of seven bits, the lowest first,
/// in as many bytes as necessary; other values are little-endian.
class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(std::byte{value}); }
  void flag(bool value) { byte(value ? 1 : 0); }
  void number(std::uint64_t value) {
    for (; value >= kMore; value >>= kBits) byte(static_cast<std::uint8_t>(value | kMore));
    byte(static_cast<std::uint8_t>(value));
  }
  /// Writes an extent, a count or an index, which must not be negative.
  void size(std::int64_t value) {
    CHECK(value >= 0, "an extent, a count, an index is not negative");
    number(static_cast<std::uint64_t>(value));
  }
  /// Writes a signed integer; integers close to zero are short.
  void integer(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    number(value < 0 ? ~(bits << 1U) : bits << 1U);
  }
  void real(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned shift = 0; shift < 64; shift += 8) byte(static_cast<std::uint8_t>(bits >> shift));
  }
  template <class E>
  requires std::is_enum_v<E>
  void choice(E value) { byte(static_cast<std::uint8_t>(value)); }
  void bytes(std::span<const std::byte> value) {
    number(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void text(std::string_view value) { bytes(std::as_bytes(std::span(value))); }

  template <class Items, class Put>
  void list(const Items& items, const Put& put) {
    number(items.size());
    for (const auto& item : items) put(item);
  }
  template <class T, class Put>
  void optional(const std::optional<T>& value, const Put& put) {
    flag(value.has_value());
    if (value) put(*value);
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  static constexpr unsigned kBits = 7;
  static constexpr std::uint64_t kMore = 1U << kBits;

  std::vector<std::byte> bytes_;
};

}  // namespace eindb
