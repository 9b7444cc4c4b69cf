// Where tiles move: what has too few copies is copied, what lies at leaving workers moves, loads are evened out.

#include "storage/tiles/move_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace eindb {
namespace {

using Standing = TilePlace::Standing;

/// A few workers, and tiles of 10 bytes at them.
class MovePlanTest : public ::testing::Test {
 protected:
  void add_worker(std::uint32_t number, Standing standing = Standing::Stays, bool is_there = true) {
    places[WorkerNumber{number}] = {.worker = {DataId{100 + number}, "w" + std::to_string(number)},
                                    .standing = standing,
                                    .is_there = is_there,
                                    .takes = standing == Standing::Stays && is_there,
                                    .bytes_free = 1'000'000};
  }
  void add_tile(std::vector<std::uint32_t> workers, int replicas, const std::string& tensor = "A") {
    if (tensors.empty() || tensors.back()->name != tensor)
      tensors.push_back(
          std::make_shared<const ShardedTensor>(ShardedTensor{tensor, "eindb_tiles_" + tensor, replicas}));
    ShardedTile tile{tensors.back(), static_cast<std::int64_t>(tiles.size()), {}};
    tile.reference.content = ContentId{static_cast<std::int64_t>(tiles.size()) + 1};
    tile.reference.bytes = 10;
    for (const auto worker : workers) tile.reference.workers.push_back(WorkerNumber{worker});
    tiles.push_back(std::move(tile));
  }
  MovePlan plan(std::int64_t least_imbalance = 0) {
    return plan_moves(tiles, places, {.is_refused = is_refused, .least_imbalance = least_imbalance});
  }
  /// Makes all moves.
  void move(const MovePlan& made) {
    for (const auto& move : made.moves)
      for (auto& tile : tiles)
        if (tile.reference.content == move.tile.reference.content) tile.reference.workers = move.workers();
  }
  std::int64_t tiles_at(std::uint32_t worker) const {
    return std::count_if(tiles.begin(), tiles.end(), [&](const ShardedTile& tile) {
      const auto& at = tile.reference.workers;
      return std::find(at.begin(), at.end(), WorkerNumber{worker}) != at.end();
    });
  }

