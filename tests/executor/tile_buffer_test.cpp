#include "executor/tile_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "common/error.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kElements = 16384;
constexpr std::int64_t kTile = kElements * 8;

Tile tile_of(std::int64_t value) {
  auto tile = Tile::uninitialized(DType::Int64, Shape({kElements}));
  std::fill_n(tile.mutable_data<std::int64_t>(), kElements, value);
  return tile;
}

void expect_tile(const TilePtr& tile, std::int64_t value) {
  ASSERT_NE(tile, nullptr);
  EXPECT_EQ(tile->shape(), Shape({kElements}));
  const auto* values = tile->data<std::int64_t>();
  EXPECT_TRUE(std::all_of(values, values + kElements, [&](std::int64_t v) { return v == value; })) << value;
}

std::shared_ptr<MemoryBudget> room_for(std::int64_t tiles) { return MemoryBudget::create(tiles * kTile); }

TEST(BufferedTiles, ManyMoreTilesThanMemoryComeBackUnchanged) {
  const auto memory = room_for(4);
  BufferedTiles tiles(memory, 40);
  for (std::int64_t n = 0; n < 40; ++n) tiles.put(n, memory->track(tile_of(n)));
  EXPECT_EQ(tiles.bytes(), 40 * kTile);
  for (std::int64_t n = 0; n < 40; ++n) expect_tile(tiles.get(n * 7 % 40), n * 7 % 40);
  EXPECT_LE(memory->peak(), 4 * kTile);
  EXPECT_GE(memory->buffer().written_bytes(), 36 * kTile);
}

TEST(BufferedTiles, AreWrittenOnce) {
  const auto memory = room_for(2);
  BufferedTiles tiles(memory, 6);
  for (std::int64_t n = 0; n < 6; ++n) tiles.put(n, memory->track(tile_of(n)));
  for (int round = 0; round < 5; ++round)
    for (std::int64_t n = 0; n < 6; ++n) expect_tile(tiles.get(n), n);
  EXPECT_LE(memory->buffer().written_bytes(), 6 * kTile);
}

CellBlockPtr cells_of(const Shape& shape, const std::vector<std::int64_t>& numbers,
                      const std::vector<std::int64_t>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return std::make_shared<const CellBlock>(
      CellBlock::of_numbers(DType::Int64, shape, numbers, {bytes.begin(), bytes.end()}));
}

TEST(BufferedTiles, TilesOfCellsGoToTheFileAndGiveBackTheirBytes) {
  const auto memory = room_for(2);
  {
    BufferedTiles tiles(memory, 3);
    const auto made = cells_of(Shape({4, kElements / 4}), {3, 9, kElements / 2}, {7, 8, -9});
    tiles.put(0, memory->track(Tile::of_cells(made)));
    EXPECT_EQ(memory->used(), static_cast<std::int64_t>(made->byte_size()));
    tiles.put(1, memory->track(tile_of(1)));
    while (memory->buffer().evict(2 * kTile) > 0) {
    }
    EXPECT_EQ(memory->used(), 0);
    const auto back = tiles.get(0);
    ASSERT_TRUE(back->is_of_cells());
    EXPECT_EQ(memory->used(), static_cast<std::int64_t>(made->byte_size()));
    EXPECT_EQ(back->shape(), made->shape());
    EXPECT_EQ(back->cells().numbers(), made->numbers());
    EXPECT_EQ(back->cells().trie().values, made->trie().values);
    expect_tile(tiles.get(1), 1);
  }
  EXPECT_EQ(memory->used(), 0);
}

TEST(BufferedTiles, GiveTheValuesOfCellsAsLongAsThereIsRoom) {
  const auto memory = room_for(2);
  {
    BufferedTiles tiles(memory, 4);
    for (std::int64_t n = 0; n < 3; ++n)
      tiles.put(n, memory->track(Tile::of_cells(cells_of(Shape({kElements}), {n, 9}, {n, 5}))));
    for (int round = 0; round < 2; ++round) {
      for (std::int64_t n = 0; n < 3; ++n) {
        const auto values = tiles.get_values(n);
        ASSERT_FALSE(values->is_of_cells());
        EXPECT_EQ(values->data<std::int64_t>()[n], n);
        EXPECT_EQ(values->data<std::int64_t>()[9], 5);
        EXPECT_EQ(values->data<std::int64_t>()[10], 0);
        EXPECT_TRUE(tiles.get(n)->is_of_cells());
      }
      EXPECT_EQ(tiles.get_values(3), nullptr);
      EXPECT_LE(memory->used(), memory->limit());
    }
  }
  EXPECT_EQ(memory->used(), 0);
}

