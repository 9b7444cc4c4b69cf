// Tiles in formats other than dense: each survives a round trip bit for bit, and whatever is wrong with one is found.

#include "tensor/tile_format.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "common/byte_order.hpp"
#include "storage/encoding/cell_numbers.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using Bytes = std::vector<std::byte>;

Tile decode_format(const Bytes& bytes, StoredType type, const Shape& shape) {
  return decode_tile(MemorySource(bytes), type.values, shape, "tile [0] of tensor A");
}

TileFormat format_of(const Bytes& bytes) { return tile_label(MemorySource(bytes))->format; }

/// With a checksum that is right again, as an attacker would make it.
Bytes sealed(Bytes bytes) {
  std::memset(bytes.data() + 16, 0, 8);
  const auto sum = XXH3_64bits(bytes.data(), bytes.size());
  std::memcpy(bytes.data() + 16, &sum, 8);
  return bytes;
}

std::vector<StoredType> all_stored_types() {
  std::vector<StoredType> types(kAllTypes.begin(), kAllTypes.end());
  for (int code = 1; code <= static_cast<int>(kLastEncoding); ++code)
    types.push_back(with_encoding(static_cast<Encoding>(code)));
  return types;
}

/// Cells with probability `density`, which all encodings hold.
Tile sparse_tile(std::mt19937_64& random, DType type, const Shape& shape, double density, bool uniform) {
  auto tile = Tile::zeros(type, shape);
  std::bernoulli_distribution given(density);
  dispatch(type, [&](auto t) {
    using T = typename decltype(t)::type;
    for (std::int64_t n = 0; n < shape.element_count(); ++n) {
      if (!given(random)) continue;
      const bool bit = type == DType::Int64 || uniform;
      tile.mutable_data<T>()[n] = T(static_cast<float>(bit ? 1 : 1 + static_cast<int>(random() % 7)));
    }
  });
  return tile;
}

CellList list_of(const Tile& tile) {
  CellList list;
  const auto size = size_of(tile.dtype());
  for (std::int64_t n = 0; n < tile.shape().element_count(); ++n) {
    const auto value = tile.bytes().subspan(static_cast<std::size_t>(n) * size, size);
    if (std::ranges::all_of(value, [](std::byte b) { return b == std::byte{0}; })) continue;
    list.numbers.push_back(static_cast<std::uint32_t>(n));
    list.values.insert(list.values.end(), value.begin(), value.end());
  }
  return list;
}

TEST(CellNumbers, AreWhatWasPacked) {
  std::mt19937_64 random(1);
  for (const double density : {1.0, 0.5, 0.1, 0.001}) {
    for (const std::int64_t end : {1, 127, 128, 129, 5000, 100000}) {
      std::vector<std::uint32_t> numbers;
      for (std::int64_t n = 0; n < end; ++n)
        if (std::bernoulli_distribution(density)(random)) numbers.push_back(static_cast<std::uint32_t>(n));
      Bytes bytes(packed_numbers_size(numbers));
      pack_numbers(numbers, bytes);
      std::vector<std::int64_t> read;
      PackedNumbers packed(bytes, static_cast<std::int64_t>(numbers.size()), end);
      for (;;) {
        const auto block = packed.next();
        ASSERT_TRUE(block.has_value());
        if (block->empty()) break;
        read.insert(read.end(), block->begin(), block->end());
      }
      EXPECT_TRUE(std::ranges::equal(read, numbers));
    }
  }
}

TEST(CellNumbers, TheExampleOfTheHeader) {
  const std::vector<std::uint32_t> numbers{3, 4, 9};
  Bytes bytes(packed_numbers_size(numbers));
  pack_numbers(numbers, bytes);
  EXPECT_EQ(bytes, (Bytes{std::byte{3}, std::byte{0x03}, std::byte{0x01}}));
}

TEST(TileFormats, RoundTripsTypesDensitiesAndShapes) {
  std::mt19937_64 random(2);
  for (const auto type : all_stored_types()) {
    for (const auto& extents :
         std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {7}, {33}, {3, 5, 7}, {40, 50}, {90, 100}}) {
      for (const double density : {0.0, 0.001, 0.05, 0.3, 0.6, 0.9, 1.0}) {
        for (const auto choice : {FormatChoice::Auto, FormatChoice::Dense, FormatChoice::Sparse}) {
          SCOPED_TRACE(std::string(name_of(type)) + " " + Shape(extents).to_string() + " " + std::to_string(density));
          const auto tile = sparse_tile(random, type.values, Shape(extents), density, random() % 2 == 0);
          const auto bytes = encode_tile(tile, type.encoding, choice);
          const auto back = decode_format(bytes, type, tile.shape());
          EXPECT_TRUE(has_scales(type.encoding) || same_tile(back, tile));
          EXPECT_EQ(encode_tile(back, type.encoding, choice), bytes);
          const auto dense =
              24 + 8 * extents.size() + static_cast<std::size_t>(encoded_bytes(type, tile.shape().element_count()));
          const bool sparse = format_of(bytes) != TileFormat::Dense;
          const bool may = may_be_sparse(type, tile.shape().element_count());
          EXPECT_TRUE(choice != FormatChoice::Auto || bytes.size() == dense || bytes.size() * 4 <= dense * 3);
          EXPECT_TRUE(choice != FormatChoice::Dense || !sparse);
          EXPECT_TRUE(choice != FormatChoice::Sparse || sparse == may);
          if (!may) continue;
          const EncodedTile listed(type, tile.shape(), list_of(tile), {}, choice);
          Bytes of_list(listed.header().begin(), listed.header().end());
          of_list.insert(of_list.end(), listed.values().begin(), listed.values().end());
          EXPECT_EQ(of_list, bytes) << "a list of the same cells";
        }
      }
    }
  }
}

