// The order in which ranks run the steps of a plan.
#include "executor/step_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/executor/distributed_fixture.hpp"
#include "tests/executor/random_statement.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::RandomLayout;
using testing::RandomStatement;

std::size_t place_of(const StepOrder& order, std::size_t step) {
  const auto found = std::find(order.steps.begin(), order.steps.end(), StepId(step));
  EXPECT_NE(found, order.steps.end());
  return static_cast<std::size_t>(found - order.steps.begin());
}

bool computes(const PhysicalPlan& plan, StepId step) { return std::holds_alternative<ComputeStep>(plan.step(step).op); }

// Whether `step` reads what `other` makes, directly or by way of others.
bool depends_on(const PhysicalPlan& plan, StepId step, StepId other) {
  const auto inputs = inputs_of(plan.step(step));
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](StepId input) { return input == other || depends_on(plan, input, other); });
}

TEST(StepOrder, HasEachStepOnceBehindWhatItReads) {
  std::size_t earlier = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round));
    RandomStatement statement(random, 0.2, {-1, 1});
    if (round % 2 == 0) statement.want_several();
    RandomLayout layout(random, statement.builder.graph, 4);
    layout.lower(statement.tensors);
    const auto& plan = layout.plan;
    const auto order = step_order(plan);
    ASSERT_EQ(order.steps.size(), plan.steps.size());
    std::vector<StepId> computations;
    for (std::size_t n = 0; n < plan.steps.size(); ++n)
      for (const auto input : inputs_of(plan.steps[n])) EXPECT_LT(place_of(order, input.index()), place_of(order, n));
    for (const auto step : order.steps)
      if (computes(plan, step)) computations.push_back(step);
    EXPECT_TRUE(std::is_sorted(computations.begin(), computations.end()));
    // Each of those that overlap has a computation in front that it does not depend on.
    for (const auto step : order.overlapped) {
      const auto place = place_of(order, step.index());
      EXPECT_TRUE(std::any_of(order.steps.begin(), order.steps.begin() + static_cast<std::ptrdiff_t>(place),
                              [&](StepId other) { return computes(plan, other) && !depends_on(plan, step, other); }));
      ++earlier;
    }
  }
  EXPECT_GT(earlier, 100U);
}

// S = A B and T = S C: C travels while S is computed, as the head of step_order.hpp has it.
TEST(StepOrder, MovesWhatIsReadLaterBesideAComputation) {
  std::mt19937 random(1);
  GraphBuilder builder;
  const auto l = builder.labels("ijkl", 512);
  const TileGrid grid(Shape({512, 512}), {4, 4});
  testing::StoredTensors tensors;
  std::vector<VertexId> inputs;
  for (const std::string name : {"A", "B", "C"}) {
    tensors.add(name, testing::random_tensor(random, grid, DType::Float64, 0), grid);
    inputs.push_back(builder.input(name, {512, 512}, {4, 4}));
  }
  const auto s = builder.contraction("S", {{inputs[0], {l[0], l[1]}}, {inputs[1], {l[1], l[2]}}}, {l[0], l[2]});
  builder.contraction("T", {{s, {l[0], l[2]}}, {inputs[2], {l[2], l[3]}}}, {l[0], l[3]});
  RandomLayout layout(random, builder.graph, 1);
  layout.lower(tensors);
  const auto& plan = layout.plan;
  const auto order = step_order(plan);
  std::vector<std::string> names;
  for (const auto step : order.steps) {
    if (std::holds_alternative<ScanStep>(plan.step(step).op)) continue;
    names.push_back(operator_name(plan.step(step)).substr(0, 1) + builder.graph.vertex(plan.step(step).vertex).name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"rA", "rB", "cS", "rC", "rS", "cT", "rT"}));
  ASSERT_EQ(order.overlapped.size(), 1U);
  EXPECT_EQ(builder.graph.vertex(plan.step(order.overlapped[0]).vertex).name, "C");
}

}  // namespace
}  // namespace eindb
