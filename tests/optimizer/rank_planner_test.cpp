#include "optimizer/rank_planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "optimizer/partitions/strategy.hpp"
#include "tests/optimizer/graph_builder.hpp"
#include "tests/optimizer/random_graph.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::RandomGraph;

PhysicalPlan planned(const EinGraph& graph, std::int64_t workers, bool stored = false,
                     double most_call_bytes = std::numeric_limits<double>::infinity()) {
  const auto labelling = label(graph, {}, {workers, false, {}});
  const ClusterShape cluster{.ranks = static_cast<std::size_t>(workers) + 1,
                             .coordinator = static_cast<Rank>(workers),
                             .computing = workers,
                             .calls_per_rank = 4,
                             .most_tile_bytes = 1048576.0,
                             .most_call_bytes = most_call_bytes};
  std::vector<DistributedResult> results;
  for (const auto id : graph.outputs()) {
    const auto& bound = graph.vertex(id).bound;
    results.push_back({TileGrid(bound, Partition(bound.rank(), 1)), stored});
  }
  return plan_for_ranks(graph, labelling, place(graph, labelling, workers), cluster, results);
}

std::string outline(const PhysicalPlan& plan) {
  std::string out;
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    out += (n == 0 ? "" : ", ") + operator_name(plan.steps[n]);
    for (const auto input : inputs_of(plan.steps[n])) out += " " + std::to_string(input.index());
  }
  return out;
}

bool holds_tile(const PlanStep& step, std::size_t rank, const TileKey& tile) {
  const auto& blocks = std::get<BlockPlacement>(step.placement);
  if (!blocks.at[rank]) return false;
  for (std::size_t d = 0; d < tile.size(); ++d)
    if (tile[d] / (step.grid.partition()[d] / blocks.parts[d]) != (*blocks.at[rank])[d]) return false;
  return true;
}

void expect_sound(const PhysicalPlan& plan) {
  for (std::size_t n = 0; n < plan.steps.size(); ++n) {
    const auto& step = plan.steps[n];
    for (const auto input : inputs_of(step)) ASSERT_LT(input.index(), n);
    if (const auto* blocks = std::get_if<BlockPlacement>(&step.placement)) {
      ASSERT_EQ(blocks->at.size(), plan.ranks);
      for (std::size_t d = 0; d < blocks->parts.size(); ++d)
        EXPECT_EQ(step.grid.partition()[d] % blocks->parts[d], 0) << "step " << n;
    }
    const auto* compute = std::get_if<ComputeStep>(&step.op);
    if (compute == nullptr) continue;
    const auto& join = compute->join;
    const auto& labels = join.partition.labels;
    for (std::size_t i = 0; i < compute->inputs.size(); ++i) {
      const auto& input = plan.step(compute->inputs[i]);
      EXPECT_EQ(input.grid.partition(), join.partition.project(join.einsum.inputs[i]));
      for (std::size_t rank = 0; rank < plan.ranks; ++rank) {
        if (!compute->at[rank]) continue;
        // The first tile and the last that the block reads.
        for (const std::int64_t last : {0, 1}) {
          TileKey tile;
          for (const auto label : join.einsum.inputs[i]) {
            const auto l = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
            const auto per_block = join.partition.parts[l] / compute->blocks[l];
            tile.push_back((*compute->at[rank])[l] * per_block + last * (per_block - 1));
          }
          EXPECT_TRUE(holds_tile(input, rank, tile)) << "step " << n << ", operand " << i << ", rank " << rank;
        }
      }
    }
    // Every block of the label space has a rank.
    std::vector<TileKey> blocks;
    for (const auto& at : compute->at)
      if (at) blocks.push_back(*at);
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    EXPECT_EQ(blocks.size(), static_cast<std::size_t>(LabelPartition{labels, compute->blocks}.kernel_calls()));
    if (compute->is_partial()) {
      ASSERT_LT(n + 1, plan.steps.size());
      EXPECT_TRUE(std::holds_alternative<ReduceStep>(plan.steps[n + 1].op));
    }
  }
}

