// Plans survive encoding and decoding; malformed bytes are refused without harm.
#include "cluster/plan_codec.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "common/error.hpp"
#include "tensor/user_aggregate.hpp"
#include "tests/cluster/random_plan.hpp"

namespace eindb {
namespace {

bool same(const ScalarPtr& a, const ScalarPtr& b) {
  return (a == nullptr) == (b == nullptr) && (a == nullptr || equal(*a, *b));
}
bool same(const EinSum& a, const EinSum& b) {
  return a.inputs == b.inputs && a.output == b.output && a.aggregated == b.aggregated && a.aggregate == b.aggregate &&
         same_aggregate(a.user.get(), b.user.get()) && same(a.expression, b.expression) && same(a.epilogue, b.epilogue);
}
bool same(const JoinStep& a, const JoinStep& b) {
  return a.vertex == b.vertex && a.inputs == b.inputs && same(a.einsum, b.einsum) && a.compute_dtype == b.compute_dtype;
}
bool same(const JoinNode& a, const JoinNode& b) {
  return a.inputs == b.inputs && same(a.einsum, b.einsum) && a.partition == b.partition &&
         a.compute_dtype == b.compute_dtype && a.rows == b.rows && a.halos == b.halos &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const auto& x, const auto& y) { return same(x, y); });
}
bool same(const ScanStep& a, const ScanStep& b) { return a.tensor == b.tensor && a.holders == b.holders; }
bool same(const RedistributeStep& a, const RedistributeStep& b) {
  return a.input == b.input && a.sequence == b.sequence;
}
bool same(const ReduceStep& a, const ReduceStep& b) { return a.input == b.input; }
bool same(const FragmentStep& /*a*/, const FragmentStep& /*b*/) { return false; }  // is never sent
bool same(const ComputeStep& a, const ComputeStep& b) {
  return a.inputs == b.inputs && same(a.join, b.join) && a.blocks == b.blocks && a.at == b.at;
}
bool same(const PlanStep& a, const PlanStep& b) {
  const auto same_op = [&](const auto& op) {
    const auto* other = std::get_if<std::decay_t<decltype(op)>>(&b.op);
    return other != nullptr && same(op, *other);
  };
  return std::visit(same_op, a.op) && a.vertex == b.vertex && a.dtype == b.dtype && a.grid == b.grid &&
         a.placement == b.placement;
}

std::vector<std::byte> encoded(const PlacedPlan& placed) { return encode_plan(placed.plan, placed.holders); }

bool is_refused(std::span<const std::byte> bytes) {
  try {
    decode_plan(bytes);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
    return true;
  }
}

TEST(PlanCodec, PlansArriveAsTheyWereSent) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 300; ++n) {
    const auto sent = random_plan(random);
    const auto got = decode_plan(encoded(sent));
    EXPECT_EQ(got.plan.ranks, sent.plan.ranks);
    EXPECT_EQ(got.plan.coordinator, sent.plan.coordinator);
    EXPECT_EQ(got.plan.holder_lists, sent.plan.holder_lists);
    EXPECT_EQ(got.holders, sent.holders);
    ASSERT_EQ(got.plan.labels.size(), sent.plan.labels.size());
    for (std::size_t l = 0; l < sent.plan.labels.size(); ++l) {
      EXPECT_EQ(got.plan.labels.name(Label(l)), sent.plan.labels.name(Label(l)));
      EXPECT_EQ(got.plan.labels.extent(Label(l)), sent.plan.labels.extent(Label(l)));
    }
    ASSERT_EQ(got.plan.steps.size(), sent.plan.steps.size());
    EXPECT_EQ(got.plan.results, sent.plan.results);
    for (std::size_t s = 0; s < sent.plan.steps.size(); ++s)
      EXPECT_TRUE(same(got.plan.steps[s], sent.plan.steps[s])) << "plan " << n << ", step " << s;
  }
}

// X, which lies in `placement`, and a step that moves it by an empty sequence.
PlacedPlan with_sequence(std::variant<BlockPlacement, std::size_t> placement) {
  PlacedPlan placed;
  const TileGrid grid(Shape({4}), {2});
  placed.holders.emplace_back().add({}, 2);
  placed.plan.holder_lists = 1;
  placed.plan.steps.push_back({ScanStep{{"X", DType::Float64, grid}, 0}, VertexId(0), DType::Float64, grid, placement});
  RedistributeStep moved{StepId(0)};
  moved.sequence.emplace();
  placed.plan.steps.push_back({moved, VertexId(0), DType::Float64, grid, BlockPlacement{{2}, {TileKey{0}}}});
  return placed;
}

TEST(PlanCodec, SequencesBeginInBlocks) {
  const auto blocks = decode_plan(encoded(with_sequence(BlockPlacement{{1}, {TileKey{0}}})));
  const auto& sequence = std::get<RedistributeStep>(blocks.plan.steps[1].op).sequence;
  ASSERT_TRUE(sequence);
  EXPECT_EQ(sequence->shape, Shape({4}));
  EXPECT_EQ(sequence->source, (BlockPlacement{{1}, {TileKey{0}}}));
  EXPECT_TRUE(is_refused(encoded(with_sequence(std::size_t{0}))));
}

TEST(PlanCodec, EveryPrefixIsRefused) {
  std::mt19937_64 random(2);
  for (int n = 0; n < 20; ++n) {
    const auto bytes = encoded(random_plan(random));
    for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_TRUE(is_refused(std::span(bytes).first(size)));
  }
}

TEST(PlanCodec, WhatIsBehindThePlanIsRefused) {
  std::mt19937_64 random(3);
  auto bytes = encoded(random_plan(random));
  bytes.push_back(std::byte{0});
  EXPECT_TRUE(is_refused(bytes));
}

