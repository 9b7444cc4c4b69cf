// Plans from outside: any wrong number is detected before execution.
#include <gtest/gtest.h>

#include <functional>

#include "common/error.hpp"
#include "plan/redistribution_validator.hpp"
#include "plan/validator.hpp"
#include "tests/plan/holders_of_tiles.hpp"

namespace eindb {
namespace {

using testing::holders_of_tiles;

// Z[i,k] = SUM(X[i,j] * Y[j,k]) on four ranks, blocks [i:2 j:2 k:1].
struct DistributedValidator : ::testing::Test {
  DistributedValidator() {
    plan.ranks = 4;
    plan.holder_lists = 2;
    const auto i = plan.labels.add("i", 8);
    const auto j = plan.labels.add("j", 6);
    const auto k = plan.labels.add("k", 4);
    const auto product =
        ScalarExpression::call(ScalarOp::Multiply, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
    const EinSum einsum{{{i, j}, {j, k}}, {i, k}, {j}, product, Aggregate::Sum};
    const auto type = DType::Float64;
    const std::vector<std::optional<TileKey>> at{TileKey{0, 0, 0}, TileKey{1, 0, 0}, TileKey{0, 1, 0},
                                                 TileKey{1, 1, 0}};
    const auto place = [&](Partition parts, std::size_t a, std::size_t b) {
      BlockPlacement out{std::move(parts), {}};
      for (const auto& key : at) out.at.emplace_back(TileKey{(*key)[a], (*key)[b]});
      return out;
    };
    const TileGrid x(Shape({8, 6}), {4, 2});
    const TileGrid y(Shape({6, 4}), {2, 2});
    const TileGrid z(Shape({8, 4}), {4, 2});
    const TileGrid stored(Shape({8, 6}), {1, 1});
    const TileGrid stored_y(Shape({6, 4}), {1, 1});
    plan.steps.push_back({ScanStep{{"X", type, stored}, 0}, VertexId(0), type, stored, std::size_t{0}});
    plan.steps.push_back({ScanStep{{"Y", type, stored_y}, 1}, VertexId(1), type, stored_y, std::size_t{1}});
    plan.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), type, x, place({2, 2}, 0, 1)});
    plan.steps.push_back({RedistributeStep{StepId(1)}, VertexId(1), type, y, place({2, 1}, 1, 2)});
    ComputeStep compute{{StepId(2), StepId(3)}, {{}, einsum, {{i, j, k}, {4, 2, 2}}, type}, {2, 2, 1}, at};
    plan.steps.push_back({compute, VertexId(2), type, z, place({2, 1}, 0, 2)});
    const BlockPlacement everywhere{{4, 1}, {TileKey{0, 0}, TileKey{1, 0}, TileKey{2, 0}, TileKey{3, 0}}};
    plan.steps.push_back({ReduceStep{StepId(4)}, VertexId(2), type, z, everywhere});
    plan.results = {StepId(5)};
  }

  using Change = std::function<void(PhysicalPlan&)>;
  void expect_invalid(const char* what, const Change& change) const {
    auto changed = plan;
    change(changed);
    EXPECT_THROW(validate(changed), Error) << what;
  }
  static ComputeStep& compute(PhysicalPlan& p) { return std::get<ComputeStep>(p.steps[4].op); }
  static BlockPlacement& blocks(PhysicalPlan& p, std::size_t n) {
    return std::get<BlockPlacement>(p.steps[n].placement);
  }

  PhysicalPlan plan;
  std::vector<TileHolders> lists{holders_of_tiles({{3}}), holders_of_tiles({{0, 2}})};
};

TEST_F(DistributedValidator, AcceptsAValidPlan) { EXPECT_NO_THROW(validate(plan, lists)); }

// Z[i] = X[i] for one rank.
PhysicalPlan plan_for_one_rank() {
  const TileGrid grid(Shape({8}), {2});
  const auto type = DType::Float64;
  Fragment fragment;
  fragment.nodes.push_back({ScanNode{{"X", type, grid}}, VertexId(0), type, grid});
  fragment.nodes.push_back({SinkNode{NodeId(0)}, VertexId(0), type, grid});
  return plan_of(std::move(fragment));
}

