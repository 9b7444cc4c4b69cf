#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace eindb {

/// Integer arithmetic that throws Error{Shape} instead of wrapping. All sizes, offsets and counts derived from shapes
/// use it. Thread-safe, no state.
std::int64_t checked_multiply(std::int64_t a, std::int64_t b);
std::int64_t checked_add(std::int64_t a, std::int64_t b);
/// The product of all values, 1 for none. A zero factor gives zero even if the others would overflow.
std::int64_t checked_product(std::span<const std::int64_t> values);
/// Like checked_product, but nullopt on overflow.
std::optional<std::int64_t> try_product(std::span<const std::int64_t> values);

/// ceil(a / b) for a >= 0, b > 0.
constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

/// floor(q * extent / parts) without overflow, for 0 <= q <= parts, extent >= 0, parts > 0.
constexpr std::int64_t scaled_floor(std::int64_t q, std::int64_t extent, std::int64_t parts) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(q, extent, &product)) return product / parts;  // much faster
  return static_cast<std::int64_t>(static_cast<__int128>(q) * extent / parts);
}

constexpr bool is_power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

}  // namespace eindb
