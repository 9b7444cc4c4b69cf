// The pieces that a rank accepts from others.
#include "executor/piece_streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/error.hpp"
#include "storage/encoding/packed_cells.hpp"
#include "tests/plan/holders_of_tiles.hpp"

namespace eindb {
namespace {

struct IncomingPiecesTest : ::testing::Test {
  // 4 x 4 in 4 tiles at rank 0, needed by rank 1 as rows: each row tile consists of two pieces.
  IncomingPiecesTest() {
    plan.ranks = 3;
    const TileGrid tiles(Shape({4, 4}), {2, 2});
    const TileGrid rows(Shape({4, 4}), {4, 1});
    plan.holder_lists = 1;
    plan.steps.push_back(
        {ScanStep{{"X", DType::Float64, tiles}, 0}, VertexId(0), DType::Float64, tiles, std::size_t{0}});
    BlockPlacement at_1{{1, 1}, {std::nullopt, TileKey{0, 0}, std::nullopt}};
    plan.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), DType::Float64, rows, at_1});
    from.emplace(plan, StepId(0), lists);
    to.emplace(plan, StepId(1), lists);
    moves.emplace(*from, *to);
    needed.emplace(*moves, Rank{1});
    begin(false);
  }
  void begin(bool of_cells) {
    incoming.emplace(StepId(1), *needed, DType::Float64, of_cells, memory, cancellation, taker);
  }

  struct Count final : PieceTaker {
    void take(std::size_t piece, CountedTile tile) override {
      pieces.push_back(piece);
      if (tile.tile.is_of_cells()) cells.push_back(tile.tile.cells().numbers());
    }
    void finish(std::size_t) override {}
    std::vector<std::size_t> pieces;
    std::vector<std::vector<std::int64_t>> cells;  // of those of cells, their numbers
  };

  void receive(Rank peer, std::uint32_t step, TilePiece piece, std::size_t bytes = 16) {
    EXPECT_EQ(incoming->begin(peer, PieceHeader{StepId(step), piece}.encode(), bytes).size(), bytes);
    incoming->end(peer);
  }
  void expect_refused(Rank peer, std::uint32_t step, TilePiece piece, std::size_t bytes = 16) {
    try {
      incoming->begin(peer, PieceHeader{StepId(step), piece}.encode(), bytes);
      ADD_FAILURE() << "was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
    }
  }

  PhysicalPlan plan;
  std::vector<TileHolders> lists{testing::holders_of_tiles({{0}, {0}, {0}, {0}})};
  std::optional<TileLayout> from;
  std::optional<TileLayout> to;
  std::optional<TileMoves> moves;
  std::optional<NeededPieces> needed;
  std::shared_ptr<MemoryBudget> memory = MemoryBudget::create(1 << 20);
  Cancellation cancellation;
  Count taker;
  std::optional<IncomingPieces> incoming;
};

TEST_F(IncomingPiecesTest, TakesWhatIsExpectedOnceAndInOrder) {
  receive(0, 1, {.target = 0, .layer = 0, .source = 0});
  receive(0, 1, {.target = 0, .layer = 0, .source = 1});
  expect_refused(0, 1, {.target = 0, .layer = 0, .source = 1});
  receive(0, 1, {.target = 2, .layer = 0, .source = 3});  // the pieces in between are absent
  expect_refused(0, 1, {.target = 1, .layer = 0, .source = 0});
  EXPECT_EQ(taker.pieces, (std::vector<std::size_t>{0, 1, 5}));
  EXPECT_EQ(incoming->count(), 3);
}

TEST_F(IncomingPiecesTest, RefusesWhatNobodyShouldSend) {
  const TilePiece first{.target = 0, .layer = 0, .source = 0};
  expect_refused(0, 2, first);
  expect_refused(0, 1, first, 8);
  expect_refused(0, 1, first, std::size_t{1} << 60U);
  expect_refused(2, 1, first);
  expect_refused(1, 1, first);
  expect_refused(0, 1, {.target = 0, .layer = 1, .source = 0});
  expect_refused(0, 1, {.target = 0, .layer = 0, .source = 2});
  expect_refused(0, 1, {.target = -1, .layer = 0, .source = 0});
  expect_refused(0, 1, {.target = 0, .layer = 0, .source = std::int64_t{1} << 62U});
  const auto header = PieceHeader{StepId(1), first}.encode();
  EXPECT_THROW(incoming->begin(0, std::span(header).first(23), 16), Error);
  EXPECT_THROW(incoming->begin(0, {}, 0), Error);
  EXPECT_TRUE(taker.pieces.empty());
}

// A piece of a row has two cells of FLOAT64.
TEST_F(IncomingPiecesTest, TakesCellsAndRefusesOtherBytes) {
  begin(true);
  const Shape shape({1, 2});
  const auto block = [&](std::vector<std::int64_t> numbers) {
    const std::vector<std::byte> values(8 * numbers.size(), std::byte{1});
    return pack_cells(CellBlock::of_numbers(DType::Float64, shape, numbers, values));
  };
  const auto receive_cells = [&](const TilePiece& piece, const std::vector<std::byte>& bytes) {
    const auto room = incoming->begin(0, PieceHeader{StepId(1), piece}.encode(), bytes.size());
    ASSERT_EQ(room.size(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), room.begin());
    incoming->end(0);
  };
  receive_cells({.target = 0, .layer = 0, .source = 0}, block({1}));
  receive_cells({.target = 0, .layer = 0, .source = 1}, block({0, 1}));
  EXPECT_EQ(taker.cells, (std::vector<std::vector<std::int64_t>>{{1}, {0, 1}}));
  EXPECT_THROW(receive_cells({.target = 1, .layer = 0, .source = 0}, std::vector<std::byte>(16, std::byte{1})), Error);
  begin(true);
  auto damaged = block({0, 1});
  damaged[16] = std::byte{3};  // the count of its cells
  EXPECT_THROW(receive_cells({.target = 1, .layer = 0, .source = 0}, damaged), Error);
  begin(true);
  EXPECT_THROW(incoming->begin(0, PieceHeader{StepId(1), {.target = 0, .layer = 0, .source = 0}}.encode(),
                               std::size_t{1} << 40U),
               Error);
}

}  // namespace
}  // namespace eindb
