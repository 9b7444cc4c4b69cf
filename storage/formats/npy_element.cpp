#include "storage/formats/npy_element.hpp"

#include <bit>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "common/check.hpp"
#include "tensor/small_float.hpp"

namespace eindb {
namespace {

struct Bool {
  std::uint8_t bits;
};

template <class T>
inline constexpr bool is_small_float = false;
template <unsigned kExponent, unsigned kFraction, bool kFinite>
inline constexpr bool is_small_float<SmallFloat<kExponent, kFraction, kFinite>> = true;

std::uint8_t reversed(std::uint8_t v) { return v; }
std::uint16_t reversed(std::uint16_t v) { return __builtin_bswap16(v); }
std::uint32_t reversed(std::uint32_t v) { return __builtin_bswap32(v); }
std::uint64_t reversed(std::uint64_t v) { return __builtin_bswap64(v); }

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                                     std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T, bool kSwap>
T load(const std::byte* source) {
  BitsOf<T> bits{};
  std::memcpy(&bits, source, sizeof bits);
  return std::bit_cast<T>(kSwap ? reversed(bits) : bits);
}

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;

/// False if the element does not fit INT64.
template <class Source, bool kSwap, class Target>
bool convert_one(const std::byte* source, Target& target) {
  if constexpr (is_complex_number<Source>) {
    using Part = typename Source::value_type;
    target = {load<Part, kSwap>(source), load<Part, kSwap>(source + sizeof(Part))};
  } else {
    const auto value = load<Source, kSwap>(source);
    if constexpr (is_small_float<Source>) target = widen(value);
    else if constexpr (std::is_same_v<Source, Bool>) target = value.bits != 0 ? 1 : 0;
    else target = static_cast<Target>(value);  // NOLINT(bugprone-signed-char-misuse): an int8 is a number
    if constexpr (std::is_same_v<Source, std::uint64_t>) return value <= std::numeric_limits<std::int64_t>::max();
  }
  return true;
}

template <class Source, class Target, bool kSwap>
std::int64_t convert(const std::byte* source, std::byte* target, std::int64_t count, std::int64_t stride) {
  for (std::int64_t n = 0; n < count; ++n) {
    Target value{};
    if (!convert_one<Source, kSwap>(source + n * static_cast<std::int64_t>(sizeof(Source)), value)) return n;
    std::memcpy(target + n * stride * static_cast<std::int64_t>(sizeof(Target)), &value, sizeof value);
  }
  return count;
}

template <class Source, class Target>
NpyConversion either_order(const NpyElement& element) {
  return element.big_endian ? &convert<Source, Target, true> : &convert<Source, Target, false>;
}

template <class S1, class S2, class S4, class S8>
NpyConversion integers(const NpyElement& element) {
  switch (element.size) {
    case 1: return either_order<S1, std::int64_t>(element);
    case 2: return either_order<S2, std::int64_t>(element);
    case 4: return either_order<S4, std::int64_t>(element);
    default: return either_order<S8, std::int64_t>(element);
  }
}

}  // namespace

NpyConversion npy_conversion(const NpyElement& element) {
  switch (element.kind) {
    case 'f':
      if (element.size == 2) return either_order<Half, float>(element);
      if (element.size == 4) return either_order<float, float>(element);
      return either_order<double, double>(element);
    case 'c':
      if (element.size == 8) return either_order<std::complex<float>, std::complex<float>>(element);
      return either_order<std::complex<double>, std::complex<double>>(element);
    case 'B': return either_order<BrainFloat, float>(element);
    case '4': return either_order<Float8E4M3, float>(element);
    case '5': return either_order<Float8E5M2, float>(element);
    case 'i': return integers<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(element);
    case 'u': return integers<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(element);
    default: CHECK(element.kind == 'b', "the header was verified"); return either_order<Bool, std::int64_t>(element);
  }
}

bool is_native(const NpyElement& element) {
  const bool same_type =
      element.kind == 'c' || (element.kind == 'f' && element.size > 2) || (element.kind == 'i' && element.size == 8);
  return same_type && !element.big_endian;
}

}  // namespace eindb
