#include "optimizer/recomputation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "optimizer/optimizer.hpp"
#include "optimizer/plan_memory.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/graph_builder.hpp"
#include "tests/optimizer/special_values.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// A1 = |X V1|, A2 = |A1 V2|, ..., then backwards from the last D = D' (1 - D' A), where each A is read for its
// derivative, and X by the last one. If `waits`, the derivatives depend on the sum of all squares of the last A. A sum
// over each D is a result too, so that no D is fused away.
EinGraph layers(int depth, std::int64_t n, bool waits = true) {
  GraphBuilder g;
  const auto l = g.labels("ij", n);
  const auto multiply = testing::product(2);
  const auto slope = testing::call(ScalarOp::Multiply,
                                   {testing::op(0), testing::call(ScalarOp::Subtract, {testing::number(1), multiply})});
  const auto x = g.input("X", {n, n});
  const auto v = g.input("V", {n});
  std::vector<VertexId> values{x};
  for (int k = 1; k <= depth; ++k)
    values.push_back(g.vertex("A" + std::to_string(k), {{values.back(), l}, {v, {l[1]}}}, l,
                              testing::call(ScalarOp::Abs, {multiply}), Aggregate::None));
  std::vector<VertexId> results;
  auto back = values.back();
  if (waits) {
    const auto loss = g.contraction("L", {{back, l}, {back, l}}, {});
    back = g.vertex("G", {{back, l}, {loss, {}}}, l, multiply, Aggregate::None);
  }
  for (auto k = static_cast<std::size_t>(depth); k-- > 0;) {
    back = g.vertex("D" + std::to_string(k), {{back, l}, {values[k], l}}, l, slope, Aggregate::None);
    results.push_back(g.contraction("S" + std::to_string(k), {{back, l}, {values[k], l}}, {l[1]}));
  }
  g.graph.set_outputs(results);
  return g.graph;
}

DenseTensor numbers(const Vertex& vertex) {
  auto tensor = DenseTensor::uninitialized(vertex.dtype, vertex.bound);
  auto* values = tensor.mutable_data<double>();
  for (std::int64_t k = 0; k < vertex.bound.element_count(); ++k)
    values[k] = 0.01 * static_cast<double>(k * 7 % 23) - 0.1;
  return tensor;
}

TEST(Recomputation, ValuesAreComputedAgainForTheirLateReaders) {
  const auto graph = layers(10, 6);
  const auto recomputed = recompute_values(graph, 0.6);
  EXPECT_GE(recomputed.names.size(), 3U);
  EXPECT_EQ(recomputed.graph.size(), graph.size() + recomputed.names.size());
  validate(recomputed.graph, 2);
  const auto expected = testing::evaluate_outputs(graph, numbers);
  const auto actual = testing::evaluate_outputs(recomputed.graph, numbers);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t n = 0; n < expected.size(); ++n)
    EXPECT_TRUE(testing::same_values(expected[n], actual[n])) << "result " << n;
}

TEST(Recomputation, NothingIsComputedAgainThatFits) { EXPECT_TRUE(recompute_values(layers(10, 6), 1).names.empty()); }

// Execution takes each tile through all layers and back.
TEST(Recomputation, NothingIsComputedAgainThatNobodyWaitsFor) {
  EXPECT_TRUE(recompute_values(layers(10, 6, false), 0.5).names.empty());
}

TEST(Recomputation, AggregatesAreHeld) {
  GraphBuilder g;
  const auto l = g.labels("ij", 8);
  const auto x = g.input("X", {8, 8});
  const auto s = g.contraction("S", {{x, l}, {x, {l[1], l[0]}}}, {l[0]});
  const auto t = g.vertex("T", {{s, {l[0]}}, {x, l}}, l, testing::product(2), Aggregate::None);
  const auto u = g.vertex("U", {{t, l}, {t, {l[1], l[0]}}}, l, testing::product(2), Aggregate::None);
  g.vertex("Z", {{u, l}, {s, {l[0]}}}, l, testing::product(2), Aggregate::None);
  const auto names = recompute_values(g.graph, 0.1).names;
  EXPECT_EQ(std::count(names.begin(), names.end(), "S"), 0);
}

