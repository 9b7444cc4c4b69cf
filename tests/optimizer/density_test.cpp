#include "optimizer/partitions/density.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "optimizer/optimizer.hpp"
#include "optimizer/plan_memory.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// A stored tensor with the given share of its tiles.
VertexId sparse_input(GraphBuilder& g, const std::string& name, const std::vector<std::int64_t>& extents,
                      const Partition& parts, double present) {
  Vertex v = make_input({name, DType::Float64, TileGrid(Shape(extents), parts), std::nullopt, false, present});
  return g.graph.add(std::move(v));
}

struct SparseProduct {
  explicit SparseProduct(double of_x, double of_y = 1, Aggregate aggregate = Aggregate::Sum) {
    const auto l = g.labels("ijk", 64);
    const auto x = sparse_input(g, "X", {64, 64}, {16, 16}, of_x);
    const auto y = sparse_input(g, "Y", {64, 64}, {16, 16}, of_y);
    z = g.vertex("Z", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]}, testing::product(2), aggregate);
    estimate_densities(g.graph);
    shape = shape_of(g.graph, g.graph.vertex(z));
  }
  GraphBuilder g;
  VertexId z;
  VertexShape shape;
};

TEST(Density, OfAProductIsThatOfIndependentTiles) {
  const SparseProduct one(0.1);
  EXPECT_NEAR(share_of_calls(one.shape, {16, 16, 16}), 0.1, 1e-12);
  EXPECT_NEAR(one.g.graph.vertex(one.z).density.present, 1 - std::pow(0.9, 16), 1e-12);
  EXPECT_EQ(one.g.graph.vertex(one.z).density.parts, (Partition{16, 16}));
  const SparseProduct both(0.1, 0.5);
  EXPECT_NEAR(share_of_calls(both.shape, {16, 16, 16}), 0.05, 1e-12);
}

TEST(Density, CoarserTilesAreRarelyAbsent) {
  const SparseProduct z(0.1);
  EXPECT_NEAR(share_of_calls(z.shape, {8, 8, 8}), 1 - std::pow(0.9, 4), 1e-12);
  EXPECT_NEAR(share_of_calls(z.shape, {32, 16, 1}), 0.1, 1e-12) << "finer ones as often";
  EXPECT_NEAR(share_of_calls(z.shape, {1, 1, 1}), 1, 1e-9);
}

TEST(Density, WhatZeroDoesNotSaveIsDense) {
  EXPECT_EQ(share_of_calls(SparseProduct(0.1, 1, Aggregate::Max).shape, {16, 16, 16}), 1);
  EXPECT_EQ(share_of_calls(SparseProduct(1).shape, {16, 16, 16}), 1);
  EXPECT_TRUE(SparseProduct(1).shape.sparse.operands.empty());

  // A sum is present where one of its terms is.
  GraphBuilder g;
  const auto l = g.labels("ij", 64);
  const auto x = sparse_input(g, "X", {64, 64}, {8, 8}, 0.2);
  const auto y = sparse_input(g, "Y", {64, 64}, {8, 8}, 0.5);
  const auto z = g.vertex("Z", {{x, l}, {y, l}}, l, testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}),
                          Aggregate::None);
  const auto e = g.vertex("E", {{z, l}}, l, testing::call(ScalarOp::Exp, {testing::op(0)}), Aggregate::None);
  estimate_densities(g.graph);
  EXPECT_NEAR(g.graph.vertex(z).density.present, 1 - 0.8 * 0.5, 1e-12);
  EXPECT_EQ(g.graph.vertex(e).density.present, 1);
}

OptimizerOptions on_this_machine(std::int64_t memory_limit = std::int64_t{1} << 40U) {
  OptimizerOptions options;
  options.parallelism = 8;
  options.machine = MachineOptions{.figures = built_in_figures(), .threads = 2, .memory_limit = memory_limit};
  return options;
}

EinGraph large_product(double present) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 8192);
  const auto x = sparse_input(g, "X", {8192, 8192}, {16, 16}, present);
  const auto y = sparse_input(g, "Y", {8192, 8192}, {16, 16}, 1);
  g.vertex("Z", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]}, testing::product(2));
  return g.graph;
}