TEST(DistributedPlanner, WhatIsThereInTheRightTilesIsNotMoved) {
  GraphBuilder b;
  const auto i = b.label("i", 64);
  const auto j = b.label("j", 64);
  const auto k = b.label("k", 64);
  const auto x = b.input("X", {64, 64}, {4, 1});
  const auto y = b.input("Y", {64, 64}, {1, 1});
  const auto z = b.contraction("Z", {{x, {i, j}}, {y, {j, k}}}, {i, k});
  b.vertex("Q", {{z, {i, k}}}, {i, k}, testing::call(ScalarOp::Exp, {testing::op(0)}));
  const auto plan = planned(b.graph, 4);
  expect_sound(plan);
  // X is where its holders are; Q reads Z where it was computed; the coordinator gets the result.
  EXPECT_EQ(outline(plan), "scan, scan, redistribute 0, redistribute 1, compute 2 3, compute 4, redistribute 5");
  EXPECT_EQ(plan.holder_lists, 2U);
  const auto& last = std::get<BlockPlacement>(plan.steps.back().placement);
  for (std::size_t rank = 0; rank < plan.ranks; ++rank) EXPECT_EQ(last.at[rank].has_value(), rank == 4);
  EXPECT_EQ(planned(b.graph, 4, true).holder_lists, 3U);
}

TEST(DistributedPlanner, PartialResultsAreReduced) {
  GraphBuilder b;
  const auto i = b.label("i", 2);
  const auto j = b.label("j", 4096);
  const auto x = b.input("X", {2, 4096}, {1, 4});
  b.contraction("Z", {{x, {i, j}}}, {i});
  const auto plan = planned(b.graph, 4);
  expect_sound(plan);
  EXPECT_EQ(outline(plan), "scan, redistribute 0, compute 1, reduce 2, redistribute 3");
  EXPECT_EQ(plan.steps[2].grid.partition(), (Partition{2}));
}

double tile_bytes(const PlanStep& step) {
  const auto tile = step.grid.tile_shape(TileKey(step.grid.rank(), 0));
  return static_cast<double>(tile.element_count()) * static_cast<double>(size_of(step.dtype));
}

// The largest total size of the tiles of one kernel call, over all computing steps.
double most_call_bytes(const PhysicalPlan& plan) {
  double most = 0;
  for (const auto& step : plan.steps) {
    const auto* compute = std::get_if<ComputeStep>(&step.op);
    if (compute == nullptr) continue;
    auto bytes = tile_bytes(step);
    for (const auto input : compute->inputs) bytes += tile_bytes(plan.step(input));
    most = std::max(most, bytes);
  }
  return most;
}

// However little memory a rank has, one call's tiles fit: for products, and for vertices that read a tensor twice.
TEST(DistributedPlanner, KernelCallsAreCutUntilTheyFitTheMemory) {
  GraphBuilder b;
  const auto i = b.label("i", 600);
  const auto j = b.label("j", 600);
  const auto k = b.label("k", 600);
  const auto x = b.input("X", {600, 600}, {2, 2});
  const auto s =
      b.vertex("S", {{x, {i, j}}, {x, {j, i}}}, {i, j}, testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}));
  b.contraction("Z", {{s, {i, j}}, {x, {j, k}}}, {i, k});
  EXPECT_GT(most_call_bytes(planned(b.graph, 4)), 1e6);
  for (const double most : {1e6, 3e5, 2e4, 1e3}) {
    const auto plan = planned(b.graph, 4, false, most);
    expect_sound(plan);
    EXPECT_LE(most_call_bytes(plan), most);
    EXPECT_GT(most_call_bytes(plan), most / 8) << "they are no finer than that takes";
  }
  EXPECT_NO_THROW(planned(b.graph, 4, false, 1)) << "a call has an element of each";
}

TEST(DistributedPlanner, RandomGraphsGiveSoundPlans) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomGraph random(seed);
    std::vector<VertexId> vertices;
    for (std::size_t n = 0; n < 2 + random.pick(2); ++n) vertices.push_back(random.input());
    for (std::size_t n = 0; n < 1 + random.pick(4); ++n) {
      std::vector<VertexId> inputs{vertices[random.pick(vertices.size())]};
      if (random.pick(3) > 0) inputs.push_back(vertices[random.pick(vertices.size())]);
      vertices.push_back(random.vertex(inputs));
    }
    const auto workers = static_cast<std::int64_t>(1 + random.pick(12));
    SCOPED_TRACE("seed " + std::to_string(seed) + ", workers " + std::to_string(workers));
    auto& graph = random.builder.graph;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      const VertexId first(v);
      if (graph.vertex(first).is_input() || first == graph.output() || random.pick(2) == 0) continue;
      graph.set_outputs({graph.output(), first});
      break;
    }
    expect_sound(planned(graph, workers, random.pick(2) == 0));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace eindb
