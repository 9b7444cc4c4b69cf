#include "optimizer/partitions/placement.hpp"

#include <gtest/gtest.h>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

TEST(Placement, TypesAreWrittenMinorToMajor) {
  EXPECT_EQ((MeshType{{12, 8, 3}, {{0, 2}, {1}, {}}}).to_string(), "[3{x2,x0}12, 4{x1}8, 3]");
  EXPECT_EQ((MeshType{}).to_string(), "[]");
}

// Z[i,k] = SUM(X[i,j] Y[j,k]) on 8 x 8, then its square; partition vectors are given.
struct Chain : GraphBuilder {
  Label i = label("i", 8);
  Label j = label("j", 8);
  Label k = label("k", 8);
  VertexId x = input("X", {8, 8}, {4, 1});
  VertexId y = input("Y", {8, 8}, {1, 1});
  VertexId z = contraction("Z", {{x, {i, j}}, {y, {j, k}}}, {i, k});
  VertexId q = vertex("Q", {{z, {i, k}}}, {i, k}, testing::call(ScalarOp::Multiply, {testing::op(0), testing::op(0)}));

  Placement placed(Partition of_z, Partition of_q, std::int64_t workers) {
    std::vector<LabelPartition> partitions{{}, {}, {{i, j, k}, std::move(of_z)}, {{i, k}, std::move(of_q)}};
    return place(graph, evaluate(graph, std::move(partitions), {4, false, std::nullopt}), workers);
  }
};

TEST(Placement, WhatIsCutAlikeStays) {
  const auto p = Chain().placed({4, 1, 1}, {4, 1}, 4);
  EXPECT_EQ(p.vertices[0].result.to_string(), "[2{x1,x0}8, 8]");
  EXPECT_EQ(p.vertices[2].result.to_string(), "[2{x1,x0}8, 8]");
  EXPECT_EQ(p.vertices[3].result.to_string(), "[2{x1,x0}8, 8]");
  // X lies where it is wanted; of Y, wanted whole by all, each has a quarter.
  EXPECT_EQ(p.received, 4 * 48);
}

TEST(Placement, CountsWhatEachWorkerLacks) {
  const auto p = Chain().placed({4, 1, 1}, {1, 4}, 4);
  EXPECT_EQ(p.vertices[3].result.to_string(), "[8, 2{x1,x0}8]");
  // 8 x 2 wanted by each, 2 x 2 of it there.
  EXPECT_EQ(p.vertices[3].received, 4 * 12);
  EXPECT_EQ(p.vertices[3].most_received, 12);
}

TEST(Placement, SummedLabelsAreReducedToAll) {
  const auto p = Chain().placed({1, 4, 1}, {1, 1}, 4);
  EXPECT_EQ(p.vertices[2].result.to_string(), "[8, 8]");
  // X[i,j]: 8 x 2 wanted, 2 x 2 there; Y lies as it is wanted; the all-reduce of 64 elements over 4.
  EXPECT_EQ(p.vertices[2].received, 4 * 12 + 4 * 2 * 0.75 * 64);
  EXPECT_EQ(p.vertices[3].received, 0);
}

TEST(Placement, MoreCallsThanWorkersAndFewer) {
  EXPECT_EQ(Chain().placed({4, 1, 2}, {8, 1}, 2).vertices[2].result.to_string(), "[4{x0}8, 8]");
  EXPECT_EQ(Chain().placed({2, 1, 1}, {2, 1}, 16).vertices[3].result.to_string(), "[4{x0}8, 8]");
  EXPECT_EQ(Chain().placed({2, 1, 1}, {2, 1}, 3).mesh_axes, 1);
  EXPECT_EQ(Chain().placed({2, 1, 1}, {2, 1}, 1).received, 0);
}

}  // namespace
}  // namespace eindb
