// Encodings of cells: every pattern of bits against the definition of its type, rounding against a rounding of doubles,
// bounds of integers, blocks with scales.

#include "tensor/cell_encoding.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "storage/encoding/tile_codec.hpp"
#include "tensor/small_float.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
Bytes encoded(Encoding encoding, const std::vector<T>& values) {
  const auto type = with_encoding(encoding);
  const auto cells = static_cast<std::int64_t>(values.size());
  Bytes out(static_cast<std::size_t>(encoded_bytes(type, cells)));
  EXPECT_FALSE(encode_cells(type, std::as_bytes(std::span(values)), cells, out).has_value());
  return out;
}

template <class T>
std::optional<std::int64_t> fault(Encoding encoding, const std::vector<T>& values) {
  const auto type = with_encoding(encoding);
  const auto cells = static_cast<std::int64_t>(values.size());
  Bytes out(static_cast<std::size_t>(encoded_bytes(type, cells)));
  return encode_cells(type, std::as_bytes(std::span(values)), cells, out);
}

template <class T>
std::vector<T> decoded(Encoding encoding, std::span<const std::byte> bytes, std::int64_t cells) {
  std::vector<T> out(static_cast<std::size_t>(cells));
  decode_cells(with_encoding(encoding), bytes, cells, dtype_of<T>, std::as_writable_bytes(std::span(out)));
  return out;
}

template <class T, class U>
std::span<const std::byte> bytes_of(const std::vector<U>& values) {
  static_assert(sizeof(T) == sizeof(U));
  return std::as_bytes(std::span(values));
}

// The number that a pattern of bits stands for, by the definition of its type.
double meaning(unsigned bits, unsigned exponent_bits, unsigned fraction_bits, bool finite) {
  const unsigned sign = bits >> (exponent_bits + fraction_bits);
  const unsigned exponent = bits >> fraction_bits & ((1U << exponent_bits) - 1);
  const unsigned fraction = bits & ((1U << fraction_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned top = (1U << exponent_bits) - 1;
  double value = 0;
  if (exponent == top && finite && fraction == (1U << fraction_bits) - 1) value = NAN;
  else if (exponent == top && !finite) value = fraction == 0 ? INFINITY : NAN;
  else if (exponent == 0) value = std::ldexp(fraction, 1 - bias - static_cast<int>(fraction_bits));
  else
    value = std::ldexp((1U << fraction_bits) + fraction,
                       static_cast<int>(exponent) - bias - static_cast<int>(fraction_bits));
  return sign != 0 ? -value : value;
}

template <class Small>
void expect_all_patterns(Encoding encoding) {
  using Bits = typename Small::Bits;
  std::vector<Bits> all;
  for (unsigned bits = 0; bits <= std::numeric_limits<Bits>::max(); ++bits) all.push_back(static_cast<Bits>(bits));
  const auto values = decoded<float>(encoding, std::as_bytes(std::span(all)), static_cast<std::int64_t>(all.size()));
  std::vector<float> numbers;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const auto wanted = meaning(all[n], Small::kExponentBits, Small::kFractionBits, Small::kFinite);
    if (std::isnan(wanted)) ASSERT_TRUE(std::isnan(values[n])) << n;
    else
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[n]), std::bit_cast<std::uint32_t>(static_cast<float>(wanted))) << n;
  }
  const auto back = encoded(encoding, values);
  for (std::size_t n = 0; n < all.size(); ++n) {
    Bits bits = 0;
    std::memcpy(&bits, back.data() + n * sizeof bits, sizeof bits);
    if (!std::isnan(values[n])) ASSERT_EQ(bits, all[n]);
    else ASSERT_TRUE(std::isnan(meaning(bits, Small::kExponentBits, Small::kFractionBits, Small::kFinite))) << n;
  }
}

TEST(CellEncoding, EveryPatternOfSmallFloats) {
  expect_all_patterns<Half>(Encoding::Float16);
  expect_all_patterns<BrainFloat>(Encoding::BFloat16);
  expect_all_patterns<Float8E4M3>(Encoding::Float8E4M3);
  expect_all_patterns<Float8E5M2>(Encoding::Float8E5M2);
}

