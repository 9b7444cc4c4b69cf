// What is left of a graph behind vertices that are computed, and where plans have checkpoints.

#include "optimizer/remaining_graph.hpp"

#include <gtest/gtest.h>

#include "optimizer/checkpoints.hpp"
#include "optimizer/optimizer.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

constexpr std::int64_t kExtent = 20'000;

VertexId sparse_input(GraphBuilder& builder, const std::string& name, double cells) {
  const auto id = builder.input(name, {kExtent, kExtent});
  auto vertex = builder.graph.vertex(id);
  vertex.stored->cells = CellEstimate{cells, {}};
  builder.graph.replace(id, vertex);
  return id;
}

// T[i,k] = SUM(A[i,j] * B[j,k]), U[i,l] = SUM(T[i,k] * C[k,l]), S[i] = SUM(T[i,k])
struct StoredChain {
  GraphBuilder builder;
  Labels labels = builder.labels("ijkl", kExtent);
  Label i = labels[0], j = labels[1], k = labels[2], l = labels[3];
  VertexId a, b, c, t, u, s;

  explicit StoredChain(double cells) {
    a = sparse_input(builder, "A", cells);
    b = sparse_input(builder, "B", cells);
    c = sparse_input(builder, "C", cells);
    t = builder.contraction("T", {{a, {i, j}}, {b, {j, k}}}, {i, k});
    u = builder.contraction("U", {{t, {i, k}}, {c, {k, l}}}, {i, l});
    s = builder.contraction("S", {{t, {i, k}}}, {i});
    builder.graph.set_outputs({s, u});
  }
};

TEST(RemainingGraph, HasWhatWasComputedAsInputs) {
  StoredChain chain(1e5);
  InputTensor computed{.name = "T #2", .grid = TileGrid(Shape({kExtent, kExtent}), {2, 1})};
  computed.cells = CellEstimate{7, {}};
  computed.is_computed = true;
  const std::size_t wanted[] = {1};
  const auto left = remaining_graph(chain.builder.graph, {{chain.t, computed}}, wanted);
  validate(left.graph, 2);
  EXPECT_EQ(left.results, (std::vector<std::size_t>{1}));
  EXPECT_EQ(testing::texts(left.graph), (std::vector<std::string>{"U[i,l] = SUM(T[i,k] * C[k,l])"}));
  EXPECT_EQ(left.graph.size(), 3U) << "A and B are not read again, and S is not wanted";
  const auto& input = left.graph.vertex(left.graph.vertex(left.graph.output()).inputs.front());
  EXPECT_EQ(input.stored, computed);
}

// Passes that see the rest take vertices apart only without functions of aggregated values.
TEST(RemainingGraph, TakesFunctionsOfAggregatedValuesOut) {
  StoredChain chain(1e5);
  auto& graph = chain.builder.graph;
  auto vertex = graph.vertex(chain.u);
  vertex.einsum.epilogue = testing::call(ScalarOp::Sqrt, {testing::op(0)});
  const auto z = graph.add(make_vertex(graph, "Z", vertex.inputs, vertex.einsum));
  graph.set_output(z);
  InputTensor computed{.name = "T #2", .grid = TileGrid(Shape({kExtent, kExtent}), {1, 1})};
  const std::size_t wanted[] = {0};
  const auto left = remaining_graph(graph, {{chain.t, computed}}, wanted);
  validate(left.graph, 2);
  EXPECT_EQ(testing::texts(left.graph),
            (std::vector<std::string>{"Z.value[i,l] = SUM(T[i,k] * C[k,l])", "Z[i,l] = SQRT(Z.value[i,l])"}));
}

OptimizedPlan planned(const EinGraph& graph, OptimizerOptions::Checkpoints checkpoints) {
  OptimizerOptions options;
  options.machine = MachineOptions{.figures = built_in_figures(), .threads = 1};
  options.checkpoints = checkpoints;
  return optimize(graph, options);
}

TEST(Checkpoints, AreWhereCellsAreUncertainAndMatter) {
  using Kind = OptimizerOptions::Checkpoints;
  const auto many = planned(StoredChain(1e5).builder.graph, Kind::Uncertain);
  ASSERT_EQ(many.fragment().checkpoints.size(), 1U);
  const auto& node = many.fragment().node(many.fragment().checkpoints.front());
  EXPECT_EQ(many.graph.vertex(node.vertex).name, "T");
  EXPECT_TRUE(planned(StoredChain(1e5).builder.graph, Kind::None).fragment().checkpoints.empty());
  // Of a few cells nothing takes long, however they meet.
  EXPECT_TRUE(planned(StoredChain(20).builder.graph, Kind::Uncertain).fragment().checkpoints.empty());
  EXPECT_EQ(planned(StoredChain(20).builder.graph, Kind::All).fragment().checkpoints.size(), 1U);
}

// A matrix whose rows are scaled has the cells that it had.
TEST(Checkpoints, AreNotWhereCellsAreCertain) {
  GraphBuilder builder;
  const auto labels = builder.labels("ijk", kExtent);
  const auto a = sparse_input(builder, "A", 1e6);
  const auto c = sparse_input(builder, "C", 1e6);
  const auto v = builder.input("v", {kExtent});
  const Label i = labels[0], j = labels[1], k = labels[2];
  const auto t = builder.contraction("T", {{a, {i, j}}, {v, {i}}}, {i, j});
  const auto u = builder.contraction("U", {{t, {i, j}}, {c, {j, k}}}, {i, k});
  const auto s = builder.contraction("S", {{t, {i, j}}}, {i});
  builder.graph.set_outputs({s, u});
  EXPECT_TRUE(planned(builder.graph, OptimizerOptions::Checkpoints::Uncertain).fragment().checkpoints.empty());
}

}  // namespace
}  // namespace eindb
