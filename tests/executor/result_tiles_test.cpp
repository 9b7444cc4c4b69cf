// A result of cells is held in large tiles and read in small ones, also where memory is short while it is cut.

#include "executor/result_tiles.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "common/error.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {
namespace {

const TileGrid kHeld(Shape({60, 80}), {2, 1});
const TileGrid kRead(Shape({60, 80}), {6, 8});

// Every seventh cell is its number.
std::shared_ptr<BufferedTiles> held_tiles(const std::shared_ptr<MemoryBudget>& memory) {
  auto tiles = std::make_shared<BufferedTiles>(memory, kHeld.tile_count());
  for (std::int64_t id = 0; id < kHeld.tile_count(); ++id) {
    std::vector<double> values(30 * 80, 0);
    for (std::size_t n = 0; n < values.size(); n += 7)
      values[n] = static_cast<double>(n + 1 + 2400U * static_cast<std::size_t>(id));
    const auto block = CellBlock::of_dense(DType::Float64, Shape({30, 80}), std::as_bytes(std::span(values)));
    tiles->put(id, memory->track(Tile::of_cells(std::make_shared<const CellBlock>(block))));
  }
  return tiles;
}

void expect_all_cells(ResultTiles& tiles) {
  std::int64_t cells = 0;
  for (auto id = tiles.next(0); id; id = tiles.next(*id + 1)) {
    const auto begin = kRead.tile_begin(kRead.key_of(*id));
    EXPECT_TRUE(tiles.get(*id)->is_of_cells());
    const auto values = tiles.get_values(*id);
    ASSERT_EQ(values->shape(), Shape({10, 10}));
    for (std::int64_t i = 0; i < 10; ++i) {
      for (std::int64_t j = 0; j < 10; ++j) {
        const auto row = begin[0] + i;
        const auto number = row % 30 * 80 + begin[1] + j;
        const std::int64_t before = row / 30 * 2400;
        const auto expected = number % 7 == 0 ? static_cast<double>(number + 1 + before) : 0;
        ASSERT_EQ(values->data<double>()[i * 10 + j], expected);
        cells += expected != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(cells, 2 * 343);
}

TEST(ResultTiles, AreCutWhenTheyAreRead) {
  const auto memory = MemoryBudget::create(1 << 20);
  ResultTiles tiles(held_tiles(memory), kHeld, kRead);
  EXPECT_EQ(tiles.held().next(0), 0);
  EXPECT_EQ(tiles.held_grid(), kHeld);
  expect_all_cells(tiles);
  expect_all_cells(tiles);
  EXPECT_NE(tiles.take(0), nullptr);
  EXPECT_EQ(tiles.get(0), nullptr);
}

TEST(ResultTiles, AreCutFromWhereMemoryWasShort) {
  const auto memory = MemoryBudget::create(1 << 20);
  ResultTiles tiles(held_tiles(memory), kHeld, kRead);
  for (std::int64_t left = 40'000; left < 160'000; left += 20'000) {
    const MemoryReservation others(memory, (1 << 20) - left);
    try {
      tiles.next(0);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::MemoryLimit);
    }
  }
  expect_all_cells(tiles);
}

TEST(ResultTiles, OfOneGridAreThoseThatAreHeld) {
  const auto memory = MemoryBudget::create(1 << 20);
  ResultTiles tiles(held_tiles(memory), kHeld, kHeld);
  EXPECT_EQ(tiles.get(1), tiles.held().get(1));
  EXPECT_EQ(tiles.next(1), 1);
}

}  // namespace
}  // namespace eindb