// X in rows at four ranks, wanted in columns: one alltoall.
struct SequenceValidator : ::testing::Test {
  SequenceValidator() {
    plan.ranks = 4;
    plan.holder_lists = 1;
    const auto type = DType::Float64;
    const TileGrid stored(Shape({8, 8}), {1, 1});
    const BlockPlacement rows{{4, 1}, {TileKey{0, 0}, TileKey{1, 0}, TileKey{2, 0}, TileKey{3, 0}}};
    const BlockPlacement columns{{1, 4}, {TileKey{0, 0}, TileKey{0, 1}, TileKey{0, 2}, TileKey{0, 3}}};
    plan.steps.push_back({ScanStep{{"X", type, stored}, 0}, VertexId(0), type, stored, std::size_t{0}});
    plan.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), type, TileGrid(Shape({8, 8}), {4, 1}), rows});
    RedistributeStep moved{StepId(1)};
    moved.sequence = RedistributionPlan{Shape({8, 8}), rows, {{AllToAll{{{0, 1, 2, 3}}}, columns, 0}}};
    plan.steps.push_back({moved, VertexId(0), type, TileGrid(Shape({8, 8}), {2, 4}), columns});
    plan.results = {StepId(2)};
  }

  static RedistributionPlan& sequence(PhysicalPlan& p) { return *std::get<RedistributeStep>(p.steps[2].op).sequence; }
  static BlockPlacement& blocks(PhysicalPlan& p, std::size_t n) {
    return std::get<BlockPlacement>(p.steps[n].placement);
  }
  void expect_invalid(const char* what, const std::function<void(PhysicalPlan&)>& change) const {
    auto changed = plan;
    change(changed);
    EXPECT_THROW(validate(changed), Error) << what;
  }

  PhysicalPlan plan;
};

TEST_F(SequenceValidator, AcceptsWhatLeadsFromTheInputToTheResult) { EXPECT_NO_THROW(validate(plan)); }

TEST_F(SequenceValidator, FindsWhatDoesNotFitTheStep) {
  expect_invalid("no step", [](auto& p) { sequence(p).steps.clear(); });
  expect_invalid("shape", [](auto& p) { sequence(p).shape = Shape({8, 4}); });
  expect_invalid("source", [](auto& p) { std::swap(sequence(p).source.at[0], sequence(p).source.at[1]); });
  expect_invalid("placement of the input", [](auto& p) { std::swap(blocks(p, 1).at[0], blocks(p, 1).at[1]); });
  expect_invalid("target", [](auto& p) { std::swap(blocks(p, 2).at[0], blocks(p, 2).at[1]); });
  expect_invalid("a result in lists", [](auto& p) { p.steps[2].placement = std::size_t{0}; });
  expect_invalid("an input in lists", [](auto& p) {
    p.steps[1].placement = std::size_t{0};
    p.steps[1].grid = p.steps[0].grid;
  });
}

TEST_F(SequenceValidator, FindsWhatIsWrongInTheSequence) {
  const auto first = [](PhysicalPlan& p) -> RedistributionStep& { return sequence(p).steps.front(); };
  expect_invalid("another collective", [&](auto& p) { first(p).collective = AllGather{{{0, 1, 2, 3}}}; });
  expect_invalid("a cut of what a rank lacks", [&](auto& p) { first(p).collective = DynSlice{}; });
  expect_invalid("groups that lack blocks", [&](auto& p) { first(p).collective = AllToAll{{{0, 1}, {2, 3}}}; });
  expect_invalid("an unknown rank", [&](auto& p) { first(p).collective = AllToAll{{{0, 1, 2, 4}}}; });
  expect_invalid("a rank twice", [&](auto& p) { first(p).collective = AllToAll{{{0, 1, 2, 2}}}; });
  expect_invalid("no order", [&](auto& p) { first(p).collective = AllToAll{{{0, 2, 1, 3}}}; });
  expect_invalid("a rank without a group", [&](auto& p) { first(p).collective = AllToAll{{{0, 1, 2}}}; });
  expect_invalid("a key beside the blocks", [&](auto& p) {
    auto way = first(p);
    way.result.at[0] = TileKey{0, 4};
    sequence(p).steps.insert(sequence(p).steps.begin(), way);
  });
  expect_invalid("more parts than cells", [&](auto& p) {
    auto way = first(p);
    way.result.parts = {1, 9};
    sequence(p).steps.insert(sequence(p).steps.begin(), way);
  });
  expect_invalid("a placement of other ranks", [&](auto& p) {
    auto way = first(p);
    way.result.at.pop_back();
    sequence(p).steps.insert(sequence(p).steps.begin(), way);
  });
}

