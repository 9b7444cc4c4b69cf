// Placement of new tiles: on meshes, in runs, with copies.

#include "tensor/tile_placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace eindb {
namespace {

TileGrid grid_of(const Partition& parts) {
  std::vector<std::int64_t> extents;
  for (const auto n : parts) extents.push_back(8 * n + 1);
  return {Shape(std::move(extents)), parts};
}

std::vector<Rank> first_holders(const Partition& parts, std::size_t workers) {
  const TilePlacement placement(grid_of(parts), workers, 1);
  std::vector<Rank> out;
  for (std::int64_t tile = 0; tile < placement.grid().tile_count(); ++tile) out.push_back(placement.of(tile)[0]);
  return out;
}

TEST(TilePlacementTest, MeshesCutTheFirstDimensionsFirst) {
  EXPECT_EQ(axes_between_tiles({4, 2}, 8), (std::vector<std::vector<int>>{{0, 1}, {2}}));
  EXPECT_EQ(axes_between_tiles({4, 2}, 2), (std::vector<std::vector<int>>{{0}, {}}));
  EXPECT_EQ(axes_between_tiles({6, 1, 2}, 32), (std::vector<std::vector<int>>{{0}, {}, {1}}));
  EXPECT_EQ(axes_between_tiles({3, 4}, 6), (std::vector<std::vector<int>>{{1}, {0}}));
  EXPECT_EQ(axes_between_tiles({4, 12}, 12), (std::vector<std::vector<int>>{{0, 1}, {2}}));
  EXPECT_EQ(axes_between_tiles({4, 4}, 7), (std::vector<std::vector<int>>{{}, {}}));
  EXPECT_EQ(first_holders({2, 2}, 4), (std::vector<Rank>{0, 2, 1, 3}));
  EXPECT_EQ(first_holders({4, 2}, 2), (std::vector<Rank>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(first_holders({4}, 4), (std::vector<Rank>{0, 2, 1, 3}));
}

TEST(TilePlacementTest, AMeshHasAnAxisForEachPrimeFactor) {
  EXPECT_EQ(first_holders({3}, 3), (std::vector<Rank>{0, 1, 2}));
  EXPECT_EQ(first_holders({6}, 3), (std::vector<Rank>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(first_holders({3, 2}, 6), (std::vector<Rank>{0, 1, 2, 3, 4, 5})) << "axis 0, of two, cuts dimension 1";
  EXPECT_EQ(first_holders({2, 3}, 6), (std::vector<Rank>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(first_holders({6}, 6), (std::vector<Rank>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(first_holders({3, 4}, 4), (std::vector<Rank>{0, 2, 1, 3, 0, 2, 1, 3, 0, 2, 1, 3}));
}

TEST(TilePlacementTest, SomeWorkersOfAMeshHoldNothing) {
  EXPECT_EQ(first_holders({2}, 8), (std::vector<Rank>{0, 1}));
  EXPECT_EQ(first_holders({3}, 6), (std::vector<Rank>{0, 2, 4}));
  EXPECT_EQ(first_holders({}, 8), (std::vector<Rank>{0}));
}

TEST(TilePlacementTest, OtherGridsLieInRuns) {
  EXPECT_EQ(first_holders({4}, 3), (std::vector<Rank>{0, 1, 2, 2}));
  EXPECT_EQ(first_holders({3, 2}, 4), (std::vector<Rank>{0, 1, 1, 2, 3, 3}));
  EXPECT_EQ(first_holders({7}, 3), (std::vector<Rank>{0, 0, 1, 1, 2, 2, 2}));
  EXPECT_EQ(first_holders({3}, 5), (std::vector<Rank>{1, 3, 4}));
}

TEST(TilePlacementTest, VeryManyTilesLieInRuns) {
  const TileGrid grid(Shape({std::int64_t{1} << 31U, std::int64_t{1} << 31U}), {1 << 17, 1 << 17});
  const TilePlacement placement(grid, 4, 2);
  const auto all = placement.all();
  EXPECT_EQ(all.tile_count(), grid.tile_count());
  EXPECT_EQ(all.run_count(), 4U);
  for (const auto tile : {std::int64_t{0}, grid.tile_count() / 2, grid.tile_count() - 1}) {
    auto holders = placement.of(tile);
    std::sort(holders.begin(), holders.end());
    EXPECT_TRUE(std::ranges::equal(all.of(tile), holders));
  }
}

TEST(RunsOfCellsTest, WorkersHaveAboutAsManyCells) {
  // A tenth of the tiles have nine tenths of the cells.
  for (const std::size_t workers : {1U, 2U, 3U, 8U}) {
    std::vector<std::int64_t> cells;
    std::int64_t total = 0;
    for (std::int64_t tile = 0; tile < 400; ++tile) total += cells.emplace_back(tile < 40 ? 810 : 10 + tile % 3);
    RunsOfCells runs(total, workers);
    std::vector<std::int64_t> of_worker(workers, 0);
    std::size_t last = 0;
    for (const auto count : cells) {
      const auto worker = runs.next(count);
      ASSERT_LT(worker, workers);
      EXPECT_GE(worker, last) << "runs are of neighbouring tiles";
      last = worker;
      of_worker[worker] += count;
    }
    for (const auto held : of_worker)
      EXPECT_NEAR(static_cast<double>(held), static_cast<double>(total) / static_cast<double>(workers), 810);
  }
}

TEST(RunsOfCellsTest, MoreCellsThanWereExpectedLieAtTheLastWorker) {
  RunsOfCells runs(10, 2);
  EXPECT_EQ(runs.next(5), 0U);
  EXPECT_EQ(runs.next(50), 1U);
  EXPECT_EQ(runs.next(50), 1U);
  RunsOfCells none(0, 3);
  EXPECT_EQ(none.next(0), 0U);
}

TEST(TilePlacementTest, WorkersHaveAboutTheSame) {
  for (const Partition& parts : {Partition{8, 4}, Partition{3, 5, 2}, Partition{64}, Partition{31}}) {
    for (const std::size_t workers : {1, 2, 3, 4, 5, 6, 7, 8, 12}) {
      std::vector<int> held(workers, 0);
      for (const auto holder : first_holders(parts, workers)) ++held[holder];
      const auto [least, most] = std::minmax_element(held.begin(), held.end());
      EXPECT_LE(*most - *least, 1) << workers;
    }
  }
}

TEST(TilePlacementTest, CopiesAreAtTheNextWorkers) {
  const TilePlacement placement(grid_of({4}), 4, 3);
  EXPECT_EQ(placement.of(3), (std::vector<Rank>{3, 0, 1}));
  for (std::int64_t tile = 0; tile < 4; ++tile) {
    const auto holders = placement.of(tile);
    EXPECT_EQ(std::set<Rank>(holders.begin(), holders.end()).size(), 3U);
  }
  EXPECT_EQ(TilePlacement(grid_of({4}), 2, 3).of(0).size(), 2U);
}

// TileHolders lists the holders of a tile in ascending order, whichever comes first.
TEST(TilePlacementTest, AllSaysTheSameAsEach) {
  const TilePlacement placement(grid_of({3, 4}), 5, 2);
  const auto all = placement.all();
  ASSERT_EQ(all.tile_count(), 12);
  for (std::int64_t tile = 0; tile < 12; ++tile) {
    auto holders = placement.of(tile);
    std::sort(holders.begin(), holders.end());
    EXPECT_TRUE(std::equal(holders.begin(), holders.end(), all.of(tile).begin(), all.of(tile).end()));
  }
}

}  // namespace
}  // namespace eindb
