#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace eindb {

/// A floating-point type of at most 16 bits: a sign, exponent bits, fraction bits. As in IEEE 754 the largest exponent
/// has infinity and NaN, unless `kFinite`: then it has numbers like any other, and only the pattern of ones is NaN
/// (OCP 8-bit floating point, E4M3).
template <unsigned kExponent, unsigned kFraction, bool kOnlyFinite = false>
struct SmallFloat {
  using Bits = std::conditional_t<(1 + kExponent + kFraction > 8), std::uint16_t, std::uint8_t>;
  static constexpr unsigned kExponentBits = kExponent;
  static constexpr unsigned kFractionBits = kFraction;
  static constexpr bool kFinite = kOnlyFinite;
  static constexpr std::uint32_t kSign = 1U << (kExponent + kFraction);
  static constexpr std::uint32_t kTop = (kSign - 1) >> kFraction << kFraction;  ///< the largest exponent
  static constexpr std::uint32_t kOverflow = kFinite ? kSign - 1 : kTop;        ///< infinity, or else NaN
  static constexpr std::uint32_t kNan = kFinite ? kSign - 1 : kTop | 1U << (kFraction - 1);
  static constexpr int kLeastExponent = 2 - (1 << (kExponent - 1));  ///< of normal numbers

  Bits bits;
};
/// IEEE 754 binary16.
using Half = SmallFloat<5, 10>;
/// bfloat16, the upper half of a binary32.
using BrainFloat = SmallFloat<8, 7>;
/// OCP's 8-bit floating-point types.
using Float8E4M3 = SmallFloat<4, 3, true>;
using Float8E5M2 = SmallFloat<5, 2>;

/// Rounds to the nearest number of a small type, ties to even: too large values become infinite (NaN, where there is no
/// infinity), small ones subnormal; NaN stays a quiet NaN with its sign.
///
/// Example, binary16 (exponents from -14): 1 + 1/2048 lies halfway between 1 = 0x3C00 and 0x3C01, and becomes the even
/// 0x3C00. In bits: of the 53 bits of the significand, 42 are cut off. The cut part is compared with one half of the
/// last bit kept, and a carry propagates into the exponent by itself.
template <class Small>
Small round_to(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = bits >> 63U != 0 ? Small::kSign : 0U;
  const auto give = [&](std::uint64_t magnitude) { return Small{static_cast<typename Small::Bits>(sign | magnitude)}; };
  const auto magnitude = bits & 0x7FFF'FFFF'FFFF'FFFFU;
  if (magnitude > 0x7FF0'0000'0000'0000U) return give(Small::kNan);

  const int exponent = static_cast<int>(magnitude >> 52U) - 1023;
  const int below = exponent < Small::kLeastExponent ? Small::kLeastExponent - exponent : 0;  // bits a subnormal loses
  const unsigned cut = 52 - Small::kFractionBits + static_cast<unsigned>(below);
  if (below > 54 || cut > 54) return give(0);
  const auto significand = (magnitude & 0x000F'FFFF'FFFF'FFFFU) | std::uint64_t{1} << 52U;
  const auto kept = significand >> cut;
  const auto rest = significand & ((std::uint64_t{1} << cut) - 1);
  const auto half = std::uint64_t{1} << (cut - 1);
  const std::uint64_t carry = rest > half || (rest == half && kept % 2 == 1) ? 1 : 0;
  const auto scale = static_cast<std::uint64_t>(exponent + below - Small::kLeastExponent) << Small::kFractionBits;
  const auto rounded = scale + kept + carry;
  return give(rounded > Small::kOverflow ? Small::kOverflow : rounded);
}

/// The number, which FLOAT32 holds exactly.
inline float widen(BrainFloat value) { return std::bit_cast<float>(std::uint32_t{value.bits} << 16U); }

/// The exponent is moved to its place in a binary32 and gets the difference of the two biases by a multiplication,
/// which is exact for subnormal numbers, too.
template <class Small>
float widen(Small value) {
  constexpr auto kShift = 23U - Small::kFractionBits;
  constexpr auto kBiases = static_cast<std::uint32_t>(127 + Small::kLeastExponent - 1);  // 127 - bias
  constexpr auto kScale = std::bit_cast<float>((127 + kBiases) << 23U);                  // 2^(127 - bias)
  const auto magnitude = value.bits & (Small::kSign - 1);
  const auto scaled = std::bit_cast<float>(magnitude << kShift) * kScale;
  auto bits = std::bit_cast<std::uint32_t>(scaled);
  // Infinity and NaN have the largest exponent in both types.
  if constexpr (Small::kFinite) bits = magnitude == Small::kNan ? 0x7FC0'0000U : bits;
  else bits = magnitude >= Small::kTop ? 0x7F80'0000U | (magnitude << kShift & 0x007F'FFFFU) : bits;
  return std::bit_cast<float>(bits | ((value.bits & Small::kSign) != 0 ? 0x8000'0000U : 0U));
}

}  // namespace eindb
