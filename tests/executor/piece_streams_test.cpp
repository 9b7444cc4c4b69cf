// The pieces that a rank accepts from others.
#include "executor/piece_streams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

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

  static std::vector<std::byte> header_of(std::uint32_t step, std::vector<PiecesHeader::Entry> entries) {
    std::vector<std::byte> bytes;
    PiecesHeader{StepId(step), std::move(entries)}.encode(bytes);
    return bytes;
  }
  void receive(Rank peer, std::uint32_t step, TilePiece piece, std::size_t bytes = 16) {
    EXPECT_EQ(incoming->begin(peer, header_of(step, {{piece, bytes}}), bytes).size(), bytes);
    incoming->end(peer);
  }
  void expect_refused(Rank peer, std::uint32_t step, TilePiece piece, std::size_t bytes = 16) {
    try {
      incoming->begin(peer, header_of(step, {{piece, bytes}}), bytes);
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
  const auto header = header_of(1, {{first, 16}});
  EXPECT_THROW(incoming->begin(0, std::span(header).first(header.size() - 1), 16), Error);
  EXPECT_THROW(incoming->begin(0, std::span(header).first(PiecesHeader::kStepBytes), 0), Error);
  EXPECT_THROW(incoming->begin(0, header, 15), Error);
  EXPECT_THROW(incoming->begin(0, header, 17), Error);
  EXPECT_THROW(incoming->begin(0, {}, 0), Error);
  EXPECT_TRUE(taker.pieces.empty());
}

TEST_F(IncomingPiecesTest, TakesPiecesThatTravelTogether) {
  const TilePiece first{.target = 0, .layer = 0, .source = 0};
  const TilePiece second{.target = 0, .layer = 0, .source = 1};
  const TilePiece third{.target = 1, .layer = 0, .source = 0};
  EXPECT_EQ(incoming->begin(0, header_of(1, {{first, 16}, {second, 16}}), 32).size(), 32U);
  incoming->end(0);
  EXPECT_EQ(taker.pieces, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(incoming->count(), 2);
  EXPECT_EQ(incoming->messages(), 1);
  // In another order, twice, with other bytes than they have, or with others than there are.
  const TilePiece last{.target = 3, .layer = 0, .source = 3};
  EXPECT_THROW(incoming->begin(0, header_of(1, {{last, 16}, {third, 16}}), 32), Error);
  begin(false);
  EXPECT_THROW(incoming->begin(0, header_of(1, {{first, 16}, {first, 16}}), 32), Error);
  begin(false);
  EXPECT_THROW(incoming->begin(0, header_of(1, {{first, 8}, {second, 24}}), 32), Error);
  begin(false);
  EXPECT_THROW(incoming->begin(0, header_of(1, {{first, 16}, {second, 16}}), 31), Error);
  EXPECT_THROW(incoming->begin(0, header_of(1, {{first, 16}, {second, 16}}), 33), Error);
  EXPECT_THROW(incoming->begin(0, header_of(1, {{first, ~std::uint64_t{0} - 15}, {second, 32}}), 16), Error);
  EXPECT_THROW(incoming->begin(0, header_of(2, {{first, 16}, {second, 16}}), 32), Error);
  EXPECT_TRUE(taker.pieces.size() == 2);
}

TEST_F(IncomingPiecesTest, RefusesMoreThanTravelTogether) {
  const TilePiece first{.target = 0, .layer = 0, .source = 0};
  auto header = header_of(1, std::vector<PiecesHeader::Entry>(PiecesHeader::kMostPieces, {first, 16}));
  header.resize(header.size() + PiecesHeader::kPieceBytes);
  EXPECT_THROW(PiecesHeader::decode(header, 16 * PiecesHeader::kMostPieces), Error);
  const auto large = header_of(1, {{first, PiecesHeader::kMostTogether}, {first, 1}});
  EXPECT_THROW(PiecesHeader::decode(large, PiecesHeader::kMostTogether + 1), Error);
  const auto allowed = header_of(1, {{first, PiecesHeader::kMostTogether - 1}, {first, 1}});
  EXPECT_EQ(PiecesHeader::decode(allowed, PiecesHeader::kMostTogether).entries.size(), 2U);
}

// Two tiles of 2 x 2 and the pieces of rows that they give to another rank.
struct OutgoingPiecesTest : ::testing::Test {
  // 64 x 64 FLOAT64 in 4 tiles at rank 0; rank 1 needs rows of 64, each of two pieces of 256 bytes.
  explicit OutgoingPiecesTest(std::int64_t limit = 1 << 20) : memory(MemoryBudget::create(limit)) {
    plan.ranks = 2;
    const TileGrid tiles(Shape({64, 64}), {2, 2});
    const TileGrid rows(Shape({64, 64}), {64, 1});
    plan.holder_lists = 1;
    plan.steps.push_back(
        {ScanStep{{"X", DType::Float64, tiles}, 0}, VertexId(0), DType::Float64, tiles, std::size_t{0}});
    BlockPlacement at_1{{1, 1}, {std::nullopt, TileKey{0, 0}}};
    plan.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), DType::Float64, rows, at_1});
    from.emplace(plan, StepId(0), lists);
    to.emplace(plan, StepId(1), lists);
    moves.emplace(*from, *to);
    local.emplace(DType::Float64, tiles, memory);
    for (std::int64_t id = 0; id < 4; ++id) {
      auto tile = Tile::uninitialized(DType::Float64, Shape({32, 32}));
      for (std::int64_t n = 0; n < 1024; ++n) tile.mutable_data<double>()[n] = static_cast<double>(1024 * id + n);
      local->put(id, memory->track(std::move(tile)));
    }
  }

  struct Check final : PieceTaker {
    explicit Check(const NeededPieces& n) : needed(n) {}
    void take(std::size_t piece, CountedTile tile) override {
      const auto [target, layer, source] = needed.on_its_way(piece);
      const auto row = target % 32;
      for (std::int64_t n = 0; n < 32; ++n)
        EXPECT_EQ(tile.tile.data<double>()[n], static_cast<double>(1024 * source + 32 * row + n));
      ++taken;
    }
    void finish(std::size_t) override {}
    const NeededPieces& needed;
    int taken = 0;
  };

  // Sends everything; returns the number of messages.
  int send() {
    OutgoingPieces outgoing(StepId(1), *moves, 0, &*local, memory, cancellation);
    const NeededPieces needed(*moves, 1);
    Check check(needed);
    const auto room = MemoryBudget::create(1 << 20);
    IncomingPieces incoming(StepId(1), needed, DType::Float64, false, room, cancellation, check);
    int messages = 0;
    while (const auto message = outgoing.next(1)) {
      EXPECT_LE(message->header.size(), Exchange::kMaxHeader);
      const auto into = incoming.begin(0, message->header, message->payload.size());
      std::copy(message->payload.begin(), message->payload.end(), into.begin());
      incoming.end(0);
      ++messages;
    }
    EXPECT_EQ(check.taken, 128);
    EXPECT_EQ(incoming.messages(), messages);
    return messages;
  }

  PhysicalPlan plan;
  std::vector<TileHolders> lists{testing::holders_of_tiles({{0}, {0}, {0}, {0}})};
  std::optional<TileLayout> from;
  std::optional<TileLayout> to;
  std::optional<TileMoves> moves;
  std::shared_ptr<MemoryBudget> memory;
  Cancellation cancellation;
  std::optional<Relation> local;
};