template <class Small>
void expect_rounding(Encoding encoding, std::mt19937_64& random) {
  std::vector<float> values{0.0F,
                            -0.0F,
                            65504,
                            65519.99F,
                            65520,
                            1e30F,
                            -1e30F,
                            448,
                            464,
                            464.1F,
                            480,
                            57344,
                            61440,
                            std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(),
                            std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max()};
  for (int n = 0; n < 200'000; ++n) {
    auto bits = static_cast<std::uint32_t>(random());
    if (n % 2 == 0) bits &= 0xFFFF'F000U;  // halfway between two numbers
    const auto value = std::bit_cast<float>(bits);
    values.push_back(std::isnan(value) ? 1.0F : value);
    values.push_back(std::ldexp(static_cast<float>(random() % 4096), static_cast<int>(random() % 40) - 36));
  }
  const auto bytes = encoded(encoding, values);
  for (std::size_t n = 0; n < values.size(); ++n) {
    typename Small::Bits bits = 0;
    std::memcpy(&bits, bytes.data() + n * sizeof bits, sizeof bits);
    ASSERT_EQ(bits, round_to<Small>(values[n]).bits) << values[n];
  }
}

TEST(CellEncoding, FloatsAreRoundedToTheNearest) {
  std::mt19937_64 random(7);
  expect_rounding<Half>(Encoding::Float16, random);
  expect_rounding<BrainFloat>(Encoding::BFloat16, random);
  expect_rounding<Float8E4M3>(Encoding::Float8E4M3, random);
  expect_rounding<Float8E5M2>(Encoding::Float8E5M2, random);
  // OCP: beyond the largest number, E4M3 has no infinity.
  EXPECT_EQ(round_to<Float8E4M3>(464).bits, 0x7E);
  EXPECT_EQ(round_to<Float8E4M3>(464.1).bits, 0x7F);
  EXPECT_EQ(round_to<Float8E4M3>(-INFINITY).bits, 0xFF);
  EXPECT_EQ(round_to<Float8E5M2>(61440).bits, 0x7C);
}

template <class Small>
void expect_integers(Encoding encoding) {
  using Limits = std::numeric_limits<Small>;
  const std::vector<std::int64_t> values{0, 1, Limits::min(), Limits::max(), 7, Limits::max() / 2};
  const auto bytes = encoded(encoding, values);
  const auto cells = static_cast<std::int64_t>(values.size());
  EXPECT_EQ(decoded<std::int64_t>(encoding, bytes, cells), values);
  EXPECT_EQ(decoded<double>(encoding, bytes, cells)[3], static_cast<double>(Limits::max()));
  if constexpr (sizeof(Small) < 4) {
    EXPECT_EQ(decoded<float>(encoding, bytes, cells)[3], static_cast<float>(Limits::max()));
  }
  EXPECT_EQ(decodes_to(with_encoding(encoding), DType::Float32), sizeof(Small) < 4);
  EXPECT_EQ(fault<std::int64_t>(encoding, {0, Limits::max(), std::int64_t{Limits::max()} + 1}), 2);
  EXPECT_EQ(fault<std::int64_t>(encoding, {std::int64_t{Limits::min()} - 1}), 0);
}

TEST(CellEncoding, IntegersHaveBounds) {
  expect_integers<std::int8_t>(Encoding::Int8);
  expect_integers<std::uint8_t>(Encoding::UInt8);
  expect_integers<std::int16_t>(Encoding::Int16);
  expect_integers<std::uint16_t>(Encoding::UInt16);
  expect_integers<std::int32_t>(Encoding::Int32);
  expect_integers<std::uint32_t>(Encoding::UInt32);
}

TEST(CellEncoding, TruthValuesAreBits) {
  std::vector<std::int64_t> values;
  for (int n = 0; n < 19; ++n) values.push_back(n % 3 == 0 ? 1 : 0);
  const auto bytes = encoded(Encoding::Bool, values);
  EXPECT_EQ(bytes.size(), 3U);
  EXPECT_EQ(std::to_integer<int>(bytes[0]), 0b01001001);
  EXPECT_EQ(std::to_integer<int>(bytes[2]), 0b100);  // cell 18
  EXPECT_EQ(decoded<std::int64_t>(Encoding::Bool, bytes, 19), values);
  EXPECT_EQ(decoded<float>(Encoding::Bool, bytes, 19)[18], 1.0F);
  EXPECT_EQ(fault<std::int64_t>(Encoding::Bool, {1, 0, 2}), 2);
  EXPECT_EQ(fault<std::int64_t>(Encoding::Bool, {-1}), 0);
}