  TilePlaces places;
  std::vector<std::shared_ptr<const ShardedTensor>> tensors;
  std::vector<ShardedTile> tiles;
  std::function<bool(WorkerNumber, ContentId)> is_refused;
};

TEST_F(MovePlanTest, NothingMovesWhereAllIsWell) {
  for (std::uint32_t n = 1; n <= 3; ++n) add_worker(n);
  for (std::uint32_t n = 0; n < 6; ++n) add_tile({1 + n % 3, 1 + (n + 1) % 3}, 2);
  const auto made = plan();
  EXPECT_TRUE(made.moves.empty());
  EXPECT_TRUE(made.leaving.empty());
  EXPECT_EQ(made.lacking.tiles, 0);
}

TEST_F(MovePlanTest, CopiesOfAMissedWorkerComeBackElsewhere) {
  for (std::uint32_t n = 1; n <= 4; ++n) add_worker(n);
  add_worker(2, Standing::Missed, false);
  for (std::uint32_t n = 0; n < 8; ++n) add_tile({1 + n % 4, 1 + (n + 1) % 4}, 2);
  const auto made = plan();
  EXPECT_EQ(made.moves.size(), 4U);
  EXPECT_EQ(made.leaving.at(WorkerNumber{2}).tiles, 4);
  EXPECT_EQ(made.leaving.at(WorkerNumber{2}).bytes, 40);
  EXPECT_EQ(made.lacking.bytes, 40);
  move(made);
  EXPECT_EQ(tiles_at(2), 0);
  for (const auto& tile : tiles) EXPECT_EQ(tile.reference.workers.size(), 2U);
  EXPECT_TRUE(plan().moves.empty());
}

TEST_F(MovePlanTest, AWorkerThatIsAwayForAShortTimeKeepsItsCopies) {
  for (std::uint32_t n = 1; n <= 3; ++n) add_worker(n);
  add_worker(2, Standing::Stays, false);
  for (std::uint32_t n = 0; n < 6; ++n) add_tile({1 + n % 3, 1 + (n + 1) % 3}, 2);
  EXPECT_TRUE(plan(1'000'000).moves.empty());
}

TEST_F(MovePlanTest, WhatNobodyElseHasStaysWithAMissedWorker) {
  add_worker(1);
  add_worker(2, Standing::Missed, false);
  add_tile({2}, 1);
  add_tile({1, 2}, 2, "B");  // and there is no third worker
  const auto made = plan();
  EXPECT_TRUE(made.moves.empty());
  EXPECT_EQ(made.leaving.at(WorkerNumber{2}).stuck, 2);
  EXPECT_EQ(made.lacking.stuck, 2);
}

TEST_F(MovePlanTest, ALeavingWorkerGivesItsTiles) {
  for (std::uint32_t n = 1; n <= 3; ++n) add_worker(n);
  add_worker(1, Standing::Leaving);
  for (std::uint32_t n = 0; n < 9; ++n) add_tile({1 + n % 3}, 1);
  const auto made = plan();
  ASSERT_EQ(made.moves.size(), 3U);
  for (const auto& each : made.moves) EXPECT_EQ(each.sources, std::vector{WorkerNumber{1}});
  move(made);
  EXPECT_EQ(tiles_at(1), 0);
  EXPECT_LE(std::abs(tiles_at(2) - tiles_at(3)), 1);
}

TEST_F(MovePlanTest, ALeavingWorkerKeepsACopyThatNobodyCanTake) {
  add_worker(1, Standing::Leaving);
  add_worker(2);
  add_tile({1, 2}, 2);
  EXPECT_TRUE(plan().moves.empty());
  add_tile({1}, 1, "B");
  const auto made = plan();
  ASSERT_EQ(made.moves.size(), 1U);
  EXPECT_EQ(made.moves[0].workers(), std::vector{WorkerNumber{2}});
}

// One of two missed workers is replaced; the list names one that is not, in case that it comes back.
TEST_F(MovePlanTest, ATileKeepsAsManyNamesAsItHasCopies) {
  add_worker(1);
  add_worker(2, Standing::Missed, false);
  add_worker(3, Standing::Missed, false);
  add_worker(4);
  add_tile({2, 1, 3}, 3);
  const auto made = plan();
  ASSERT_EQ(made.moves.size(), 1U);
  EXPECT_EQ(made.moves[0].workers(), (std::vector{WorkerNumber{2}, WorkerNumber{1}, WorkerNumber{4}}));
}

TEST_F(MovePlanTest, WhatHasTheFewestCopiesComesFirst) {
  for (std::uint32_t n = 1; n <= 5; ++n) add_worker(n);
  add_worker(2, Standing::Missed, false);
  add_worker(3, Standing::Missed, false);
  add_tile({1, 2, 4}, 3);
  add_tile({2, 3, 4}, 3);
  const auto made = plan();
  ASSERT_EQ(made.moves.size(), 2U);
  EXPECT_EQ(made.moves[0].tile.tile_id, 1);
}

TEST_F(MovePlanTest, NoCopyGoesWhereGarbageOfItIs) {
  for (std::uint32_t n = 1; n <= 3; ++n) add_worker(n);
  add_worker(1, Standing::Leaving);
  add_tile({1}, 1);
  is_refused = [](WorkerNumber worker, ContentId) { return worker == WorkerNumber{2}; };
  ASSERT_EQ(plan().moves.size(), 1U);
  EXPECT_EQ(plan().moves[0].added, std::vector{WorkerNumber{3}});
  is_refused = [](WorkerNumber, ContentId) { return true; };
  EXPECT_TRUE(plan().moves.empty());
}

TEST_F(MovePlanTest, NoCopyGoesWhereThereIsNoRoom) {
  for (std::uint32_t n = 1; n <= 3; ++n) add_worker(n);
  add_worker(1, Standing::Leaving);
  places.at(WorkerNumber{2}).bytes_free = 25;
  for (int n = 0; n < 6; ++n) add_tile({1}, 1);
  move(plan());
  EXPECT_EQ(tiles_at(2), 2);
  EXPECT_EQ(tiles_at(3), 4);
}

TEST_F(MovePlanTest, ANewWorkerGetsItsShareOfEachTensor) {
  for (std::uint32_t n = 1; n <= 4; ++n) add_worker(n);
  for (const auto* tensor : {"A", "B"})
    for (std::uint32_t n = 0; n < 12; ++n) add_tile({1 + n / 4}, 1, tensor);
  EXPECT_TRUE(plan(1000).moves.empty()) << "that little is left as it is";
  const auto made = plan();
  EXPECT_EQ(made.balancing, 6);
  move(made);
  for (std::uint32_t n = 1; n <= 4; ++n) EXPECT_EQ(tiles_at(n), 6) << n;
  for (const auto& tensor : tensors)
    EXPECT_EQ(std::count_if(tiles.begin(), tiles.end(),
                            [&](const auto& tile) {
                              return tile.tensor == tensor && tile.reference.workers[0] == WorkerNumber{4};
                            }),
              3);
  EXPECT_TRUE(plan().moves.empty()) << "it does not go on";
}

TEST_F(MovePlanTest, SharesOfReplicasStayApart) {
  for (std::uint32_t n = 1; n <= 3; ++n) add_worker(n);
  for (std::uint32_t n = 0; n < 12; ++n) add_tile({1, 2}, 2);
  move(plan());
  for (const auto& tile : tiles) {
    ASSERT_EQ(tile.reference.workers.size(), 2U);
    EXPECT_NE(tile.reference.workers[0], tile.reference.workers[1]);
  }
  EXPECT_EQ(tiles_at(3), 8);
}

// Whatever the situation: no tile loses a copy that stays, none is named twice, plans end.
TEST_F(MovePlanTest, RandomSituations) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  for (int round = 0; round < 2000; ++round) {
    places.clear();
    tiles.clear();
    tensors.clear();
    const auto workers = 1 + below(6);
    for (std::uint32_t n = 1; n <= workers; ++n) add_worker(n, static_cast<Standing>(below(3)), below(4) != 0);
    const auto replicas = 1 + below(3);
    for (std::uint32_t n = below(30); n > 0; --n) {
      std::vector<std::uint32_t> all(workers);
      for (std::uint32_t k = 0; k < workers; ++k) all[k] = k + 1;
      std::shuffle(all.begin(), all.end(), random);
      all.resize(std::min(workers, replicas));
      add_tile(all, static_cast<int>(replicas));
    }
    for (int again = 0;; ++again) {
      const auto made = plan();
      if (made.moves.empty()) break;
      ASSERT_LT(again, 5) << "round " << round;
      for (const auto& each : made.moves) {
        const auto after = each.workers();
        const auto counts = [&](WorkerNumber worker) { return places.at(worker).standing == Standing::Stays; };
        const auto& before = each.tile.reference.workers;
        ASSERT_GE(std::count_if(after.begin(), after.end(), counts),
                  std::count_if(before.begin(), before.end(), counts));
        ASSERT_FALSE(after.empty());
        ASSERT_LE(after.size(), std::max<std::size_t>(before.size(), replicas));
        auto sorted = after;
        std::sort(sorted.begin(), sorted.end());
        ASSERT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
        for (const auto worker : each.added) ASSERT_TRUE(places.at(worker).takes);
        ASSERT_TRUE(each.added.empty() || !each.sources.empty());
      }
      move(made);
    }
  }
}

}  // namespace
}  // namespace eindb