TEST(Density, SparseProductsAreCutAlongTheTilesThereAre) {
  const auto plan = optimize(large_product(0.1), on_this_machine());
  const auto& parts = plan.labelling.vertices.back().partition.parts;
  EXPECT_GE(parts[0], 16);
  EXPECT_GE(parts[1], 16);
  const auto dense = optimize(large_product(1), on_this_machine());
  EXPECT_LT(plan.labelling.total_cost * 6, dense.labelling.total_cost);
}

// Tensors whose numbers of parts are no powers of two are read as stored.
TEST(CalibratedChoice, VectorsFollowTheTilesThatThereAre) {
  GraphBuilder g;
  const auto l = g.labels("ij", 5000);
  const auto x = sparse_input(g, "X", {5000, 5000}, {10, 10}, 1);
  const auto y = sparse_input(g, "Y", {5000, 5000}, {10, 10}, 1);
  g.vertex("Z", {{x, l}, {y, l}}, l, testing::product(2), Aggregate::None);
  const auto plan = optimize(g.graph, on_this_machine());
  EXPECT_EQ(plan.labelling.vertices.back().partition.parts, (Partition{10, 10}));
  for (const auto& node : plan.fragment().nodes) EXPECT_FALSE(std::holds_alternative<RepartitionNode>(node.op));
}

// (A B) (C D) with the data eight times the limit.
EinGraph chain(std::int64_t n) {
  GraphBuilder g;
  const auto l = g.labels("ijklm", n);
  std::vector<VertexId> inputs;
  const auto parts = std::max<std::int64_t>(1, n / 500);
  for (const char* name : {"A", "B", "C", "D"}) inputs.push_back(sparse_input(g, name, {n, n}, {parts, parts}, 1));
  const auto ab =
      g.vertex("P", {{inputs[0], {l[0], l[1]}}, {inputs[1], {l[1], l[2]}}}, {l[0], l[2]}, testing::product(2));
  const auto cd =
      g.vertex("Q", {{inputs[2], {l[2], l[3]}}, {inputs[3], {l[3], l[4]}}}, {l[2], l[4]}, testing::product(2));
  g.vertex("Z", {{ab, {l[0], l[2]}}, {cd, {l[2], l[4]}}}, {l[0], l[4]}, testing::product(2));
  return g.graph;
}

TEST(MemoryChoice, WhatDoesNotFitGoesToAScratchFileOrIsSliced) {
  const std::int64_t data = 7 * 4000 * 4000 * 8;
  auto options = on_this_machine(data / 8);
  options.memory_limit = data / 8;
  options.spills = options.machine->spills = true;
  const auto plan = optimize(chain(4000), options);
  ASSERT_TRUE(plan.memory_choice);
  EXPECT_FALSE(plan.shortfall);
  EXPECT_FALSE(plan.memory_choice->way == MemoryWay::Slice) << "slices do not make room for the result";
  EXPECT_GT(plan.memory_choice->spilled_bytes, 0);
  EXPECT_LE(working_bytes(plan.fragment(), 2), 0.75 * static_cast<double>(data) / 8);
}

TEST(MemoryChoice, TheErrorSaysWhatCallsNeed) {
  auto options = on_this_machine(1 << 20);
  options.memory_limit = 1 << 20;
  options.spills = options.machine->spills = true;
  GraphBuilder g;  // one uncut tensor of 8 MB
  const auto l = g.labels("ij", 1000);
  const auto x = sparse_input(g, "X", {1000, 1000}, {1, 1}, 1);
  g.vertex("Z", {{x, {l[0], l[1]}}}, {l[1], l[0]}, testing::op(0), Aggregate::None);
  const auto plan = optimize(g.graph, options);
  ASSERT_TRUE(plan.shortfall);
  EXPECT_TRUE(plan.shortfall->for_calls);
  EXPECT_GT(plan.shortfall->bytes, 8e6);
}

}  // namespace
}  // namespace eindb
