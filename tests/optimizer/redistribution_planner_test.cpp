#include "optimizer/redistribution/redistribution_planner.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "optimizer/redistribution/redistribution_simulator.hpp"
#include "plan/redistribution_validator.hpp"
#include "tests/optimizer/random_redistribution.hpp"

namespace eindb {
namespace {

using testing::RandomRedistributions;
using testing::RedistributionProblem;

using Lines = std::vector<std::string>;

RedistributionProblem problem(std::string_view mesh, std::string_view source, std::string_view target) {
  const auto axes = Mesh::parse(mesh);
  return {DistributedType::parse(source, axes), DistributedType::parse(target, axes)};
}

Lines planned(const RedistributionProblem& p) {
  return describe(*plan_redistribution(p.source, p.target), p.source.mesh());
}

std::int64_t bound(const RedistributionProblem& p) { return std::max(p.source.local_size(), p.target.local_size()); }

// Checks the plan's own figures against the simulator.
void expect_right(const RedistributionProblem& p, const RedistributionPlan& plan, std::int64_t memory) {
  const auto name = p.source.to_string() + " -> " + p.target.to_string() + " on " + p.source.mesh().to_string();
  EXPECT_EQ(plan.source, p.source.placement()) << name;
  EXPECT_EQ(plan.target(), p.target.placement()) << name;
  EXPECT_NO_THROW(validate(plan)) << name;
  SimulatedRedistribution simulated;
  ASSERT_NO_THROW(simulated = simulate(plan)) << name;
  EXPECT_LE(simulated.peak, memory) << name;
  EXPECT_EQ(simulated.peak, plan.peak()) << name;
  EXPECT_EQ(simulated.received, moved_elements(plan).received) << name;
  EXPECT_EQ(simulated.most_received, moved_elements(plan).most_received) << name;
}

// REDISTRIBUTION.md and the paper's examples 4.9 and 7.1.
TEST(RedistributionPlanner, OneAlltoallMovesAnAxis) {
  EXPECT_EQ(planned(problem("{a:8}", "[1{a}8, 8]", "[8, 1{a}8]")),
            (Lines{"alltoall(0 -> 1) {a.0,a.1,a.2}   [8, 1{a.0,a.1,a.2}8]   8"}));
}

// Section 7.3: of the axes that a dynslice could use, it uses the target's.
TEST(RedistributionPlanner, SlicesByTheAxisOfTheTarget) {
  EXPECT_EQ(planned(problem("{x:4, y:4}", "[16]", "[4{x}16]")), (Lines{"dynslice(0) {x.0,x.1}   [4{x.0,x.1}16]   0"}));
  EXPECT_EQ(planned(problem("{x:4, y:4}", "[16]", "[4{y}16]")), (Lines{"dynslice(0) {y.0,y.1}   [4{y.0,y.1}16]   0"}));
}

// Example 3.1: moving whole axes would hold the whole tensor, 144 elements.
TEST(RedistributionPlanner, FactorsOfAxesMoveWithinMemory) {
  const auto p = problem("{x:4, y:6}", "[3{x}12, 2{y}12]", "[2{y}12, 3{x}12]");
  const auto plan = *plan_redistribution(p.source, p.target);
  expect_right(p, plan, 6);
  EXPECT_LE(plan.cost(), 18);
}

// Figure 3: a change only of the holders of blocks.
TEST(RedistributionPlanner, PermutesBlocks) {
  for (const auto& p : {problem("{x:4, y:4}", "[64{y,x}1024, 128]", "[64{x,y}1024, 128]"),
                        problem("{x:4, y:4}", "[32{x}128, 16{y}64]", "[32{y}128, 16{x}64]")}) {
    const auto plan = *plan_redistribution(p.source, p.target);
    ASSERT_EQ(plan.steps.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<AllPermute>(plan.steps[0].collective));
    EXPECT_EQ(plan.cost(), static_cast<double>(p.source.local_size()));
    expect_right(p, plan, p.source.local_size());
  }
}

TEST(RedistributionPlanner, ThePermutationComesBeforeTheLastAllgathers) {
  const auto p = problem("{x:2, y:2}", "[4{x,y}16]", "[8{x}16]");
  const auto plan = *plan_redistribution(p.source, p.target);
  ASSERT_EQ(plan.steps.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<AllPermute>(plan.steps[0].collective));
  EXPECT_TRUE(std::holds_alternative<AllGather>(plan.steps[1].collective));
  EXPECT_EQ(plan.cost(), 4 + 8);
}

// Figure 12: cutting by the axis over which both ends replicate makes the moved blocks smaller.
TEST(RedistributionPlanner, OverPartitionsByReplicatedAxes) {
  const auto p = problem("{x:2, z:8}", "[32{x}64, 64]", "[64, 32{x}64]");
  const auto plan = *plan_redistribution(p.source, p.target);
  EXPECT_EQ(plan.cost(), 2048);  // the alltoall alone: the target is no larger
  const auto q = problem("{x:2, y:2, z:8}", "[32{x,y}128, 128, 128]", "[128, 64{x}128, 128]");
  const auto over = *plan_redistribution(q.source, q.target);
  expect_right(q, over, bound(q));
  // An allgather is needed anyway; before it, an eighth of a block is moved.
  EXPECT_EQ(over.cost(), q.target.local_size() + q.source.local_size() / 8);
}

// The paper's figure 13, P4: allgathers along two dimensions are merged.
TEST(RedistributionPlanner, AllgathersAlongSeveralDimensionsAreOne) {
  const auto p = problem("{a:2, b:2, c:2}", "[8{c}16, 16, 8{a}16, 8{b}16]", "[16, 16, 16, 8{a}16]");
  const auto plan = *plan_redistribution(p.source, p.target);
  expect_right(p, plan, bound(p));
  EXPECT_EQ(plan.cost(), p.source.local_size() + p.target.local_size());
}

TEST(RedistributionPlanner, NothingMovesWhereNothingChanges) {
  const auto p = problem("{x:4, y:4}", "[4{x}16, 3]", "[4{x}16, 3]");
  EXPECT_TRUE(plan_redistribution(p.source, p.target)->steps.empty());
}

TEST(RedistributionPlanner, RefusesTensorsAndMeshesThatDiffer) {
  const auto a = problem("{x:4}", "[4{x}16]", "[3{x}12]");
  EXPECT_THROW(plan_redistribution(a.source, a.target), Error);
  EXPECT_THROW(plan_redistribution(a.source, problem("{y:4}", "[16]", "[16]").target), Error);
}

TEST(RedistributionPlanner, RandomProblemsAreSolvedWithinMemory) {
  for (const auto* mesh : {"{x:2, y:2, z:2}", "{x:4, y:4, z:4}", "{x:2, y:3, z:4}", "{x:6, y:10}", "{x:5, y:1, z:4}"}) {
    RandomRedistributions random(Mesh::parse(mesh), 11);
    for (int round = 0; round < 60; ++round) {
      const auto p = random.next(1e6);
      const auto plan = *plan_redistribution(p.source, p.target);
      expect_right(p, plan, bound(p));
      const auto fallback = gather_then_slice(p.source.global_shape(), plan.source, plan.target());
      expect_right(p, *fallback, p.source.global_shape().element_count());
    }
  }
}

// A selection of the measurements of bench/redistribution_bench.
TEST(RedistributionPlanner, BeatsTheFallbackOnTheMeshesOfThePaper) {
  for (const auto& [mesh, target] : {std::pair("{x:2, y:2, z:2}", 3.0), std::pair("{x:4, y:4, z:4}", 15.0)}) {
    RandomRedistributions random(Mesh::parse(mesh), 2021);
    double sum_of_logs = 0;
    int count = 0;
    for (int round = 0; round < 150; ++round) {
      const auto p = random.next();
      const auto plan = *plan_redistribution(p.source, p.target);
      EXPECT_LE(plan.peak(), bound(p));
      if (plan.cost() == 0) continue;
      const auto fallback = gather_then_slice(p.source.global_shape(), plan.source, plan.target());
      sum_of_logs += std::log(fallback->cost() / plan.cost());
      ++count;
    }
    EXPECT_GT(std::exp(sum_of_logs / count), target) << mesh;
  }
}

TEST(RedistributionPlanner, UnevenExtentsNeverPassTheBound) {
  int collective = 0;
  for (const auto* mesh : {"{x:2, y:2, z:2}", "{x:2, y:3, z:4}", "{x:7}"}) {
    RandomRedistributions random(Mesh::parse(mesh), 12);
    for (int round = 0; round < 150; ++round) {
      const auto p = random.next_uneven();
      const auto plan = plan_redistribution(p.source, p.target);
      if (!plan) continue;
      expect_right(p, *plan, bound(p));
      ++collective;
    }
  }
  EXPECT_GT(collective, 400);  // out of 450: it is rare that memory leaves no path
}

TEST(RedistributionPlanner, AThousandRanks) {
  RandomRedistributions random(Mesh::parse("{x:8, y:8, z:16}"), 13);
  for (int round = 0; round < 6; ++round) {
    const auto p = random.next(4e6);
    expect_right(p, *plan_redistribution(p.source, p.target), bound(p));
  }
}

// With latency and enough memory, no plan costs more than the fallback; section 8's P1 to P3 are among the problems.
TEST(RedistributionPlanner, IsNeverDearerThanTheFallback) {
  RandomRedistributions random(Mesh::parse("{a:2, b:2, c:2}"), 14);
  auto problems = std::vector{problem("{a:2, b:2, c:2}", "[360, 184{c}368, 320]", "[90{c,a}360, 368, 160{b}320]"),
                              problem("{a:2, b:2, c:2}", "[80, 40{c}80, 72, 64]", "[40{b}80, 80, 36{c}72, 64]"),
                              problem("{a:2, b:2, c:2}", "[296, 360, 156{c}312]", "[74{b,c}296, 180{a}360, 312]")};
  for (int round = 0; round < 100; ++round) problems.push_back(random.next());
  int fallbacks = 0;
  for (const auto& p : problems) {
    const auto shape = p.source.global_shape();
    const CollectiveCosts latency{static_cast<double>(shape.element_count()), 0};
    const auto plan = *plan_redistribution(p.source, p.target, {latency, shape.element_count()});
    const auto fallback = gather_then_slice(shape, p.source.placement(), p.target.placement(), latency);
    EXPECT_LE(plan.cost(), fallback->cost());
    EXPECT_EQ(plan.target(), p.target.placement());
    fallbacks += plan.peak() > bound(p) ? 1 : 0;
    // Without extra memory, no rank holds the whole tensor.
    EXPECT_LE(plan_redistribution(p.source, p.target, {latency, 0})->peak(), bound(p));
  }
  EXPECT_GT(fallbacks, 10);
}

// Eight ranks on two cores, over MPI: copies take as long as elements from other ranks.
constexpr CollectiveCosts kSharedMemory{50'000, 10'000, 0.8, 1.3};

// The plan with the fewest elements gathers columns, which every rank then copies into place. The fallback gathers rows
// that are received in place, and took less time: 27 ms beside 36.
TEST(RedistributionPlanner, GathersRowsWhereCopiesCount) {
  const auto p = problem("{x:2, y:2, z:2}", "[1353{z,y,x}10824, 1478]", "[10824, 739{y}1478]");
  const auto by_elements = *plan_redistribution(p.source, p.target);
  ASSERT_EQ(by_elements.steps.size(), 2U);
  EXPECT_EQ(by_elements.steps[0].result.parts, (Partition{1, 8}));
  const auto by_costs = *plan_redistribution(p.source, p.target, {kSharedMemory});
  ASSERT_EQ(by_costs.steps.size(), 3U);
  EXPECT_EQ(by_costs.steps[1].result.parts, (Partition{4, 2}));
  EXPECT_TRUE(std::holds_alternative<AllGather>(by_costs.steps[2].collective));
  expect_right(p, by_costs, bound(p));
}

// A coordinator that computes nothing holds no block, and no collectives lead from its own to those of others.
TEST(RedistributionPlanner, RanksWithoutBlocks) {
  const auto p = problem("{x:4}", "[4{x}16, 16]", "[16, 4{x}16]");
  auto source = p.source.placement();
  auto target = p.target.placement();
  source.at.insert(source.at.begin(), std::nullopt);
  target.at.insert(target.at.begin(), std::nullopt);
  const auto plan = *plan_redistribution(p.source.global_shape(), source, target);
  ASSERT_EQ(plan.steps.size(), 1U);
  EXPECT_EQ(std::get<AllToAll>(plan.steps[0].collective).groups, (std::vector<RankGroup>{{1, 2, 3, 4}}));
  EXPECT_NO_THROW(simulate(plan));

  BlockPlacement of_coordinator{{1, 1}, std::vector<std::optional<TileKey>>(5)};
  of_coordinator.at[0] = TileKey{0, 0};
  EXPECT_FALSE(plan_redistribution(p.source.global_shape(), of_coordinator, target));
}

// Plans that differ from correct ones in one place.
std::vector<RedistributionPlan> broken_plans() {
  std::vector<RedistributionPlan> out;
  const auto exchanged = problem("{x:2, y:2}", "[4{x}8, 8]", "[8, 4{x}8]");
  const auto break_it = [&](const RedistributionProblem& p, const auto& change) {
    out.push_back(*plan_redistribution(p.source, p.target));
    change(out.back().steps.back());
  };
  break_it(exchanged, [](auto& step) { std::get<AllToAll>(step.collective).groups.pop_back(); });
  break_it(exchanged, [](auto& step) { std::get<AllToAll>(step.collective).groups = {{0, 2}, {1, 3}}; });
  break_it(exchanged, [](auto& step) { step.collective = DynSlice{}; });
  break_it(exchanged, [](auto& step) { step.result.at[0].reset(); });
  const auto gathered = problem("{x:4}", "[2{x}8]", "[8]");
  break_it(gathered, [](auto& step) { std::get<AllGather>(step.collective).groups = {{0, 1}, {2, 3}}; });
  break_it(gathered, [](auto& step) { std::get<AllGather>(step.collective).groups = {{0, 1, 1, 3}}; });
  const auto permuted = problem("{x:2, y:2}", "[2{x,y}8]", "[2{y,x}8]");
  break_it(permuted, [](auto& step) { std::get<AllPermute>(step.collective).from[1] = 1; });
  break_it(permuted, [](auto& step) { std::swap(step.result.at[0], step.result.at[1]); });
  return out;
}

TEST(RedistributionSimulator, FindsWhatIsWrong) {
  for (const auto& plan : broken_plans()) EXPECT_THROW(simulate(plan), Error) << describe(plan, Mesh()).front();
}

TEST(RedistributionValidator, FindsWhatIsWrong) {
  auto plans = broken_plans();
  const auto p = problem("{x:4}", "[2{x}8]", "[8]");
  const auto right = *plan_redistribution(p.source, p.target);
  const auto add = [&](const auto& change) { change(plans.emplace_back(right)); };
  // These would access memory beyond blocks, so they are not simulated.
  add([](auto& plan) { std::get<AllGather>(plan.steps[0].collective).groups[0][3] = 4; });
  add([](auto& plan) { plan.source.at[0] = TileKey{4}; });
  add([](auto& plan) { plan.source.at[0] = TileKey{-1}; });
  add([](auto& plan) { plan.source.at[0] = TileKey{}; });
  add([](auto& plan) { plan.source.parts = {9}; });
  add([](auto& plan) { plan.source.parts = {0}; });
  add([](auto& plan) { plan.steps[0].result.at.pop_back(); });
  add([](auto& plan) {
    std::swap(std::get<AllGather>(plan.steps[0].collective).groups[0][0],
              std::get<AllGather>(plan.steps[0].collective).groups[0][1]);
  });
  add([](auto& plan) { plan.steps[0].collective = AllPermute{{0, 1, 2, 9}}; });
  for (std::size_t n = 0; n < plans.size(); ++n) EXPECT_THROW(validate(plans[n]), Error) << "plan " << n;
}

}  // namespace
}  // namespace eindb
