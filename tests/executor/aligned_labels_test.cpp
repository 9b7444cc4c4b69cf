// Indices that are split and merged again over ranks: each rank has the cells of its own part, whatever the extents.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "optimizer/partitions/strategy.hpp"
#include "optimizer/rank_planner.hpp"
#include "plan/tile_moves.hpp"
#include "tensor/access_form.hpp"
#include "tensor/tile_placement.hpp"
#include "tests/executor/distributed_fixture.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::index;
using testing::number;
using testing::op;

// B[b,r,j] = X[rows * b + r, j], which is 0 beyond the end; F = B * (r + 1); Y[i,j] = F[i / rows, i % rows, j].
struct SplitAndMerged {
  SplitAndMerged(std::mt19937& random, std::int64_t workers, std::int64_t extent, std::int64_t blocks)
      : rows((extent + blocks - 1) / blocks) {
    const auto i = builder.label("i", extent);
    const auto j = builder.label("j", 3);
    const auto b = builder.label("b", blocks);
    const auto r = builder.label("r", rows);
    const auto k = builder.label("k", extent);
    const auto place =
        testing::call(ScalarOp::Add, {testing::call(ScalarOp::Multiply, {number(rows), index(b)}), index(r)});
    const auto where = [&](Label label) {
      return testing::call(ScalarOp::Case, {testing::call(ScalarOp::Equal, {index(label), place}), op(0), number(0)});
    };
    const TileGrid grid(Shape({extent, 3}), {std::min<std::int64_t>(extent, workers), 1});
    tensors.add("X", testing::random_tensor(random, grid, DType::Float64, 0.1), grid);
    const auto x = builder.input("X", {extent, 3}, grid.partition());
    const auto split = builder.vertex("B", {{x, {i, j}}}, {b, r, j}, where(i));
    const auto scaled =
        builder.vertex("F", {{split, {b, r, j}}}, {b, r, j},
                       testing::call(ScalarOp::Multiply, {op(0), testing::call(ScalarOp::Add, {index(r), number(1)})}));
    builder.vertex("Y", {{scaled, {b, r, j}}}, {k, j}, where(k));
    labelling = label(builder.graph, {}, {workers, false, {}});
    for (auto& vertex : labelling.vertices)
      for (std::size_t n = 0; n < vertex.partition.labels.size(); ++n)
        vertex.partition.parts[n] = vertex.partition.labels[n] == b ? workers : 1;
  }

  GraphBuilder builder;
  testing::StoredTensors tensors;
  Labelling labelling;
  std::int64_t rows;
};

TEST(AlignedLabels, RowsStayWhereTheyAre) {
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round));
    const auto workers = static_cast<std::int64_t>(2 + random() % 5);
    const auto blocks = workers * static_cast<std::int64_t>(1 + random() % 4);
    const auto extent = blocks * 2 + static_cast<std::int64_t>(random() % 90);
    SplitAndMerged test(random, workers, extent, blocks);
    const auto& graph = test.builder.graph;
    const ClusterShape cluster{.ranks = static_cast<std::size_t>(workers) + 1,
                               .coordinator = static_cast<Rank>(workers),
                               .computing = workers,
                               .calls_per_rank = 1 + round % 3,
                               .most_tile_bytes = 1048576.0,
                               .most_call_bytes = 1048576.0};
    const std::vector<DistributedResult> results{{TileGrid(Shape({extent, 3}), {1, 1}), false}};
    const auto plan = plan_for_ranks(graph, test.labelling, place(graph, test.labelling, workers), cluster, results);
    const std::vector<TileHolders> lists{
        TilePlacement(graph.vertex(VertexId(0)).stored->grid, static_cast<std::size_t>(workers), 1).all()};
    const auto outcome = testing::run_distributed(
        plan, lists, [&](Rank rank) { return std::make_unique<testing::RankSource>(test.tensors, plan, lists, rank); });
    const auto expected = testing::evaluate_graph(graph, [&](const Vertex& vertex) {
      const auto& stored = test.tensors.dense(vertex.stored->name);
      auto copy = Tile::uninitialized(stored.dtype(), stored.shape());
      std::copy(stored.bytes().begin(), stored.bytes().end(), copy.mutable_bytes().begin());
      return copy;
    });
    testing::expect_equal(testing::assemble(outcome, plan, lists), expected, "Y");
    // The ends of parts and those of blocks are fewer than `blocks` rows apart, each way.
    double moved = 0;
    for (std::size_t n = 0; n + 1 < plan.steps.size(); ++n)
      for (const auto bytes : bytes_received(plan, StepId(n), lists)) moved += bytes;
    EXPECT_LE(moved, static_cast<double>(2 * workers * blocks * 3 * 8)) << extent << " in " << blocks;
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

TEST(AlignedLabels, AreThoseWhoseRestsAreLessThanTheSpan) {
  GraphBuilder b;
  const auto i = b.label("i", 40);
  const auto p = b.label("p", 4);
  const auto q = b.label("q", 10);
  const auto access = [&](ScalarPtr place, const Labels& output) {
    return EinSum{.inputs = {{i}},
                  .output = output,
                  .aggregated = {i},
                  .expression = testing::call(
                      ScalarOp::Case, {testing::call(ScalarOp::Equal, {index(i), std::move(place)}), op(0), number(0)}),
                  .aggregate = Aggregate::Sum};
  };
  const auto sum_of = [&](std::int64_t times_p, std::int64_t times_q, std::int64_t offset) {
    return testing::call(ScalarOp::Add,
                         {testing::call(ScalarOp::Multiply, {number(times_p), index(p)}),
                          testing::call(ScalarOp::Multiply, {number(times_q), index(q)}), number(offset)});
  };
  const auto found = aligned_labels(access(sum_of(10, 1, 0), {p, q}), b.graph.labels());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->label, i);
  EXPECT_EQ(found->major, p);
  EXPECT_EQ(found->extent, 40);
  EXPECT_EQ(aligned_labels(access(sum_of(1, 4, 0), {p, q}), b.graph.labels())->major, q);
  EXPECT_FALSE(aligned_labels(access(sum_of(9, 1, 0), {p, q}), b.graph.labels())) << "a window";
  EXPECT_FALSE(aligned_labels(access(sum_of(10, 1, 3), {p, q}), b.graph.labels())) << "moved";
  EXPECT_FALSE(aligned_labels(access(sum_of(-10, 1, 0), {p, q}), b.graph.labels())) << "backward";
}

}  // namespace
}  // namespace eindb