TEST(CellEncoding, BlocksHaveAScale) {
  std::mt19937_64 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(100);  // three blocks and four cells
  for (auto& value : values) value = normal(random);
  std::fill(values.begin() + 32, values.begin() + 64, 0.0F);
  for (const auto& [encoding, bytes_each, levels] :
       {std::tuple{Encoding::Q80, 34, 127.0F}, std::tuple{Encoding::Q40, 18, 8.0F}}) {
    const auto bytes = encoded(encoding, values);
    EXPECT_EQ(bytes.size(), static_cast<std::size_t>(4 * bytes_each));
    const auto back = decoded<float>(encoding, bytes, 100);
    for (std::size_t n = 0; n < values.size(); ++n) {
      const auto first = n / 32 * 32;
      float largest = 0;
      for (auto m = first; m < std::min<std::size_t>(first + 32, 100); ++m)
        largest = std::max(largest, std::abs(values[m]));
      // A level apart where Q4_0 has no level for the other end, half a level elsewhere, and the scale is rounded.
      const float level = encoding == Encoding::Q40 ? 1.0F : 0.5F;
      EXPECT_LE(std::abs(back[n] - values[n]), largest / levels * level * 1.01F + largest * 0.001F) << n;
    }
    EXPECT_EQ(encoded(encoding, back), bytes);  // what was read can be written again
    EXPECT_EQ(fault<float>(encoding, std::vector<float>(33, NAN)), 0);
    auto bad = values;
    bad[70] = INFINITY;
    EXPECT_EQ(fault<float>(encoding, bad), 64);
    bad[70] = 1e9F;
    EXPECT_EQ(fault<float>(encoding, bad), 64);
  }
}

TEST(CellEncoding, TilesOfEveryEncoding) {
  std::mt19937_64 random(5);
  for (auto code = 1; code <= static_cast<int>(kLastEncoding); ++code) {
    const auto type = with_encoding(static_cast<Encoding>(code));
    // The last one has several pieces.
    for (const auto& extents : std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {33}, {3, 5, 7}, {300, 1000}}) {
      auto tile = Tile::zeros(type.values, Shape(extents));
      const auto cells = tile.shape().element_count();
      for (std::int64_t n = 0; n < cells; ++n) {
        if (type.values == DType::Int64) tile.mutable_data<std::int64_t>()[n] = static_cast<std::int64_t>(random() % 2);
        else tile.mutable_data<float>()[n] = static_cast<float>(random() % 9) - 4;
      }
      const auto bytes = encode_tile(tile, type.encoding);
      EXPECT_LE(bytes.size(),
                24 + 8 * extents.size() + static_cast<std::size_t>(encoded_bytes(type, tile.shape().element_count())));
      const auto back = decode_tile(MemorySource(bytes), type.values, tile.shape(), "t");
      if (type.encoding != Encoding::Q80 && type.encoding != Encoding::Q40) {
        EXPECT_TRUE(same_tile(back, tile));
      }
      EXPECT_EQ(encode_tile(back, type.encoding), bytes);
      if (decodes_to(type, DType::Float64)) {
        const auto wide = decode_tile(MemorySource(bytes), DType::Float64, tile.shape(), "t");
        for (std::int64_t n = 0; n < cells; ++n)
          ASSERT_EQ(wide.data<double>()[n], static_cast<double>(tile.data<std::int64_t>()[n]));
      }
      for (std::size_t bit = 0; bit < std::min<std::size_t>(bytes.size(), 60) * 8; ++bit) {
        auto bad = bytes;
        bad[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_ERROR(decode_tile(MemorySource(bad), type.values, tile.shape(), "t"), ErrorKind::Corrupt,
                     "t is damaged");
      }
    }
  }
}

TEST(CellEncoding, AValueThatIsNotHeldIsNamed) {
  auto tile = Tile::zeros(DType::Int64, Shape({2, 3}));
  tile.mutable_data<std::int64_t>()[4] = 300;
  const auto name = [](std::int64_t cell) { return "cell " + std::to_string(cell); };
  EXPECT_ERROR(EncodedTile(tile, Encoding::UInt8, name), ErrorKind::Value,
               "cell 4 would be 300, which UINT8 does not hold");
  EXPECT_ERROR(EncodedTile(tile, Encoding::Bool, name), ErrorKind::Value,
               "cell 4 would be 300, and BOOL holds 0 and 1");
  EXPECT_EQ(EncodedTile(tile, Encoding::Int16, name).values(4, 5).size(), 2U);
}

TEST(CellEncoding, NamesOfTypes) {
  for (auto code = 1; code <= static_cast<int>(kLastEncoding); ++code) {
    const auto type = with_encoding(static_cast<Encoding>(code));
    EXPECT_EQ(parse_stored_type(name_of(type)), type);
    EXPECT_NE(stored_type_names().find(name_of(type)), std::string_view::npos);
  }
  EXPECT_EQ(parse_stored_type("bf16"), with_encoding(Encoding::BFloat16));
  EXPECT_EQ(parse_stored_type("real"), StoredType(DType::Float32));
  EXPECT_FALSE(parse_stored_type("FLOAT8").has_value());
  EXPECT_FALSE(encoding_from_code(14).has_value());
  EXPECT_FALSE(encoding_from_code(-1).has_value());
}

}  // namespace
}  // namespace eindb