TEST(BufferedTiles, OfVeryManyTilesOnlyThoseThatAreThereTakeRoom) {
  constexpr std::int64_t kMany = std::int64_t{1} << 43U;
  const auto memory = room_for(2);
  BufferedTiles tiles(memory, kMany);
  EXPECT_EQ(tiles.count(), kMany);
  EXPECT_EQ(tiles.get(kMany - 1), nullptr);
  EXPECT_EQ(tiles.next(0), std::nullopt);
  for (const auto n : {kMany - 1, std::int64_t{5}, kMany / 2}) tiles.put(n, memory->track(tile_of(n)));
  EXPECT_EQ(tiles.next(0), 5);
  EXPECT_EQ(tiles.next(6), kMany / 2);
  EXPECT_GT(memory->buffer().written_bytes(), 0) << "one of three tiles has no room";
  expect_tile(tiles.get(5), 5);
  expect_tile(tiles.take(kMany / 2), kMany / 2);
  EXPECT_EQ(tiles.next(6), kMany - 1);
  tiles.drop(kMany - 1);
  tiles.drop(kMany - 2);
  EXPECT_EQ(tiles.next(6), std::nullopt);
}

TEST(BufferedTiles, WithinTheLimitNothingIsWritten) {
  const auto memory = room_for(6);
  BufferedTiles tiles(memory, 6);
  for (std::int64_t n = 0; n < 6; ++n) tiles.put(n, memory->track(tile_of(n)));
  for (std::int64_t n = 0; n < 6; ++n) expect_tile(tiles.get(n), n);
  EXPECT_EQ(memory->buffer().written_bytes(), 0);
}

TEST(BufferedTiles, TilesInUseStay) {
  const auto memory = room_for(3);
  BufferedTiles tiles(memory, 4);
  tiles.put(0, memory->track(tile_of(0)));
  tiles.put(1, memory->track(tile_of(1)));
  const auto first = tiles.get(0);
  const auto second = tiles.get(1);
  tiles.put(2, memory->track(tile_of(2)));
  tiles.put(3, memory->track(tile_of(3)));  // evicts 2
  EXPECT_EQ(tiles.get(0).get(), first.get());
  EXPECT_EQ(tiles.get(1).get(), second.get());
  const auto third = tiles.get(2);
  EXPECT_ERROR(tiles.get(3), ErrorKind::MemoryLimit, "needs at least 1 MiB, more than the memory_limit");
  expect_tile(first, 0);
}

TEST(BufferedTiles, TheFurthestNextUseGoesFirst) {
  const auto memory = room_for(4);
  BufferedTiles later(memory, 2);
  BufferedTiles sooner(memory, 2);
  later.set_next_use(9);
  sooner.set_next_use(2);
  for (std::int64_t n = 0; n < 2; ++n) {
    sooner.put(n, memory->track(tile_of(n)));
    later.put(n, memory->track(tile_of(10 + n)));
  }
  const auto room = MemoryReservation(memory, 2 * kTile);
  EXPECT_EQ(memory->buffer().written_bytes(), 2 * kTile);
  expect_tile(sooner.get(0), 0);
  expect_tile(sooner.get(1), 1);
  EXPECT_EQ(memory->buffer().read_bytes(), 0);
}

TEST(BufferedTiles, ATileThatIsDroppedIsAbsentAndItsRoomIsUsedAgain) {
  const auto memory = room_for(2);
  BufferedTiles tiles(memory, 100);
  for (std::int64_t n = 0; n < 100; ++n) {
    tiles.put(n, memory->track(tile_of(n)));
    if (n < 4) continue;
    expect_tile(tiles.take(n - 4), n - 4);
    EXPECT_EQ(tiles.get(n - 4), nullptr);
  }
  for (std::int64_t n = 96; n < 100; ++n) tiles.drop(n);
  EXPECT_EQ(tiles.bytes(), 0);
  EXPECT_EQ(memory->used(), 0);
}

