#include "tensor/tile_holders.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "common/error.hpp"

namespace eindb {
namespace {

// Against a list with the ranks of each tile.
TEST(TileHolders, AreThoseThatWereAdded) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    TileHolders holders;
    TileHolders one_by_one;
    std::vector<std::vector<Rank>> expected;
    for (int runs = static_cast<int>(random() % 8); runs > 0; --runs) {
      std::vector<Rank> ranks;
      for (Rank rank = 0; rank < 3; ++rank)
        if (random() % 2 == 0) ranks.push_back(rank);
      const auto tiles = static_cast<std::int64_t>(random() % 4);
      holders.add(ranks, tiles);
      for (std::int64_t n = 0; n < tiles; ++n) one_by_one.add(ranks);
      expected.insert(expected.end(), static_cast<std::size_t>(tiles), ranks);
    }
    EXPECT_EQ(holders, one_by_one) << "runs that could be one are one";
    ASSERT_EQ(holders.tile_count(), static_cast<std::int64_t>(expected.size()));
    std::vector<std::vector<std::int64_t>> of_rank(3);
    for (std::size_t tile = 0; tile < expected.size(); ++tile) {
      const auto ranks = holders.of(static_cast<std::int64_t>(tile));
      EXPECT_EQ(std::vector<Rank>(ranks.begin(), ranks.end()), expected[tile]);
      for (const auto rank : ranks) of_rank[rank].push_back(static_cast<std::int64_t>(tile));
    }
    for (Rank rank = 0; rank < 3; ++rank) {
      std::vector<std::int64_t> tiles;
      holders.for_each_run_of(rank, [&](const TileHolders::Run& run) {
        for (auto tile = run.first; tile < run.end; ++tile) tiles.push_back(tile);
      });
      EXPECT_EQ(tiles, of_rank[rank]);
    }
  }
}

TEST(TileHolders, CountNoMoreTilesThanTheyCan) {
  TileHolders holders;
  const Rank rank = 1;
  holders.add({&rank, 1}, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(holders.run_count(), 1U);
  EXPECT_THROW(holders.add({&rank, 1}), Error);
}

}  // namespace
}  // namespace eindb