OptimizerOptions within(double limit) {
  OptimizerOptions options;
  options.parallelism = 64;
  options.memory_limit = static_cast<std::int64_t>(limit);
  options.spills = true;
  return options;
}

TEST(Recomputation, LowersThePeakAndWhatIsSpilled) {
  const auto graph = layers(10, 512);
  const auto held = optimize(graph, within(0)).peak_bytes;
  const auto plan = optimize(graph, within(held / 2));
  EXPECT_LT(plan.peak_bytes, 0.6 * held);
  EXPECT_FALSE(plan.recomputed.empty());
  auto without = within(held / 2);
  without.disabled_passes = {"recomputation"};
  const auto spilled = optimize(graph, without);
  EXPECT_TRUE(spilled.recomputed.empty());
  EXPECT_EQ(spilled.peak_bytes, held);
  EXPECT_LT(scratch_traffic(plan.fragment(), held / 2).written, scratch_traffic(spilled.fragment(), held / 2).written);
}

TEST(Recomputation, IsChosenWhereItTakesLessTimeThanTheScratchFile) {
  const auto graph = layers(10, 512);
  const auto held = optimize(graph, within(0)).peak_bytes;
  auto options = within(held / 2);
  options.machine = MachineOptions{.figures = built_in_figures(), .threads = 2, .memory_limit = options.memory_limit};
  options.machine->spills = true;
  const auto plan = optimize(graph, options);
  ASSERT_TRUE(plan.memory_choice);
  EXPECT_EQ(plan.memory_choice->way, MemoryWay::Recompute);
  EXPECT_LT(plan.memory_choice->seconds_recomputing, plan.memory_choice->seconds_spilling);
}

// Each operator would fit alone, but the early results wait for the late operators.
TEST(Recomputation, WhatWaitsForLateReadersIsSpilled) {
  const auto plan = optimize(layers(10, 512), within(0));
  EXPECT_EQ(scratch_traffic(plan.fragment(), 1.01 * plan.peak_bytes).written, 0);
  const auto half = scratch_traffic(plan.fragment(), plan.peak_bytes / 2);
  EXPECT_GT(half.written, plan.peak_bytes / 4);
  EXPECT_LT(half.written, plan.peak_bytes);
  EXPECT_NEAR(half.read, half.written, half.written / 2);
}

// P, combined by a group-by, is read again after two further products; the sink of Q, its last reader, runs before
// them.
TEST(Recomputation, CombinedResultsWaitAsWell) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 512);
  const auto x = g.input("X", {512, 512});
  const auto y = g.input("Y", {512, 512});
  const auto p = g.contraction("P", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
  const auto q = g.contraction("Q", {{y, {l[0], l[1]}}, {p, {l[1], l[2]}}}, {l[0], l[2]});
  const auto r = g.contraction("R", {{x, {l[0], l[1]}}, {y, {l[2], l[1]}}}, {l[0], l[2]});
  const auto s = g.contraction("S", {{r, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
  const auto t = g.vertex("T", {{s, {l[0], l[2]}}, {p, {l[0], l[2]}}}, {l[0], l[2]}, testing::product(2));
  g.graph.set_outputs({q, t});
  auto options = within(0);
  options.strategy = {Strategy::Kind::Sqrt, {}};
  options.disabled_passes = {"part_reads"};
  const auto plan = optimize(g.graph, options).fragment();
  const auto is_group_by = [](const FragmentNode& node) { return std::holds_alternative<GroupByNode>(node.op); };
  ASSERT_EQ(std::count_if(plan.nodes.begin(), plan.nodes.end(), is_group_by), 4);
  const double matrix = 8 * 512 * 512;
  EXPECT_EQ(scratch_traffic(plan, 4.5 * matrix).written, 0);
  // Beside the product's three matrices there is room for half of another: P, or the repartitioned Y, which waits too.
  const auto traffic = scratch_traffic(plan, 3.5 * matrix);
  EXPECT_EQ(traffic.written, matrix);
  EXPECT_EQ(traffic.read, matrix);
}

}  // namespace
}  // namespace eindb
