#include "tensor/cell_encoding.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "common/check.hpp"
#include "tensor/small_float.hpp"

namespace eindb {
namespace {

// Values and encoded cells lie at any address: they are copied in small groups, which become vectors.
template <class T>
T load_at(const std::byte* from, std::int64_t index) {
  T value;
  std::memcpy(&value, from + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}
template <class T>
void store_at(std::byte* to, std::int64_t index, T value) {
  std::memcpy(to + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

// ---- Integers ----

template <class Small>
std::optional<std::int64_t> encode_integers(const std::byte* values, std::int64_t cells, std::byte* target) {
  for (std::int64_t n = 0; n < cells; ++n) {
    const auto value = load_at<std::int64_t>(values, n);
    if (!std::in_range<Small>(value)) return n;
    store_at(target, n, static_cast<Small>(value));
  }
  return std::nullopt;
}

template <class Small, class Value>
void decode_integers(const std::byte* source, std::int64_t cells, std::byte* values) {
  for (std::int64_t n = 0; n < cells; ++n) store_at(values, n, static_cast<Value>(load_at<Small>(source, n)));
}

std::optional<std::int64_t> encode_bits(const std::byte* values, std::int64_t cells, std::byte* target) {
  for (std::int64_t first = 0; first < cells; first += 8) {
    unsigned bits = 0;
    for (std::int64_t n = first; n < std::min(first + 8, cells); ++n) {
      const auto value = load_at<std::int64_t>(values, n);
      if (value != 0 && value != 1) return n;
      bits |= static_cast<unsigned>(value) << static_cast<unsigned>(n - first);
    }
    target[first / 8] = static_cast<std::byte>(bits);
  }
  return std::nullopt;
}

template <class Value>
void decode_bits(const std::byte* source, std::int64_t cells, std::byte* values) {
  for (std::int64_t n = 0; n < cells; ++n) {
    const auto bits = std::to_integer<unsigned>(source[n / 8]);
    store_at(values, n, static_cast<Value>(bits >> static_cast<unsigned>(n % 8) & 1U));
  }
}

// ---- Floats ----

// As round_to does, without branches. NaN keeps the upper bits of its fraction, and becomes quiet.
BrainFloat to_brain_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto rounded = (bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U;
  const auto quiet = bits >> 16U | 0x40U;
  return {static_cast<std::uint16_t>((bits & 0x7FFF'FFFFU) > 0x7F80'0000U ? quiet : rounded)};
}

// As round_to does, without branches. A number below the normal ones is added to one whose last bit is that of
// subnormal numbers, which rounds it.
Half to_half(float value) {
  constexpr std::uint32_t kLeastNormal = 113U << 23U;  // 2^-14
  constexpr std::uint32_t kBeyond = 0x4780'0000U;      // 2^16
  constexpr float kRounding = 0.5F;                    // its last bit is 2^-24
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto magnitude = bits & 0x7FFF'FFFFU;
  const auto normal = (magnitude - (112U << 23U) + 0xFFFU + (magnitude >> 13U & 1U)) >> 13U;
  const auto small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + kRounding) -
                     std::bit_cast<std::uint32_t>(kRounding);
  auto out = magnitude < kLeastNormal ? small : normal;
  out = magnitude >= kBeyond ? Half::kOverflow : out;
  out = magnitude > 0x7F80'0000U ? Half::kNan : out;
  return {static_cast<std::uint16_t>(out | (bits >> 16U & 0x8000U))};
}

template <class Small>
void encode_floats(const std::byte* values, std::int64_t cells, std::byte* target) {
  for (std::int64_t n = 0; n < cells; ++n) {
    const auto value = load_at<float>(values, n);
    if constexpr (std::is_same_v<Small, BrainFloat>) store_at(target, n, to_brain_float(value));
    else if constexpr (std::is_same_v<Small, Half>) store_at(target, n, to_half(value));
    else store_at(target, n, round_to<Small>(value));
  }
}

template <class Small>
void decode_floats(const std::byte* source, std::int64_t cells, std::byte* values) {
  for (std::int64_t n = 0; n < cells; ++n) store_at(values, n, widen(load_at<Small>(source, n)));
}

// ---- Blocks with a scale, as in GGML's block_q8_0 and block_q4_0 ----

constexpr std::int64_t kBlock = 32;
using BlockValues = std::array<float, kBlock>;

struct BlockQ8 {
  static constexpr std::int64_t kBytes = 34;

  // False if the values are not finite, or have no scale.
  static bool encode(const BlockValues& values, std::byte* target) {
    float largest = 0;
    for (const auto value : values) largest = std::max(largest, std::abs(value));
    const float scale = largest / 127;
    const float inverse = scale == 0 ? 0 : 1 / scale;
    const auto stored = to_half(scale);
    if (!is_usable(values, stored)) return false;
    store_at(target, 0, stored);
    for (std::int64_t n = 0; n < kBlock; ++n) {
      const auto level = std::isfinite(inverse) ? std::round(values[static_cast<std::size_t>(n)] * inverse) : 0;
      store_at(target + sizeof stored, n, static_cast<std::int8_t>(level));
    }
    return true;
  }

  static void decode(const std::byte* source, BlockValues& values) {
    const auto scale = widen(load_at<Half>(source, 0));
    for (std::int64_t n = 0; n < kBlock; ++n)
      values[static_cast<std::size_t>(n)] = static_cast<float>(load_at<std::int8_t>(source + sizeof(Half), n)) * scale;
  }

  static bool is_usable(const BlockValues& values, Half scale) {
    return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); }) &&
           std::isfinite(widen(scale));
  }
};

struct BlockQ4 {
  static constexpr std::int64_t kBytes = 18;

