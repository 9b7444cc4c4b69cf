#include "optimizer/partitions/placement.hpp"

#include <gtest/gtest.h>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// Z[i,k] = SUM(X[i,j] Y[j,k]) on 8 x 8, then its square; partition vectors are given.
struct SquaredProduct : GraphBuilder {
  Label i = label("i", 8);
  Label j = label("j", 8);
  Label k = label("k", 8);
  VertexId x = input("X", {8, 8}, {4, 1});
  VertexId y = input("Y", {8, 8}, {1, 1});
  VertexId z = contraction("Z", {{x, {i, j}}, {y, {j, k}}}, {i, k});
  VertexId q = vertex("Q", {{z, {i, k}}}, {i, k}, testing::call(ScalarOp::Multiply, {testing::op(0), testing::op(0)}));

  Placement placed(Partition of_z, Partition of_q, std::int64_t workers) {
    std::vector<LabelPartition> partitions{{}, {}, {{i, j, k}, std::move(of_z)}, {{i, k}, std::move(of_q)}};
    return place(graph, evaluate(graph, std::move(partitions), {4, false, {}}), workers);
  }
};

TEST(Placement, WhatIsCutAlikeStays) {
  const auto p = SquaredProduct().placed({4, 1, 1}, {4, 1}, 4);
  EXPECT_EQ(p.vertices[0].result.to_string(), "[2{x1,x0}8, 8]");
  EXPECT_EQ(p.vertices[2].result.to_string(), "[2{x1,x0}8, 8]");
  EXPECT_EQ(p.vertices[3].result.to_string(), "[2{x1,x0}8, 8]");
  // X is already in place; all workers want the whole of Y, and the first has it.
  EXPECT_EQ(p.received, 3 * 64);
}

TEST(Placement, CountsWhatEachWorkerLacks) {
  const auto p = SquaredProduct().placed({4, 1, 1}, {1, 4}, 4);
  EXPECT_EQ(p.vertices[3].result.to_string(), "[8, 2{x1,x0}8]");
  // Each wants 8 x 2, and has 2 x 2 of it.
  EXPECT_EQ(p.vertices[3].received, 4 * 12);
  EXPECT_EQ(p.vertices[3].most_received, 12);
}

TEST(Placement, PartialResultsAreReducedAndScattered) {
  const auto p = SquaredProduct().placed({1, 4, 1}, {4, 1}, 4);
  // The result is cut as the reader wants it, although the other dimension comes first.
  EXPECT_EQ(p.vertices[2].result.to_string(), "[2{x1,x0}8, 8]");
  // X[i,j]: 8 x 2 wanted, 2 x 2 present; Y lies at the first worker, and 2 x 8 of it is wanted by each; of 2 x 8 of the
  // result, three partial results of others.
  EXPECT_EQ(p.vertices[2].received, 4 * 12 + 3 * 16 + 4 * 3 * 16);
  EXPECT_EQ(p.vertices[3].received, 0);
}

TEST(Placement, OneCallGoesToOneWorkerUnlessAllHaveWhatItReads) {
  const auto p = SquaredProduct().placed({1, 4, 1}, {1, 1}, 4);
  EXPECT_EQ(p.vertices[3].calls.to_string(), "[8, 8] at x0=0,x1=0");
  EXPECT_EQ(p.vertices[3].received, 48);
  SquaredProduct scalar;
  const auto s = scalar.contraction("S", {{scalar.z, {scalar.i, scalar.k}}}, {});
  const auto t = scalar.vertex("T", {{s, {}}}, {}, testing::call(ScalarOp::Multiply, {testing::op(0), testing::op(0)}));
  const auto q = place(scalar.graph,
                       evaluate(scalar.graph,
                                {{},
                                 {},
                                 {{scalar.i, scalar.j, scalar.k}, {4, 1, 1}},
                                 {{scalar.i, scalar.k}, {4, 1}},
                                 {{scalar.i, scalar.k}, {4, 1}},
                                 {{}, {}}},
                                {4, false, {}}),
                       4);
  // A scalar cannot be scattered: the first worker has it and continues with it.
  EXPECT_EQ(q.vertices[s.index()].result.to_string(), "[] at x0=0,x1=0");
  EXPECT_EQ(q.vertices[s.index()].received, 3);
  EXPECT_EQ(q.vertices[t.index()].calls.to_string(), "[] at x0=0,x1=0");
}

// X in columns, Y in rows, wanted by calls cut in i and k: whichever axis cuts i, half of the wanted part of X is
// present, and half of that of Y.
TEST(Placement, AxesAreGivenOutSoThatWorkersReceiveTheLeast) {
  GraphBuilder b;
  const auto i = b.label("i", 8);
  const auto j = b.label("j", 8);
  const auto x = b.input("X", {8, 8}, {2, 2});
  const auto t = b.vertex("T", {{x, {j, i}}}, {i, j}, testing::op(0));
  const auto p = place(b.graph, evaluate(b.graph, {{}, {{i, j}, {2, 2}}}, {4, false, {}}), 4);
  EXPECT_EQ(p.vertices[t.index()].calls.to_string(), "[4{x1}8, 4{x0}8]");
  EXPECT_EQ(p.received, 0);
}