TEST(TileFormats, TheFormatFollowsTheCells) {
  std::mt19937_64 random(3);
  const auto format = [&](double density, bool uniform) {
    return format_of(encode_tile(sparse_tile(random, DType::Float64, Shape({100, 100}), density, uniform)));
  };
  EXPECT_EQ(format(0.01, false), TileFormat::Coordinates);
  EXPECT_EQ(format(0.2, false), TileFormat::Bitmap);
  EXPECT_EQ(format(0.5, false), TileFormat::Dense);
  EXPECT_EQ(format(0.9, true), TileFormat::Bitmap);
  EXPECT_EQ(format(1.0, true), TileFormat::Constant);
}

// 8 bytes of value and an index of 4 bytes per cell, and one of 4 bytes per row, are what SciPy's CSR takes.
TEST(TileFormats, RandomCellsTakeLittleMoreThanTheirValues) {
  std::mt19937_64 random(4);
  for (const double density : {0.0005, 0.01, 0.1, 0.2}) {
    auto tile = sparse_tile(random, DType::Float64, Shape({360, 360}), density, false);
    const auto cells = list_of(tile).numbers.size();
    EXPECT_LT(encode_tile(tile).size(), 40 + cells * 10 + 40) << density;
  }
}

TEST(TileFormats, MinusZeroAndNaNAreKeptBitForBit) {
  for (const auto choice : {FormatChoice::Auto, FormatChoice::Dense, FormatChoice::Sparse}) {
    auto tile = Tile::zeros(DType::Float64, Shape({1000}));
    tile.mutable_data<double>()[3] = -0.0;
    tile.mutable_data<double>()[500] = std::bit_cast<double>(std::uint64_t{0xFFF8000000000123});
    tile.mutable_data<double>()[501] = std::bit_cast<double>(std::uint64_t{0x7FF4000000000001});
    tile.mutable_data<double>()[999] = std::numeric_limits<double>::denorm_min();
    EXPECT_TRUE(
        same_tile(decode_format(encode_tile(tile, Encoding::Plain, choice), DType::Float64, tile.shape()), tile));
    auto signs = Tile::zeros(DType::Float64, Shape({1000}));
    std::fill_n(signs.mutable_data<double>(), 1000, -0.0);
    EXPECT_TRUE(
        same_tile(decode_format(encode_tile(signs, Encoding::Plain, choice), DType::Float64, signs.shape()), signs));
  }
}

TEST(TileFormats, VersionTwoStaysAsItIs) {
  // The literal bytes: a change that cannot read them needs a new version.
  auto tile = Tile::zeros(DType::Float32, Shape({2, 4}));
  tile.mutable_data<float>()[2] = 5.0F;
  tile.mutable_data<float>()[5] = 5.0F;
  const auto bytes = encode_tile(tile, Encoding::Plain, FormatChoice::Sparse);
  const std::vector<std::uint8_t> head{'E', 'I', 'N', 'T', 2, 0, 1, 0, 2, 0, 3, 1, 2, 0, 0, 0};
  ASSERT_EQ(bytes.size(), 45U);
  for (std::size_t i = 0; i < head.size(); ++i) EXPECT_EQ(static_cast<std::uint8_t>(bytes[i]), head[i]) << i;
  const std::vector<std::uint8_t> rest{0, 0, 0xA0, 0x40, 0x24};
  for (std::size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(static_cast<std::uint8_t>(bytes[40 + i]), rest[i]) << i;
  // The same as coordinates, which are read likewise.
  auto coordinates = Bytes(bytes.begin(), bytes.begin() + 44);
  coordinates[10] = std::byte{2};
  coordinates.push_back(std::byte{2});
  coordinates.push_back(std::byte{0x0A});
  EXPECT_TRUE(same_tile(decode_format(sealed(coordinates), DType::Float32, tile.shape()), tile));
}

TEST(TileFormats, EveryFlippedBitIsFound) {
  std::mt19937_64 random(5);
  for (const auto type : {StoredType(DType::Float64), StoredType(DType::Complex64), with_encoding(Encoding::Bool)}) {
    for (const double density : {0.1, 0.6, 1.0}) {
      const auto tile = sparse_tile(random, type.values, Shape({6, 7}), density, density == 1.0);
      const auto good = encode_tile(tile, type.encoding, FormatChoice::Sparse);
      for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_ERROR(decode_format(bad, type, tile.shape()), ErrorKind::Corrupt, "tile [0] of tensor A");
      }
      for (auto bad = good; !bad.empty();) {
        bad.pop_back();
        EXPECT_ERROR(decode_format(bad, type, tile.shape()), ErrorKind::Corrupt, "damaged");
      }
      auto longer = good;
      longer.push_back(std::byte{0});
      EXPECT_ERROR(decode_format(sealed(longer), type, tile.shape()), ErrorKind::Corrupt, "damaged");
    }
  }
}