TEST(BufferedTiles, TilesOfASourceAreMadeAgainNotWritten) {
  const auto memory = room_for(2);
  std::atomic<int> made{0};
  BufferedTiles tiles(memory, 5, [&](std::int64_t n) -> TilePtr {
    ++made;
    return n == 3 ? nullptr : memory->track(tile_of(n));
  });
  for (const std::int64_t n : {0, 1, 2, 4}) expect_tile(tiles.get(n), n);
  EXPECT_EQ(tiles.get(3), nullptr);
  expect_tile(tiles.get(4), 4);  // the two most recently used tiles are in memory
  EXPECT_EQ(made, 5);
  expect_tile(tiles.get(0), 0);
  EXPECT_EQ(tiles.get(3), nullptr);
  EXPECT_EQ(made, 6);
  EXPECT_EQ(memory->buffer().written_bytes(), 0);
}

TEST(BufferedTiles, OutliveTheStatementWithTheirBudget) {
  auto memory = room_for(2);
  auto tiles = std::make_unique<BufferedTiles>(memory, 8);
  for (std::int64_t n = 0; n < 8; ++n) tiles->put(n, memory->track(tile_of(n)));
  memory.reset();
  for (std::int64_t n = 0; n < 8; ++n) expect_tile(tiles->get(n), n);
}

TEST(BufferedTiles, ManyThreads) {
  constexpr std::int64_t kTiles = 64;
  const auto memory = room_for(20);
  BufferedTiles tiles(memory, kTiles);
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t n = t; n < kTiles; n += 8) {
        const MemoryBudget::Task scope(*memory);
        tiles.put(n, memory->track(tile_of(n)));
      }
      std::minstd_rand random(static_cast<unsigned>(t));
      for (int round = 0; round < 300; ++round) {
        const MemoryBudget::Task scope(*memory);
        // Tiles of other threads may not exist yet.
        const auto n = static_cast<std::int64_t>(random() % (kTiles / 8)) * 8 + t;
        const auto tile = tiles.get(n);
        expect_tile(tile, n);
        const auto other = static_cast<std::int64_t>(random() % kTiles);
        if (const auto seen = tiles.get(other)) expect_tile(seen, other);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(memory->peak(), 20 * kTile);
}

// Each task needs three tiles, but there is room for four: they take turns.
TEST(MemoryBudget, ATaskWithoutRoomWaitsForTheOthers) {
  const auto memory = room_for(4);
  std::atomic<int> inside{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        const MemoryBudget::Task scope(*memory);
        const MemoryReservation all(memory, 3 * kTile);
        EXPECT_EQ(++inside, 1);
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(memory->used(), 0);
}

TEST(MemoryBudget, WhatCannotFitIsRefusedAtOnce) {
  const auto memory = room_for(4);
  const MemoryBudget::Task one(*memory);
  const MemoryBudget::Task other(*memory);
  EXPECT_ERROR(memory->reserve(5 * kTile), ErrorKind::MemoryLimit, "memory_limit");
}

// A keeper's tiles are evicted before anything is written.
TEST(MemoryBudget, AKeeperGivesWayFirst) {
  class Keeper final : public TileKeeper {
   public:
    std::int64_t idle_bytes() const override { return bytes; }
    std::int64_t evict(std::int64_t wanted) override {
      const auto given = std::min(wanted, bytes.load());
      bytes -= given;
      return given;
    }
    std::atomic<std::int64_t> bytes{3 * kTile};
  };
  const auto memory = room_for(4);
  Keeper keeper;
  memory->set_keeper(&keeper);
  BufferedTiles tiles(memory, 4);
  for (std::int64_t n = 0; n < 4; ++n) tiles.put(n, memory->track(tile_of(n)));
  EXPECT_EQ(keeper.bytes, 0);
  EXPECT_EQ(memory->buffer().written_bytes(), 0);
  memory->set_keeper(nullptr);
}

}  // namespace
}  // namespace eindb