TEST_F(OutgoingPiecesTest, PutsSmallPiecesTogether) {
  constexpr auto kMost = static_cast<int>(PiecesHeader::kMostPieces);
  EXPECT_EQ(send(), (128 + kMost - 1) / kMost);
}

struct OutgoingPiecesWithoutRoom : OutgoingPiecesTest {
  OutgoingPiecesWithoutRoom() : OutgoingPiecesTest(4 * 8192 + 1024) {}
};

TEST_F(OutgoingPiecesWithoutRoom, SendsThemAlone) { EXPECT_EQ(send(), 128); }

// A piece of a row has two cells of FLOAT64.
TEST_F(IncomingPiecesTest, TakesCellsAndRefusesOtherBytes) {
  begin(true);
  const Shape shape({1, 2});
  const auto block = [&](std::vector<std::int64_t> numbers) {
    const std::vector<std::byte> values(8 * numbers.size(), std::byte{1});
    return pack_cells(CellBlock::of_numbers(DType::Float64, shape, numbers, values));
  };
  const auto receive_cells = [&](const TilePiece& piece, const std::vector<std::byte>& bytes) {
    const auto room = incoming->begin(0, header_of(1, {{piece, bytes.size()}}), bytes.size());
    ASSERT_EQ(room.size(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), room.begin());
    incoming->end(0);
  };
  receive_cells({.target = 0, .layer = 0, .source = 0}, block({1}));
  receive_cells({.target = 0, .layer = 0, .source = 1}, block({0, 1}));
  EXPECT_EQ(taker.cells, (std::vector<std::vector<std::int64_t>>{{1}, {0, 1}}));
  EXPECT_THROW(receive_cells({.target = 1, .layer = 0, .source = 0}, std::vector<std::byte>(16, std::byte{1})), Error);
  begin(true);
  const auto one = block({1});
  const auto two = block({0, 1});
  const auto room = incoming->begin(0,
                                    header_of(1, {{{.target = 0, .layer = 0, .source = 1}, one.size()},
                                                  {{.target = 1, .layer = 0, .source = 0}, two.size()}}),
                                    one.size() + two.size());
  std::copy(two.begin(), two.end(), std::copy(one.begin(), one.end(), room.begin()));
  incoming->end(0);
  EXPECT_EQ(taker.cells.size(), 4U);
  begin(true);
  auto damaged = block({0, 1});
  damaged[16] = std::byte{3};  // the count of its cells
  EXPECT_THROW(receive_cells({.target = 1, .layer = 0, .source = 0}, damaged), Error);
  begin(true);
  EXPECT_THROW(incoming->begin(0, header_of(1, {{{.target = 0, .layer = 0, .source = 0}, std::size_t{1} << 40U}}),
                               std::size_t{1} << 40U),
               Error);
}

}  // namespace
}  // namespace eindb
