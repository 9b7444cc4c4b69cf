// Tile caches of several sessions that share their memory.

#include "engine/tensors/tile_cache_pool.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "engine/tensors/tile_cache.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kElements = 8192;
constexpr std::int64_t kTile = kElements * 8;
constexpr std::int64_t kEntry = kTile + 192;

// A statement that reads `count` tiles.
void read_tiles(TileCache& cache, int count) {
  const auto memory = MemoryBudget::create(1000 * kEntry);
  const TileCache::Statement statement(cache, memory, 1, 100 * kEntry);
  const auto number = cache.number_of("A");
  for (int n = 0; n < count; ++n) {
    cache.read(
        number, n, [] { return kTile; },
        [] { return std::make_shared<const Tile>(Tile::zeros(DType::Int64, Shape({kElements}))); });
  }
}

TEST(TileCachePool, TheCacheUsedLongestAgoGivesWay) {
  const auto pool = std::make_shared<TileCachePool>(10 * kEntry, 100 * kEntry);
  TileCache one(pool);
  TileCache two(pool);
  TileCache three(pool);
  read_tiles(one, 4);
  read_tiles(two, 4);
  EXPECT_EQ(pool->bytes(), 8 * kEntry);
  read_tiles(three, 4);
  EXPECT_EQ(one.idle_bytes(), 2 * kEntry);
  EXPECT_EQ(two.idle_bytes(), 4 * kEntry);
  EXPECT_EQ(three.idle_bytes(), 4 * kEntry);
  EXPECT_EQ(pool->bytes(), 10 * kEntry);
}

TEST(TileCachePool, OneCacheKeepsNoMoreThanAllMay) {
  const auto pool = std::make_shared<TileCachePool>(3 * kEntry, 100 * kEntry);
  TileCache cache(pool);
  read_tiles(cache, 8);
  EXPECT_EQ(cache.idle_bytes(), 3 * kEntry);
  EXPECT_EQ(pool->bytes(), 3 * kEntry);
}

TEST(TileCachePool, ALowerLimitSparesWhatIsInUse) {
  const auto pool = std::make_shared<TileCachePool>(10 * kEntry, 100 * kEntry);
  TileCache used(pool);
  TileCache idle(pool);
  read_tiles(used, 4);
  read_tiles(idle, 4);
  {
    const TileCache::Statement statement(used, MemoryBudget::create(100 * kEntry), 1, 100 * kEntry);
    EXPECT_EQ(pool->limit_to(0), 4 * kEntry);
    EXPECT_EQ(idle.idle_bytes(), 0);
    EXPECT_EQ(used.idle_bytes(), 4 * kEntry);
  }
  EXPECT_EQ(pool->bytes(), 0);
  EXPECT_EQ(used.idle_bytes(), 0);
}

TEST(TileCachePool, ACacheThatEndsIsForgotten) {
  const auto pool = std::make_shared<TileCachePool>(10 * kEntry, 100 * kEntry);
  {
    TileCache cache(pool);
    read_tiles(cache, 4);
  }
  EXPECT_EQ(pool->bytes(), 0);
}

TEST(TileCachePool, SessionsRunBesideEachOther) {
  const auto pool = std::make_shared<TileCachePool>(6 * kEntry, 100 * kEntry);
  {
    std::vector<std::jthread> sessions;
    for (int s = 0; s < 4; ++s) {
      sessions.emplace_back([&] {
        TileCache cache(pool);
        for (int n = 0; n < 100; ++n) read_tiles(cache, n % 5 + 1);
      });
    }
    for (int n = 0; n < 100; ++n) {
      pool->limit_to((n % 7) * kEntry);
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(pool->bytes(), 0);
}

TEST(TileCachePool, BlocksAreKeptWhileSomebodyWorks) {
  TileCachePool pool(0, 100 * kEntry);
  const auto one = pool.resident();
  EXPECT_EQ(one, pool.resident());
}

}  // namespace
}  // namespace eindb
