#include "optimizer/contraction_slicer.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "optimizer/flops.hpp"
#include "optimizer/optimizer.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;

constexpr std::int64_t kExtent = 32;
constexpr double kMatrix = kExtent * kExtent * 8;

// T[i,k,l] = A[i,k] * B[i,l] and U[k,l] = SUM(T * C[i,k]); tests add further vertices. T is 32 times as large as the
// rest.
struct ContractionSlicer : ::testing::Test {
  ContractionSlicer() {
    const auto all = builder.labels("iklm", kExtent);
    i = all[0], k = all[1], l = all[2], m = all[3];
    a = builder.input("A", {kExtent, kExtent});
    b = builder.input("B", {kExtent, kExtent});
    c = builder.input("C", {kExtent, kExtent});
    t = builder.contraction("T", {{a, {i, k}}, {b, {i, l}}}, {i, k, l});
  }

  EinGraph slice(double limit) const {
    auto sliced = slice_contractions(builder.graph, limit).graph;
    validate(sliced, 2);
    return sliced;
  }

  GraphBuilder builder;
  Label i, k, l, m;
  VertexId a, b, c, t;
};

TEST_F(ContractionSlicer, SlicesWhatDoesNotFit) {
  const auto u = builder.contraction("U", {{t, {i, k, l}}, {c, {i, k}}}, {k, l});
  EXPECT_TRUE(slice(40 * kMatrix).sliced().empty());
  const auto graph = slice(12 * kMatrix);
  ASSERT_EQ(graph.sliced().size(), 1U);
  const auto& sliced = graph.sliced()[0];
  EXPECT_EQ(sliced.result, u);
  EXPECT_EQ(sliced.body, (std::vector<VertexId>{t, u}));
  EXPECT_GE(sliced.slices(), 4);
  EXPECT_EQ(graph.sliced_with(t), &sliced);
  EXPECT_EQ(graph.sliced_with(a), nullptr);
  EXPECT_EQ(flops_of(graph).flops, flops_of(builder.graph).flops) << "every vertex has the label";
  EXPECT_LT(flops_of(graph).largest_result, flops_of(builder.graph).largest_result);
}

TEST_F(ContractionSlicer, SumsOfSlicesAreAddedUp) {
  builder.contraction("U", {{t, {i, k, l}}, {c, {i, k}}}, {});
  EXPECT_EQ(slice(12 * kMatrix).sliced()[0].aggregate, Aggregate::Sum);
}

// i is summed in U, so a reader of U that is no sum of products ends the contraction; k and l are kept.
TEST_F(ContractionSlicer, WhatReadsSumsOfSlicesMustBeLinear) {
  const auto u = builder.contraction("U", {{t, {i, k, l}}, {c, {i, k}}}, {k, l});
  builder.vertex("Z", {{u, {k, l}}}, {}, call(ScalarOp::Exp, {op(0)}));
  const auto graph = slice(12 * kMatrix);
  ASSERT_EQ(graph.sliced().size(), 1U);
  EXPECT_EQ(graph.sliced()[0].result, u);
}

TEST_F(ContractionSlicer, ADenominatorIsNotLinear) {
  const auto u = builder.contraction("U", {{t, {i, k, l}}, {c, {i, k}}}, {k, l});
  builder.vertex("Z", {{c, {k, m}}, {u, {k, l}}}, {m}, call(ScalarOp::Divide, {op(0), op(1)}));
  const auto graph = slice(12 * kMatrix);
  for (const auto& sliced : graph.sliced()) EXPECT_EQ(sliced.result, u);
}

TEST_F(ContractionSlicer, OtherAggregatesTakeElementwiseVerticesIn) {
  const auto z =
      builder.vertex("Z", {{t, {i, k, l}}, {c, {i, k}}}, {l}, call(ScalarOp::Add, {op(0), op(1)}), Aggregate::Max);
  const auto graph = slice(12 * kMatrix);
  ASSERT_EQ(graph.sliced().size(), 1U);
  EXPECT_EQ(graph.sliced()[0].result, z);
}

