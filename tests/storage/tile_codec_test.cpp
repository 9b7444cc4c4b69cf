// The tile format: every tile survives a round trip, and every damaged byte is detected.

#include "storage/encoding/tile_codec.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

Tile decode(const std::vector<std::byte>& bytes, DType type, const Shape& shape) {
  return decode_tile(MemorySource(bytes), type, shape, "tile [0] of tensor A");
}

TEST(TileCodec, RoundTripsShapesAndTypes) {
  std::mt19937_64 random(1);
  for (const auto type : kAllTypes) {
    for (const auto& extents : std::vector<std::vector<std::int64_t>>{
             {}, {0}, {1}, {7}, {3, 5}, {2, 0, 4}, {2, 3, 4, 5}, std::vector<std::int64_t>(16, 1)}) {
      const auto tile = random_tile(random, type, Shape(extents));
      const auto bytes = encode_tile(tile);
      EXPECT_EQ(bytes.size(), 24 + 8 * extents.size() + tile.byte_size());
      EXPECT_TRUE(same_tile(decode(bytes, type, tile.shape()), tile)) << tile.shape().to_string();
    }
  }
}

TEST(TileCodec, TheFormatStaysAsItIs) {
  // The literal bytes of version 1: a change that cannot read them needs a new version.
  auto tile = Tile::zeros(DType::Float32, Shape({1, 2}));
  tile.mutable_data<float>()[1] = 1.0F;
  const auto bytes = encode_tile(tile);
  const std::vector<std::uint8_t> expected{'E', 'I', 'N', 'T', 1, 0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0};
  ASSERT_EQ(bytes.size(), 48U);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(static_cast<std::uint8_t>(bytes[i]), expected[i]) << i;
  EXPECT_EQ(static_cast<std::uint8_t>(bytes[24]), 1);     // first extent
  EXPECT_EQ(static_cast<std::uint8_t>(bytes[32]), 2);     // second extent
  EXPECT_EQ(static_cast<std::uint8_t>(bytes[47]), 0x3F);  // 1.0F
}

TEST(TileCodec, EveryFlippedBitIsFound) {
  std::mt19937_64 random(2);
  const auto tile = random_tile(random, DType::Int64, Shape({2, 3}));
  const auto good = encode_tile(tile);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_ERROR(decode(bad, DType::Int64, tile.shape()), ErrorKind::Corrupt, "tile [0] of tensor A");
  }
}

TEST(TileCodec, EachFieldIsNamedWhenItIsWrong) {
  std::mt19937_64 random(3);
  const auto good = encode_tile(random_tile(random, DType::Float64, Shape({2})));
  const auto with = [&](std::size_t offset, int value) {
    auto bad = good;
    bad[offset] = static_cast<std::byte>(value);
    return error_of([&] { decode(bad, DType::Float64, Shape({2})); }).message();
  };
  EXPECT_NE(with(0, 'X').find("does not begin"), std::string::npos);
  EXPECT_NE(with(4, 9).find("version is 9"), std::string::npos);
  EXPECT_NE(with(6, 0).find("unknown element type"), std::string::npos);
  EXPECT_NE(with(6, 1).find("holds FLOAT32, the tensor FLOAT64"), std::string::npos);
  EXPECT_NE(with(7, 1).find("not of the type that their encoding has"), std::string::npos);
  EXPECT_NE(with(7, static_cast<int>(kLastEncoding) + 1).find("unknown encoding"), std::string::npos);
  EXPECT_NE(with(9, 255).find("dimensions"), std::string::npos);
  EXPECT_NE(with(12, 1).find("reserved"), std::string::npos);
  EXPECT_NE(with(16, 255).find("checksum"), std::string::npos);
  EXPECT_NE(with(31, 0x80).find("dimension 0 has extent"), std::string::npos);
  EXPECT_NE(with(32, 255).find("checksum"), std::string::npos);
}

TEST(TileCodec, EveryTruncationIsFound) {
  std::mt19937_64 random(4);
  const auto tile = random_tile(random, DType::Complex64, Shape({3, 2}));
  auto bytes = encode_tile(tile);
  bytes.push_back(std::byte{0});
  EXPECT_ERROR(decode(bytes, tile.dtype(), tile.shape()), ErrorKind::Corrupt, "expected");
  bytes.pop_back();
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_ERROR(decode(bytes, tile.dtype(), tile.shape()), ErrorKind::Corrupt, "damaged");
  }
}

TEST(TileCodec, HugeShapesTakeNoMemory) {
  std::mt19937_64 random(5);
  const auto small = encode_tile(random_tile(random, DType::Float64, Shape({2})));
  EXPECT_ERROR(decode(small, DType::Float64, Shape({std::int64_t{1} << 59})), ErrorKind::Corrupt, "expected");
}

TEST(TileCodec, TooManyDimensionsAreRefused) {
  const auto tile = Tile::zeros(DType::Float32, Shape(std::vector<std::int64_t>(kMaxStoredRank + 1, 1)));
  EXPECT_ERROR(encode_tile(tile), ErrorKind::Unsupported, "65 dimensions");
}

}  // namespace
}  // namespace eindb