// A changed byte is refused, or gives another plan with exactly these bytes.
TEST(PlanCodec, ChangedBytesAreRefusedOrMeanSomethingElse) {
  std::mt19937_64 random(4);
  int refused = 0;
  for (int n = 0; n < 40; ++n) {
    const auto sent = encoded(random_plan(random));
    for (std::size_t at = 0; at < sent.size(); ++at) {
      auto bytes = sent;
      bytes[at] ^= static_cast<std::byte>(std::uniform_int_distribution<int>(1, 255)(random));
      if (is_refused(bytes)) ++refused;
      else EXPECT_EQ(encoded(decode_plan(bytes)), bytes) << "plan " << n << ", byte " << at;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(PlanCodec, NumbersHaveOneForm) {
  std::mt19937_64 random(5);
  PlacedPlan placed;
  placed.plan.ranks = 3;
  auto bytes = encoded(placed);
  ASSERT_EQ(bytes[1], std::byte{3});
  bytes[1] = std::byte{0x83};
  bytes.insert(bytes.begin() + 2, std::byte{0});  // 3 in two groups
  EXPECT_TRUE(is_refused(bytes));
}

// A message of a few bytes with a count of 2^60 labels, steps or tiles allocates no memory for them.
TEST(PlanCodec, CountsAreNotBelieved) {
  const std::vector<std::byte> huge(8, std::byte{0xFF});
  for (std::size_t at = 3; at < 6; ++at) {
    auto bytes = encoded(PlacedPlan{});
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), huge.begin(), huge.end());
    bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at + huge.size()), std::byte{0x0F});
    EXPECT_TRUE(is_refused(bytes)) << at;
  }
}

ScalarPtr nested(int depth) {
  auto e = ScalarExpression::operand(0);
  for (int n = 1; n < depth; ++n) e = ScalarExpression::call(ScalarOp::Exp, {e});
  return e;
}

PlacedPlan with_expression(ScalarPtr expression) {
  PlacedPlan placed;
  ComputeStep compute;
  compute.join.einsum.expression = std::move(expression);
  placed.plan.steps.push_back({compute, VertexId(0), DType::Float64, {}, BlockPlacement{}});
  return placed;
}

TEST(PlanCodec, ExpressionsNestOnlySoDeep) {
  const auto deepest = encoded(with_expression(nested(kMaxEncodedDepth)));
  EXPECT_EQ(encoded(decode_plan(deepest)), deepest);
  try {
    encoded(with_expression(nested(kMaxEncodedDepth + 1)));
    FAIL() << "it was encoded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_FALSE(error.hint().empty());
  }
  // One EXP beyond the limit: kind, operation, count.
  auto bytes = deepest;
  const std::array exp{std::byte{7}, static_cast<std::byte>(ScalarOp::Exp), std::byte{1}};
  const auto first = std::search(bytes.begin(), bytes.end(), exp.begin(), exp.end());
  ASSERT_NE(first, bytes.end());
  bytes.insert(first, exp.begin(), exp.end());
  EXPECT_TRUE(is_refused(bytes));
}

// Holder lists that are too short would be read beyond their end.
TEST(PlanCodec, HoldersFitTheirGrids) {
  PlacedPlan placed;
  placed.plan.holder_lists = 1;
  const TileGrid grid(Shape({4, 4}), {2, 2});
  placed.plan.steps.push_back(
      {ScanStep{InputTensor{"X", DType::Float64, grid}, 0}, VertexId(0), DType::Float64, grid, std::size_t{0}});
  const Rank zero = 0;
  const Rank seven = 7;  // which is not there
  auto& holders = placed.holders.emplace_back();
  holders.add({&zero, 1}, 3);
  holders.add({});
  EXPECT_EQ(decode_plan(encoded(placed)).holders, placed.holders);
  holders = {};
  holders.add({&zero, 1}, 3);
  EXPECT_TRUE(is_refused(encoded(placed)));
  holders.add({&seven, 1});
  EXPECT_TRUE(is_refused(encoded(placed)));
}

// A plan takes bytes by the runs of tiles that the same ranks hold, not by tiles; and equal holders give equal bytes.
TEST(PlanCodec, HoldersTakeBytesByRuns) {
  const auto with_tiles = [](std::int64_t tiles) {
    PlacedPlan placed;
    placed.plan.holder_lists = 1;
    placed.plan.ranks = 2;
    const TileGrid grid(Shape({tiles}), {tiles});
    placed.plan.steps.push_back(
        {ScanStep{InputTensor{"X", DType::Float64, grid}, 0}, VertexId(0), DType::Float64, grid, std::size_t{0}});
    auto& holders = placed.holders.emplace_back();
    for (const Rank rank : {Rank{0}, Rank{1}}) holders.add({&rank, 1}, tiles / 2);
    return placed;
  };
  const auto many = encoded(with_tiles(200'000));
  EXPECT_LT(many.size(), 100U);
  EXPECT_EQ(decode_plan(many).holders, with_tiles(200'000).holders);
  // [2 runs: 2 tiles {0}, 2 tiles {1}], which would not be written as two runs of rank 0, or with a run of no tiles.
  const auto few = encoded(with_tiles(4));
  auto same_rank = few;
  same_rank.back() = std::byte{0};
  EXPECT_TRUE(is_refused(same_rank));
  auto no_tiles = few;
  no_tiles[no_tiles.size() - 3] = std::byte{0};
  EXPECT_TRUE(is_refused(no_tiles));
}

}  // namespace
}  // namespace eindb
