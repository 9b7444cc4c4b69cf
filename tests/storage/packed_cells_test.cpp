// Cells on their way between ranks: round trips for blocks of all shapes and types, and bytes that are no such cells.
#include "storage/encoding/packed_cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "common/byte_order.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "tensor/packed_size.hpp"

namespace eindb {
namespace {

CellBlock random_block(std::mt19937& random, DType type, const Shape& shape, std::size_t count, bool uniform) {
  std::set<std::int64_t> numbers;
  std::uniform_int_distribution<std::int64_t> any(0, shape.element_count() - 1);
  while (numbers.size() < count) numbers.insert(any(random));
  const auto size = size_of(type);
  std::vector<std::byte> values(count * size);
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = std::byte{static_cast<std::uint8_t>(uniform ? 3 : 1 + random() % 200)};
  const std::vector<std::int64_t> list(numbers.begin(), numbers.end());
  return CellBlock::of_numbers(type, shape, list, std::move(values));
}

void expect_same(const CellBlock& found, const CellBlock& expected) {
  EXPECT_EQ(found.shape(), expected.shape());
  EXPECT_EQ(found.dtype(), expected.dtype());
  EXPECT_EQ(found.numbers(), expected.numbers());
  EXPECT_TRUE(std::ranges::equal(found.trie().values, expected.trie().values));
}

TEST(PackedCells, RoundTrip) {
  std::mt19937 random(7);
  const std::vector<std::pair<Shape, std::size_t>> blocks = {{Shape({1}), 1},
                                                             {Shape({50}), 0},
                                                             {Shape({50}), 50},
                                                             {Shape({40, 60}), 100},
                                                             {Shape({300, 20, 7}), 90},
                                                             {Shape({12092, 9184, 28818}), 1500},
                                                             {Shape({1 << 30, 1 << 30}), 300}};
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64, DType::Complex128})
    for (const auto& [shape, count] : blocks)
      for (const bool uniform : {false, true}) {
        const auto block = random_block(random, type, shape, count, uniform);
        const auto bytes = pack_cells(block);
        EXPECT_EQ(packed_cell_count(type, shape, bytes), static_cast<std::int64_t>(count));
        const auto found = unpack_cells(type, shape, bytes);
        ASSERT_TRUE(found.has_value());
        expect_same(*found, block);
      }
}

TEST(PackedCells, TakeAboutTheBytesOfAStoredTile) {
  std::mt19937 random(3);
  const Shape shape({2000, 1000});
  for (const bool uniform : {false, true}) {
    const auto block = random_block(random, DType::Float64, shape, 20000, uniform);
    const auto stored = EncodedTile(DType::Float64, shape, list_of(block)).size();
    const auto packed = static_cast<double>(pack_cells(block).size());
    EXPECT_LE(packed, static_cast<double>(stored) + 24);
    if (uniform) continue;
    EXPECT_NEAR(packed, packed_bytes_of_cells(DType::Float64, 2e6, 20000), 0.05 * packed);
  }
}

TEST(PackedCells, LeavesOutCellsWithoutABitSet) {
  const Shape shape({10});
  std::vector<double> values{0.0, -0.0, 2.0};
  std::vector<std::byte> bytes(3 * sizeof(double));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const std::vector<std::int64_t> numbers{1, 4, 9};
  const auto block = CellBlock::of_numbers(DType::Float64, shape, numbers, std::move(bytes));
  const auto found = unpack_cells(DType::Float64, shape, pack_cells(block));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->numbers(), (std::vector<std::int64_t>{4, 9}));
}

TEST(PackedCells, OtherBytesAreRefused) {
  std::mt19937 random(11);
  const Shape shape({70000, 70000});  // three segments
  const auto block = random_block(random, DType::Float32, shape, 60, false);
  const auto bytes = pack_cells(block);
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto found = unpack_cells(DType::Float32, shape, std::span(bytes).first(size));
    if (!found) continue;
    EXPECT_LT(found->count(), block.count()) << "segments are whole";
  }
  EXPECT_FALSE(packed_cell_count(DType::Float32, Shape({70000}), bytes).has_value());
  for (int n = 0; n < 20000; ++n) {
    auto damaged = bytes;
    for (auto flips = 1 + random() % 3; flips > 0; --flips)
      damaged[random() % damaged.size()] ^= std::byte{1} << (random() % 8);
    const auto count = packed_cell_count(DType::Float32, shape, damaged);
    if (count && *count > 1000000) continue;  // who unpacks takes memory for the count first
    const auto found = unpack_cells(DType::Float32, shape, damaged);
    EXPECT_TRUE(count.has_value() || !found.has_value());
    if (!found) continue;
    EXPECT_EQ(found->count(), *count);
    for (const auto number : found->numbers()) EXPECT_TRUE(number >= 0 && number < shape.element_count());
  }
}

// Otherwise a few bytes would take gigabytes before they are refused.
TEST(PackedCells, RoomIsMadeForCellsOnlyOnceAllBytesMayHaveThem) {
  const Shape shape({std::int64_t{1} << 30, 1 << 10});
  const auto segment = [](std::uint8_t format, std::uint32_t count, std::size_t length) {
    std::vector<std::byte> bytes(24 + length);
    store_number(bytes, 8, static_cast<std::uint64_t>(length));
    store_number(bytes, 16, count);
    store_number(bytes, 20, format);
    store_number(bytes, 21, std::uint8_t{1});
    return bytes;
  };
  constexpr auto kAll = std::uint32_t{1} << 31U;
  auto bytes = segment(static_cast<std::uint8_t>(TileFormat::Constant), kAll, sizeof(float));
  EXPECT_EQ(packed_cell_count(DType::Float32, shape, bytes), std::int64_t{kAll});
  bytes.push_back(std::byte{1});
  EXPECT_FALSE(unpack_cells(DType::Float32, shape, bytes).has_value());
  const auto coordinates = static_cast<std::uint8_t>(TileFormat::Coordinates);
  EXPECT_FALSE(packed_cell_count(DType::Float32, shape, segment(coordinates, kAll, sizeof(float) + 100)).has_value());
  EXPECT_EQ(packed_cell_count(DType::Float32, shape, segment(coordinates, 129, sizeof(float) + 2)), 129);
  EXPECT_FALSE(packed_cell_count(DType::Float32, shape, segment(coordinates, 129, sizeof(float) + 1)).has_value());
}

}  // namespace
}  // namespace eindb
