#include "plan/tile_moves.hpp"

#include <gtest/gtest.h>

#include "tests/plan/holders_of_tiles.hpp"

namespace eindb {
namespace {

using testing::holders_of_tiles;

// X is at ranks 0 and 4 in 4 tiles each; every rank needs all of it.
struct TileMovesTest : ::testing::Test {
  TileMovesTest() {
    plan.ranks = 5;
    plan.holder_lists = 1;
    const TileGrid grid(Shape({8, 6}), {2, 2});
    plan.steps.push_back({ScanStep{{"X", DType::Float64, grid}, 0}, VertexId(0), DType::Float64, grid, std::size_t{0}});
    const BlockPlacement all{{1, 1}, std::vector<std::optional<TileKey>>(5, TileKey{0, 0})};
    plan.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), DType::Float64, grid, all});
  }
  PhysicalPlan plan;
  std::vector<TileHolders> lists{holders_of_tiles({{0, 4}, {0, 4}, {0, 4}, {0, 4}})};
};

TEST_F(TileMovesTest, HoldersTakeTurns) {
  const TileLayout from(plan, StepId(0), lists);
  const TileLayout to(plan, StepId(1), lists);
  const TileMoves moves(from, to);
  EXPECT_EQ(moves.giver({0, 0}, 0, 1), 4);
  EXPECT_EQ(moves.giver({0, 1}, 0, 1), 0);
  EXPECT_EQ(moves.giver({1, 0}, 0, 1), 0);
  EXPECT_EQ(moves.giver({0, 0}, 0, 4), 4) << "itself";
  int given = 0;
  moves.for_each_given(0, [&](const TilePiece& piece, Rank receiver) {
    EXPECT_EQ(moves.giver(from.grid().key_of(piece.source), 0, receiver), 0);
    ++given;
  });
  EXPECT_EQ(given, 6) << "half of what three ranks need";
}

TEST_F(TileMovesTest, HoldersReceiveNothing) {
  EXPECT_EQ(bytes_received(plan, StepId(1), lists), (std::vector<double>{0, 384, 384, 384, 0}));
  lists[0] = holders_of_tiles({{0, 4}, {}, {0, 4}, {0, 4}});  // one tile has no holder
  EXPECT_EQ(bytes_received(plan, StepId(1), lists), (std::vector<double>{0, 288, 288, 288, 0}));
  EXPECT_EQ(bytes_received(plan, StepId(0), lists), std::vector<double>(5, 0));
}

TEST_F(TileMovesTest, AHolderOfASelectionIsThatOfTheStoredTile) {
  auto tensor = held_at({"X", DType::Float64, TileGrid(Shape({8, 6}), {2, 2})}, {5, std::nullopt});
  lists[0] = holders_of_tiles({{0}, {1}, {2}, {3}});
  plan.steps[0] = {ScanStep{tensor, 0}, VertexId(0), tensor.dtype, tensor.grid, std::size_t{0}};
  const TileLayout layout(plan, StepId(0), lists);
  EXPECT_EQ(layout.tiles_of(0), std::vector<std::int64_t>{});
  EXPECT_EQ(layout.tiles_of(2), std::vector<std::int64_t>{0});
  EXPECT_EQ(layout.tiles_of(3), std::vector<std::int64_t>{1});
}

}  // namespace
}  // namespace eindb