// An input that no result needs has no holders.
TEST(Placement, TilesComeFromWhereverTheyLie) {
  SquaredProduct p;
  const auto labelling =
      evaluate(p.graph, {{}, {}, {{p.i, p.j, p.k}, {4, 1, 1}}, {{p.i, p.k}, {4, 1}}}, {4, false, {}});
  const auto received = [&](TileHolders of_x, TileHolders of_y) {
    return place(p.graph, labelling, InputPlaces(p.graph, {std::move(of_x), std::move(of_y), {}, {}}, 4)).received;
  };
  const auto at = [](const std::vector<std::vector<Rank>>& ranks) {
    TileHolders out;
    for (const auto& of_tile : ranks) out.add(of_tile);
    return out;
  };
  const auto everywhere = at({{0, 1, 2, 3}});
  EXPECT_EQ(received(at({{0}, {2}, {1}, {3}}), everywhere), 0) << "bit 0 of a worker's number is the major axis";
  EXPECT_EQ(received(at({{4}, {4}, {4}, {4}}), everywhere), 64) << "at the coordinator";
  EXPECT_EQ(received(at({{0, 1}, {0, 2}, {0, 1}, {0, 3}}), everywhere), 0) << "copies";
  EXPECT_EQ(received(at({{0}, {0}, {}, {3}}), everywhere), 16) << "a tile of zeros";
  EXPECT_EQ(received({}, everywhere), 0);
  EXPECT_EQ(received(at({{0}, {2}, {1}, {3}}), at({{1, 3}})), 2 * 64);
}

TEST(Placement, MoreCallsThanWorkersAndFewer) {
  EXPECT_EQ(SquaredProduct().placed({4, 1, 2}, {8, 1}, 2).vertices[2].result.to_string(), "[4{x0}8, 8]");
  EXPECT_EQ(SquaredProduct().placed({2, 1, 1}, {2, 1}, 16).vertices[3].result.to_string(),
            "[4{x0}8, 8] at x1=0,x2=0,x3=0");
  // One axis of three makes no halves: the first worker computes what the others do not share.
  EXPECT_EQ(SquaredProduct().placed({2, 1, 1}, {2, 1}, 3).vertices[3].result.to_string(), "[8, 8] at x0=0");
  EXPECT_EQ(SquaredProduct().placed({2, 1, 1}, {2, 1}, 1).received, 0);
}

// Three workers share a product in thirds of 3, 2 and 3 rows.
TEST(Placement, EveryPrimeFactorOfTheWorkersIsAnAxis) {
  const auto thirds = SquaredProduct().placed({3, 1, 1}, {3, 1}, 3);
  EXPECT_EQ(thirds.mesh.to_string(), "{x0:3}");
  EXPECT_EQ(thirds.vertices[3].result.to_string(), "[3{x0}8, 8]");
  EXPECT_EQ(thirds.vertices[3].received, 0);
  const auto sixths = SquaredProduct().placed({3, 1, 2}, {2, 3}, 6);
  EXPECT_EQ(sixths.mesh.to_string(), "{x0:2, x1:3}");
  EXPECT_EQ(sixths.vertices[2].calls.to_string(), "[3{x1}8, 8, 4{x0}8]");
  EXPECT_EQ(sixths.vertices[3].result.to_string(), "[4{x0}8, 3{x1}8]");
  EXPECT_EQ(SquaredProduct().placed({6, 1, 1}, {6, 1}, 6).vertices[3].received, 0);
  EXPECT_EQ(SquaredProduct().placed({7, 1, 1}, {1, 7}, 7).vertices[3].result.to_string(), "[8, 2{x0}8]");
  // Of twelve calls each of six workers makes two, along whichever label the axes cut.
  EXPECT_EQ(SquaredProduct().placed({4, 1, 3}, {4, 3}, 6).vertices[3].result.to_string(), "[3{x1}8, 4{x0}8]");
}

// Partial results of three are reduced into thirds.
TEST(Placement, SumsAreScatteredAlongTheAxesThatCutThem) {
  const auto p = SquaredProduct().placed({1, 3, 1}, {3, 1}, 3);
  EXPECT_EQ(p.vertices[2].result.to_string(), "[3{x0}8, 8]");
  EXPECT_EQ(p.vertices[3].received, 0);
}

// Parts that no axes make keep as many workers busy as axes can: four parts three of six, three parts two of four.
TEST(Placement, PartsThatNoAxesMakeAreCutLess) {
  EXPECT_EQ(SquaredProduct().placed({4, 1, 1}, {4, 1}, 6).vertices[2].calls.to_string(), "[3{x1}8, 8, 8] at x0=0");
  EXPECT_EQ(SquaredProduct().placed({3, 1, 1}, {3, 1}, 4).vertices[2].calls.to_string(), "[4{x0}8, 8, 8] at x1=0");
}

}  // namespace
}  // namespace eindb