  static bool encode(const BlockValues& values, std::byte* target) {
    float extreme = 0;  // the value with the largest magnitude, which becomes the lowest level
    for (const auto value : values)
      if (std::abs(value) > std::abs(extreme)) extreme = value;
    const float scale = extreme / -8;
    const float inverse = scale == 0 ? 0 : 1 / scale;
    const auto stored = to_half(scale);
    if (!BlockQ8::is_usable(values, stored)) return false;
    store_at(target, 0, stored);
    const auto level = [&](std::size_t n) {
      const auto raised = std::isfinite(inverse) ? values[n] * inverse + 8.5F : 8.5F;
      return static_cast<unsigned>(std::min(raised, 15.0F));
    };
    for (std::size_t n = 0; n < kBlock / 2; ++n)
      target[sizeof stored + n] = static_cast<std::byte>(level(n) | level(n + kBlock / 2) << 4U);
    return true;
  }

  static void decode(const std::byte* source, BlockValues& values) {
    const auto scale = widen(load_at<Half>(source, 0));
    for (std::size_t n = 0; n < kBlock / 2; ++n) {
      const auto levels = std::to_integer<int>(source[sizeof(Half) + n]);
      values[n] = static_cast<float>((levels & 15) - 8) * scale;
      values[n + kBlock / 2] = static_cast<float>((levels >> 4) - 8) * scale;
    }
  }
};

template <class Block>
std::optional<std::int64_t> encode_blocks(const std::byte* values, std::int64_t cells, std::byte* target) {
  for (std::int64_t first = 0; first < cells; first += kBlock, target += Block::kBytes) {
    BlockValues block{};
    const auto count = std::min(kBlock, cells - first);
    std::memcpy(block.data(), values + first * static_cast<std::int64_t>(sizeof(float)),
                static_cast<std::size_t>(count) * sizeof(float));
    if (!Block::encode(block, target)) return first;
  }
  return std::nullopt;
}

template <class Block>
void decode_blocks(const std::byte* source, std::int64_t cells, std::byte* values) {
  for (std::int64_t first = 0; first < cells; first += kBlock, source += Block::kBytes) {
    BlockValues block;
    Block::decode(source, block);
    std::memcpy(values + first * static_cast<std::int64_t>(sizeof(float)), block.data(),
                static_cast<std::size_t>(std::min(kBlock, cells - first)) * sizeof(float));
  }
}

// Calls f with std::type_identity of the C++ type of an encoding of integers, which is not Bool.
template <class F>
decltype(auto) with_integer_type(Encoding encoding, F&& f) {
  switch (encoding) {
    case Encoding::Int8: return f(std::type_identity<std::int8_t>{});
    case Encoding::UInt8: return f(std::type_identity<std::uint8_t>{});
    case Encoding::Int16: return f(std::type_identity<std::int16_t>{});
    case Encoding::UInt16: return f(std::type_identity<std::uint16_t>{});
    case Encoding::Int32: return f(std::type_identity<std::int32_t>{});
    default: CHECK(encoding == Encoding::UInt32, "integers have an encoding"); break;
  }
  return f(std::type_identity<std::uint32_t>{});
}

template <class Value>
void decode_whole_numbers(Encoding encoding, const std::byte* source, std::int64_t cells, std::byte* values) {
  if (encoding == Encoding::Bool) return decode_bits<Value>(source, cells, values);
  with_integer_type(encoding,
                    [&](auto small) { decode_integers<typename decltype(small)::type, Value>(source, cells, values); });
}

}  // namespace

std::optional<std::int64_t> encode_cells(StoredType type, std::span<const std::byte> values, std::int64_t cells,
                                         std::span<std::byte> target) {
  CHECK(std::cmp_equal(values.size(), cells * static_cast<std::int64_t>(size_of(type.values))) &&
            std::cmp_equal(target.size(), encoded_bytes(type, cells)),
        "cells that are encoded have room");
  const auto* from = values.data();
  auto* to = target.data();
  switch (type.encoding) {
    case Encoding::Plain: std::copy(values.begin(), values.end(), target.begin()); break;
    case Encoding::Bool: return encode_bits(from, cells, to);
    case Encoding::Float16: encode_floats<Half>(from, cells, to); break;
    case Encoding::BFloat16: encode_floats<BrainFloat>(from, cells, to); break;
    case Encoding::Float8E4M3: encode_floats<Float8E4M3>(from, cells, to); break;
    case Encoding::Float8E5M2: encode_floats<Float8E5M2>(from, cells, to); break;
    case Encoding::Q80: return encode_blocks<BlockQ8>(from, cells, to);
    case Encoding::Q40: return encode_blocks<BlockQ4>(from, cells, to);
    default:
      return with_integer_type(
          type.encoding, [&](auto small) { return encode_integers<typename decltype(small)::type>(from, cells, to); });
  }
  return std::nullopt;
}

bool decodes_to(StoredType type, DType as) {
  if (type.values == as) return true;
  if (type.encoding == Encoding::Plain || type.values != DType::Int64) return false;
  return as == DType::Float64 || (as == DType::Float32 && adapts(type.encoding));
}

void decode_cells(StoredType type, std::span<const std::byte> source, std::int64_t cells, DType as,
                  std::span<std::byte> values) {
  CHECK(decodes_to(type, as), "an encoding has values of some types");
  CHECK(std::cmp_equal(source.size(), encoded_bytes(type, cells)) &&
            std::cmp_equal(values.size(), cells * static_cast<std::int64_t>(size_of(as))),
        "cells that are decoded have room");
  const auto* from = source.data();
  auto* to = values.data();
  switch (type.encoding) {
    case Encoding::Plain: std::copy(source.begin(), source.end(), values.begin()); return;
    case Encoding::Float16: return decode_floats<Half>(from, cells, to);
    case Encoding::BFloat16: return decode_floats<BrainFloat>(from, cells, to);
    case Encoding::Float8E4M3: return decode_floats<Float8E4M3>(from, cells, to);
    case Encoding::Float8E5M2: return decode_floats<Float8E5M2>(from, cells, to);
    case Encoding::Q80: return decode_blocks<BlockQ8>(from, cells, to);
    case Encoding::Q40: return decode_blocks<BlockQ4>(from, cells, to);
    default: break;
  }
  if (as == DType::Int64) decode_whole_numbers<std::int64_t>(type.encoding, from, cells, to);
  else if (as == DType::Float32) decode_whole_numbers<float>(type.encoding, from, cells, to);
  else decode_whole_numbers<double>(type.encoding, from, cells, to);
}

}  // namespace eindb