TEST_F(ContractionSlicer, WhatIsReadTwiceIsNoPart) {
  const auto u = builder.contraction("U", {{t, {i, k, l}}, {c, {i, k}}}, {k, l});
  builder.contraction("Z", {{t, {i, k, l}}, {u, {k, l}}}, {});
  const auto graph = slice(12 * kMatrix);
  for (const auto& sliced : graph.sliced())
    for (const auto id : sliced.body) EXPECT_NE(id, t);
}

// i in T and U is a different loop than i in Z.
TEST_F(ContractionSlicer, ALabelOfTwoMeaningsIsNotCut) {
  const auto u = builder.contraction("U", {{t, {i, k, l}}, {c, {i, k}}}, {k, l});
  builder.contraction("Z", {{u, {k, l}}, {c, {i, k}}}, {});
  const auto graph = slice(12 * kMatrix);
  for (const auto& sliced : graph.sliced())
    for (const auto& label : sliced.labels) EXPECT_NE(label.label, i);
}

TEST_F(ContractionSlicer, SaysWhatCannotBeDone) {
  builder.vertex("Z", {{t, {i, k, l}}, {c, {i, k}}}, {i, k, l}, call(ScalarOp::Multiply, {op(0), op(1)}));
  const auto sliced = slice_contractions(builder.graph, 12 * kMatrix);
  ASSERT_TRUE(sliced.shortfall.has_value());
  EXPECT_EQ(sliced.shortfall->vertex, "Z");
  EXPECT_GE(sliced.shortfall->bytes, kExtent * kMatrix);
}

TEST_F(ContractionSlicer, PlansKeepToTheLimitUnderEveryStrategy) {
  builder.contraction("U", {{t, {i, k, l}}, {c, {i, k}}}, {k, l});
  for (const auto* strategy : {"eindecomp", "sqrt", "data(k)", "data(i)"}) {
    OptimizerOptions options;
    options.parallelism = 16;
    options.strategy = parse_strategy(strategy);
    options.disabled_passes = {"inlining", "early_summation", "chain_fusion"};
    const auto whole = optimize(builder.graph, options);
    EXPECT_TRUE(whole.fragment().loops.empty());
    EXPECT_GE(whole.peak_bytes, kExtent * kMatrix);
    options.memory_limit = static_cast<std::int64_t>(12 * kMatrix);
    const auto sliced = optimize(builder.graph, options);
    ASSERT_EQ(sliced.fragment().loops.size(), 1U);
    EXPECT_LE(sliced.peak_bytes, 12 * kMatrix);
    for (const auto id : sliced.graph.sliced()[0].body) {
      const auto slices = sliced.graph.slices_of(id);
      const auto& parts = sliced.labelling.vertices[id.index()].partition.parts;
      for (std::size_t n = 0; n < parts.size(); ++n) EXPECT_EQ(parts[n] % slices[n], 0);
    }
  }
}

// Whatever a strategy chooses, the parts of a sliced label become a multiple of its slices.
TEST_F(ContractionSlicer, PartitionVectorsAreFitted) {
  builder.contraction("U", {{t, {i, k, l}}, {c, {i, k}}}, {k, l});
  auto graph = builder.graph;
  graph.slice({t, {t}, {{i, 8}}, Aggregate::None, false});
  std::vector<LabelPartition> partitions(graph.size());
  partitions[t.index()] = {graph.vertex(t).einsum.labels(), {4, 2, 1}};
  EXPECT_EQ(fitted_to_slices(graph, partitions)[t.index()].parts, (Partition{8, 2, 1}));
  partitions[t.index()].parts = {20, 2, 1};
  EXPECT_EQ(fitted_to_slices(graph, partitions)[t.index()].parts, (Partition{16, 2, 1}));
}

}  // namespace
}  // namespace eindb