// Elements beyond a gathered block would be written past its end.
TEST_F(SequenceValidator, FindsBlocksThatAreGatheredInPart) {
  const Shape shape({12});
  const BlockPlacement thirds{{3}, {TileKey{0}, TileKey{1}}};
  const BlockPlacement halves{{2}, {TileKey{0}, TileKey{0}}};
  EXPECT_THROW(validate(RedistributionPlan{shape, thirds, {{AllGather{{{0, 1}}}, halves, 0}}}), Error);
}

TEST_F(SequenceValidator, FindsBlocksTakenFromRanksWithoutAny) {
  const BlockPlacement one{{1}, {TileKey{0}, std::nullopt, std::nullopt}};
  EXPECT_NO_THROW(validate(RedistributionPlan{Shape({4}), one, {{AllPermute{{0, 1, 2}}, one, 0}}}));
  EXPECT_THROW(validate(RedistributionPlan{Shape({4}), one, {{AllPermute{{0, 2, 1}}, one, 0}}}), Error);
}

TEST(PlanForOneRank, IsASingleFragment) {
  const auto plan = plan_for_one_rank();
  EXPECT_NO_THROW(validate(plan));
  ASSERT_NE(plan.fragment(), nullptr);
  EXPECT_EQ(plan.results.size(), plan.fragment()->result_count());
  EXPECT_EQ(operator_name(plan.steps.front()), "fragment");
}

TEST(PlanForOneRank, IsForNoOtherRanks) {
  auto plan = plan_for_one_rank();
  plan.ranks = 2;
  EXPECT_THROW(validate(plan), Error);
  plan = plan_for_one_rank();
  plan.steps.push_back(plan.steps.front());
  EXPECT_THROW(validate(plan), Error);
  plan = plan_for_one_rank();
  plan.results.emplace_back(0);
  EXPECT_THROW(validate(plan), Error);
  plan = plan_for_one_rank();
  std::get<FragmentStep>(plan.steps.front().op).fragment.nodes.pop_back();
  EXPECT_THROW(validate(plan), Error);
}

TEST_F(DistributedValidator, FindsWhatIsWrongInAnyStep) {
  expect_invalid("a fragment among steps",
                 [](auto& p) { p.steps[5].op = std::get<FragmentStep>(plan_for_one_rank().steps.front().op); });
  expect_invalid("no rank", [](auto& p) { p.ranks = 0; });
  expect_invalid("coordinator", [](auto& p) { p.coordinator = 4; });
  expect_invalid("no step", [](auto& p) { p.steps.clear(); });
  expect_invalid("later input", [](auto& p) { std::get<RedistributeStep>(p.steps[2].op).input = StepId(2); });
  expect_invalid("no input", [](auto& p) { std::get<RedistributeStep>(p.steps[2].op).input = StepId(); });
  expect_invalid("unread step", [](auto& p) { p.steps.pop_back(); });
  expect_invalid("unknown list", [](auto& p) { p.holder_lists = 1; });
  expect_invalid("grid of a tensor", [](auto& p) { p.steps[0].grid = TileGrid(Shape({8, 6}), {2, 1}); });
  expect_invalid("shape", [](auto& p) { p.steps[2].grid = TileGrid(Shape({8, 8}), {4, 2}); });
  expect_invalid("type", [](auto& p) { p.steps[2].dtype = DType::Float32; });
  expect_invalid("blocks cut tiles", [](auto& p) { blocks(p, 2).parts = {3, 2}; });
  expect_invalid("no blocks", [](auto& p) { blocks(p, 2).parts = {0, 2}; });
  expect_invalid("rank of blocks", [](auto& p) { blocks(p, 2).parts = {2}; });
  expect_invalid("too few ranks", [](auto& p) { blocks(p, 2).at.pop_back(); });
  expect_invalid("beside the blocks", [](auto& p) { blocks(p, 2).at[1] = TileKey{2, 0}; });
  expect_invalid("a block of another rank", [](auto& p) { blocks(p, 2).at[1] = TileKey{0, 0}; });
  expect_invalid("no block", [](auto& p) { blocks(p, 2).at[1].reset(); });
  expect_invalid("a result that is nowhere", [](auto& p) { blocks(p, 5).at[1].reset(); });
  expect_invalid("a reduced grid", [](auto& p) { p.steps[5].grid = TileGrid(Shape({8, 4}), {4, 1}); });
  expect_invalid("a final result", [](auto& p) { std::get<ReduceStep>(p.steps[5].op).input = StepId(3); });
  expect_invalid("partial results", [](auto& p) { p.steps[5].op = RedistributeStep{StepId(4)}; });
}