// Whatever the bytes say, and though their checksum is right: an error, or some tile.
TEST(TileFormats, HostileBytesGiveAnErrorOrATile) {
  std::mt19937_64 random(6);
  int errors = 0;
  int tiles = 0;
  for (const auto type : all_stored_types()) {
    if (has_scales(type.encoding)) continue;
    for (const double density : {0.02, 0.2, 0.6, 1.0}) {
      const auto tile = sparse_tile(random, type.values, Shape({20, 30}), density, density == 1.0);
      const auto good = encode_tile(tile, type.encoding, FormatChoice::Sparse);
      for (int round = 0; round < 400; ++round) {
        auto bad = good;
        const bool header = random() % 3 == 0;
        const auto at = header ? 10 + random() % 6 : 40 + random() % (bad.size() - 40);
        bad[at] = static_cast<std::byte>(random());
        if (random() % 4 == 0) bad.resize(40 + random() % (bad.size() - 39));
        try {
          decode_format(sealed(bad), type, tile.shape());
          ++tiles;
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
          ++errors;
        }
      }
    }
  }
  EXPECT_GT(errors, 1000);
  EXPECT_GT(tiles, 1000);
}

TEST(TileFormats, NumbersBeyondTheTileAreRefused) {
  auto tile = Tile::zeros(DType::Float64, Shape({100}));
  tile.mutable_data<double>()[99] = 1.0;
  const auto good = encode_tile(tile, Encoding::Plain, FormatChoice::Sparse);
  ASSERT_EQ(format_of(good), TileFormat::Coordinates);
  ASSERT_EQ(good.size(), 42U);  // a value, the width 7, and the gap 99
  auto bad = good;
  bad[41] = std::byte{100};
  EXPECT_ERROR(decode_format(sealed(bad), DType::Float64, tile.shape()), ErrorKind::Corrupt, "its cells are not");
  bad = good;
  bad[40] = std::byte{33};
  EXPECT_ERROR(decode_format(sealed(bad), DType::Float64, tile.shape()), ErrorKind::Corrupt, "its cells are not");
  bad = good;
  bad[15] = std::byte{0xFF};
  EXPECT_ERROR(decode_format(sealed(bad), DType::Float64, tile.shape()), ErrorKind::Corrupt, "its format cannot have");
  bad = good;
  bad[10] = std::byte{4};
  EXPECT_ERROR(decode_format(sealed(bad), DType::Float64, tile.shape()), ErrorKind::Corrupt, "unknown format");
  bad = good;
  bad[4] = std::byte{1};
  EXPECT_ERROR(decode_format(sealed(bad), DType::Float64, tile.shape()), ErrorKind::Corrupt, "damaged");
}

TEST(TileFormats, HugeShapesTakeNoMemory) {
  auto tile = Tile::zeros(DType::Float64, Shape({8}));
  auto bytes = encode_tile(tile, Encoding::Plain, FormatChoice::Sparse);
  const auto huge = std::int64_t{1} << 31U;
  store_number(std::span<std::byte>(bytes), 24, huge);
  EXPECT_ERROR(decode_format(sealed(bytes), DType::Float64, Shape({huge})), ErrorKind::Corrupt, "damaged");
}

TEST(TileFormats, AValueThatIsNotHeldIsNamed) {
  const auto name = [](std::int64_t cell) { return "cell " + std::to_string(cell); };
  const auto list = [](std::int64_t value) {
    CellList cells{.numbers = {3, 70}, .values = Bytes(16)};
    const std::array<std::int64_t, 2> values{1, value};
    std::memcpy(cells.values.data(), values.data(), 16);
    return cells;
  };
  const Shape shape({10, 10});
  EXPECT_ERROR(EncodedTile(with_encoding(Encoding::UInt8), shape, list(300), name), ErrorKind::Value,
               "cell 70 would be 300, which UINT8 does not hold");
  EXPECT_ERROR(EncodedTile(with_encoding(Encoding::Bool), shape, list(2), name), ErrorKind::Value,
               "cell 70 would be 2, and BOOL holds 0 and 1");
}

}  // namespace
}  // namespace eindb
