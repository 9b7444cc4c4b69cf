#include "storage/cells/cell_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace eindb {
namespace {

// The tiles of a walk, each as often as it is entered.
std::vector<std::int64_t> tiles_of(const TileGrid& grid, const WalkOrder& order, const std::vector<IndexRange>& box) {
  CellWalk walk(grid);
  walk.start(order, box);
  std::vector<std::int64_t> tiles;
  while (walk.next_run())
    if (tiles.empty() || tiles.back() != walk.run().tile_id) tiles.push_back(walk.run().tile_id);
  return tiles;
}

TEST(CellWalk, GoesOnFromAnyTile) {
  const TileGrid grid(Shape({7, 6, 5}), {3, 4, 2});
  const auto natural = WalkOrder::natural(3);
  for (const auto& box : std::vector<std::vector<IndexRange>>{
           {{0, 7}, {0, 6}, {0, 5}}, {{2, 5}, {1, 4}, {0, 5}}, {{3, 7}, {2, 3}, {4, 5}}, {{6, 7}, {5, 6}, {4, 5}}}) {
    const auto all = tiles_of(grid, natural, box);
    EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
    for (auto from = all.front() + 1; from <= grid.tile_count(); ++from) {
      CellWalk walk(grid);
      walk.start(natural, box);
      ASSERT_TRUE(walk.next_run());
      ASSERT_TRUE(walk.is_in_order_of_tiles());
      walk.go_on_from(from);
      const auto next = std::lower_bound(all.begin(), all.end(), from);
      ASSERT_EQ(walk.next_run(), next != all.end()) << from;
      if (next == all.end()) continue;
      EXPECT_EQ(walk.run().tile_id, *next) << from;
      // The walk goes on from the tile's first cell in the box.
      const auto begin = grid.tile_begin(grid.key_of(*next));
      for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(walk.index()[d], std::max(begin[d], box[d].begin));
      std::vector<std::int64_t> rest{*next};
      while (walk.next_run())
        if (rest.back() != walk.run().tile_id) rest.push_back(walk.run().tile_id);
      EXPECT_EQ(rest, std::vector<std::int64_t>(next, all.end()));
    }
  }
}

TEST(CellWalk, KnowsWhetherTilesComeInTheirOrder) {
  const TileGrid grid(Shape({8, 8}), {2, 4});
  const std::vector<IndexRange> box{{0, 8}, {0, 8}};
  const auto in_order = [&](const WalkOrder& order, const std::vector<IndexRange>& cells) {
    CellWalk walk(grid);
    walk.start(order, cells);
    const auto tiles = tiles_of(grid, order, cells);
    const bool sorted = std::adjacent_find(tiles.begin(), tiles.end(), std::greater_equal<>()) == tiles.end();
    EXPECT_TRUE(sorted || !walk.is_in_order_of_tiles());
    return walk.is_in_order_of_tiles();
  };
  EXPECT_TRUE(in_order(WalkOrder::natural(2), box));
  EXPECT_FALSE(in_order({{{0, false}, {1, false}}, false}, box));
  EXPECT_FALSE(in_order({{{1, false}, {0, false}}, true}, box));
  EXPECT_FALSE(in_order({{{0, true}, {1, false}}, true}, box));
  EXPECT_TRUE(in_order({{{1, false}, {0, false}}, true}, {{3, 4}, {0, 8}}));
  EXPECT_TRUE(in_order({{{0, false}, {1, false}}, false}, {{3, 4}, {0, 8}}));
}

}  // namespace
}  // namespace eindb
