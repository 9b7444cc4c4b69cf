#pragma once

#include <bit>
#include <cstdint>

namespace eindb {

/// Rounds to the nearest number of a 16-bit floating-point type with `kFractionBits` of fraction, ties to even, as in
/// IEEE 754: too large values become infinite, small ones subnormal; NaN stays a quiet NaN with its sign.
///
/// Example, IEEE binary16 (10 bits of fraction, exponents from -14): 1 + 1/2048 lies halfway between 1 = 0x3C00 and
/// 0x3C01, and becomes the even 0x3C00. In bits: of the 53 bits of the significand, 42 are cut off. The cut part is
/// compared with one half of the last bit kept, and a carry propagates into the exponent by itself.
template <unsigned kFractionBits>
std::uint16_t round_to_16_bits(double value) {
  constexpr int kLeastExponent = 2 - (1 << (14U - kFractionBits));
  constexpr std::uint64_t kInfinity = 0x7FFFU >> kFractionBits << kFractionBits;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 48U & 0x8000U);
  const auto magnitude = bits & 0x7FFF'FFFF'FFFF'FFFFU;
  if (magnitude > 0x7FF0'0000'0000'0000U)
    return static_cast<std::uint16_t>(sign | kInfinity | std::uint64_t{1} << (kFractionBits - 1));

  const int exponent = static_cast<int>(magnitude >> 52U) - 1023;
  const int below = exponent < kLeastExponent ? kLeastExponent - exponent : 0;  // bits that a subnormal loses
  if (below > 54) return sign;
  const auto significand = (magnitude & 0x000F'FFFF'FFFF'FFFFU) | std::uint64_t{1} << 52U;
  const unsigned cut = 52 - kFractionBits + static_cast<unsigned>(below);
  if (cut > 54) return sign;
  const auto kept = significand >> cut;
  const auto rest = significand & ((std::uint64_t{1} << cut) - 1);
  const auto half = std::uint64_t{1} << (cut - 1);
  const std::uint64_t carry = rest > half || (rest == half && kept % 2 == 1) ? 1 : 0;
  const auto scale = static_cast<std::uint64_t>(exponent + below - kLeastExponent) << kFractionBits;
  const auto rounded = scale + kept + carry;
  return static_cast<std::uint16_t>(sign | (rounded > kInfinity ? kInfinity : rounded));
}

/// IEEE 754 binary16: 5 bits of exponent, 10 of fraction.
inline std::uint16_t to_half(double value) { return round_to_16_bits<10>(value); }
/// bfloat16, the upper half of a binary32: 8 bits of exponent, 7 of fraction.
inline std::uint16_t to_brain_float(double value) { return round_to_16_bits<7>(value); }

}  // namespace eindb