TEST_F(DistributedValidator, FindsWhatIsWrongInAComputation) {
  expect_invalid("its block", [](auto& p) { compute(p).at[0] = TileKey{0, 2, 0}; });
  expect_invalid("a block without a rank", [](auto& p) { compute(p).at[0].reset(); });
  expect_invalid("blocks", [](auto& p) { compute(p).blocks = {2, 2}; });
  expect_invalid("blocks of calls", [](auto& p) { compute(p).blocks = {2, 1, 2}; });
  expect_invalid("vector", [](auto& p) { compute(p).join.partition.parts = {4, 2}; });
  expect_invalid("vector of other labels",
                 [](auto& p) { std::swap(compute(p).join.partition.labels[0], compute(p).join.partition.labels[1]); });
  expect_invalid("unknown label", [](auto& p) { compute(p).join.einsum.inputs[0][0] = Label(7); });
  expect_invalid("unknown aggregated label", [](auto& p) { compute(p).join.einsum.aggregated[0] = Label(7); });
  expect_invalid("unknown operand", [](auto& p) { compute(p).join.einsum.expression = ScalarExpression::operand(2); });
  expect_invalid("an input too few", [](auto& p) { compute(p).inputs.pop_back(); });
  expect_invalid("an operand's cut", [](auto& p) { compute(p).inputs[1] = StepId(2); });
  expect_invalid("partial results of another type", [](auto& p) { p.steps[4].dtype = DType::Float32; });
  expect_invalid("narrow computation",
                 [](auto& p) { compute(p).join.compute_dtype = p.steps[4].dtype = DType::Float32; });
  expect_invalid("a step of no chain", [](auto& p) {
    auto step = JoinStep{VertexId(2), {0, 1}, compute(p).join.einsum, DType::Float64};
    step.inputs[0] = 9;
    compute(p).join.steps.push_back(step);
  });
}

TEST_F(DistributedValidator, FindsWhatIsWrongInLists) {
  const auto expect_wrong = [&](const char* what, const std::vector<std::vector<Rank>>& tiles) {
    auto changed = lists;
    changed[1] = holders_of_tiles(tiles);
    EXPECT_THROW(validate(plan, changed), Error) << what;
  };
  expect_wrong("no tile", {});
  expect_wrong("unknown rank", {{0, 4}});
  expect_wrong("twice", {{2, 2}});
  expect_wrong("not in order", {{2, 0}});
  expect_wrong("too many tiles", {{0}, {2}});
  EXPECT_THROW(validate(plan, std::span(lists).first(1)), Error);
  plan.steps[5].placement = std::size_t{2};
  plan.holder_lists = 3;
  lists.push_back(holders_of_tiles({{0}, {1}, {2}, {3}, {0}, {1}, {2}, {3}}));
  EXPECT_NO_THROW(validate(plan, lists));
  lists.back() = holders_of_tiles({{0}, {1}, {2}, {3}, {0}, {1}, {2}, {}});
  EXPECT_THROW(validate(plan, lists), Error) << "a tile of the result is nowhere";
}

}  // namespace
}  // namespace eindb
