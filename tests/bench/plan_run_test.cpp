// Plans on clusters that need not exist: times by hand, and bytes beside those that plans count.
#include "bench/scale/plan_run.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/rank_planner.hpp"
#include "plan/tile_moves.hpp"
#include "tensor/tile_placement.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb::bench {
namespace {

constexpr TransportCosts kFree{};

PaperCluster cluster_of(std::size_t ranks_per_host, double bandwidth, double latency) {
  return {.ranks_per_host = ranks_per_host,
          .cores_per_host = 1,
          .bandwidth = bandwidth,
          .latency = latency,
          .software = kFree};
}

PaperStep computation(std::vector<double> seconds) {
  PaperStep step;
  step.seconds = std::move(seconds);
  return step;
}

// Each of `from` sends a message of so many bytes to rank 0.
PaperStep to_first(std::size_t ranks, const std::vector<std::size_t>& from, double bytes) {
  PaperStep step;
  step.given.resize(ranks);
  step.awaited.assign(ranks, 0);
  step.copied.assign(ranks, 0);
  step.pieces.assign(ranks, 0);
  for (const auto rank : from) {
    step.given[rank].push_back({.to = 0, .pieces = 1, .bytes = bytes, .packed = bytes});
    ++step.awaited[0];
    ++step.pieces[0];
  }
  return step;
}

TEST(PlanRun, AMessageTakesItsLatencyAndTheTimeOfItsBytes) {
  const PaperSteps steps{{to_first(2, {1}, 1000)}, {0}, {{}}};
  const auto run = run_on_paper(steps, 2, cluster_of(1, 1000, 0.5));
  EXPECT_DOUBLE_EQ(run.seconds, 1.5);
  EXPECT_DOUBLE_EQ(run.bytes, 1000);
  EXPECT_EQ(run.messages, 1U);
  // On one host it takes what processors need for it.
  auto one_host = cluster_of(2, 1000, 0.5);
  one_host.software.per_byte = 1e-3;
  one_host.software.per_piece = 0.25;
  one_host.software.per_copied_byte = 2e-3;
  EXPECT_DOUBLE_EQ(run_on_paper(steps, 2, one_host).seconds, 0.25 + 2 + 0.25 + 1);
}

TEST(PlanRun, MessagesToOneHostFollowEachOther) {
  const PaperSteps steps{{to_first(3, {1, 2}, 1000)}, {0}, {{}}};
  EXPECT_DOUBLE_EQ(run_on_paper(steps, 3, cluster_of(1, 1000, 0.5)).seconds, 2.5);
}

TEST(PlanRun, RanksOfAHostShareItsCores) {
  const PaperSteps steps{{computation({1, 3})}, {0}, {{}}};
  EXPECT_DOUBLE_EQ(run_on_paper(steps, 2, cluster_of(1, 1, 0)).seconds, 3);
  EXPECT_DOUBLE_EQ(run_on_paper(steps, 2, cluster_of(2, 1, 0)).seconds, 4);
  EXPECT_DOUBLE_EQ(run_on_paper(steps, 2, cluster_of(2, 1, 0)).computing, 2);
}

TEST(PlanRun, ARankThatLooksAheadComputesWhileItWaits) {
  // Rank 0 lacks what step 2 reads, and could compute step 1 meanwhile.
  const PaperSteps steps{
      {to_first(2, {1}, 1000), computation({2, 0}), computation({1, 0})}, {0, 1, 2}, {{}, {}, {0, 1}}};
  auto cluster = cluster_of(1, 1000, 0.5);
  EXPECT_DOUBLE_EQ(run_on_paper(steps, 2, cluster).seconds, 1.5 + 2 + 1);
  cluster.steps_ahead = 2;
  EXPECT_DOUBLE_EQ(run_on_paper(steps, 2, cluster).seconds, 2 + 1);
}

TEST(PlanRun, MovesTheBytesThatPlansCount) {
  for (const std::int64_t workers : {2, 4, 8}) {
    eindb::testing::GraphBuilder builder;
    const auto l = builder.labels("ijk", 48);
    const auto a = builder.input("A", {48, 48}, {16, 16});
    const auto b = builder.input("B", {48, 48}, {16, 16});
    const auto ab =
        builder.vertex("AB", {{a, {l[0], l[1]}}, {b, {l[1], l[2]}}}, {l[0], l[2]}, eindb::testing::product(2));
    builder.vertex("Z", {{ab, {l[0], l[2]}}, {a, {l[0], l[2]}}}, {l[0]}, eindb::testing::product(2));
    const auto& graph = builder.graph;
    const auto labelling = label(graph, {}, {workers, false, {}});
    const ClusterShape shape{.ranks = static_cast<std::size_t>(workers) + 1,
                             .coordinator = static_cast<Rank>(workers),
                             .computing = workers,
                             .redistribution = ExchangeWay::Pieces};
    const auto plan = plan_for_ranks(graph, labelling, place(graph, labelling, workers), shape,
                                     {{TileGrid(Shape({48}), {1}), false}});
    std::vector<TileHolders> lists;
    for (const auto& scan : scanned_inputs(graph))
      if (scan.list == lists.size())
        lists.push_back(
            TilePlacement(graph.vertex(scan.vertex).stored->grid, static_cast<std::size_t>(workers), 1).all());
    double counted = 0;
    for (std::size_t n = 0; n < plan.steps.size(); ++n) {
      const auto received = bytes_received(plan, StepId(n), lists);
      counted = std::accumulate(received.begin(), received.end(), counted);
    }
    const CalibratedModel model(built_in_figures(), 1);
    const auto steps = steps_on_paper(graph, plan, lists, model);
    const auto run = run_on_paper(steps, plan.ranks, {});
    EXPECT_DOUBLE_EQ(run.bytes, counted);
    EXPECT_GT(counted, 0);
    EXPECT_GE(run.seconds, run.computing + run.exchanging);
  }
}

}  // namespace
}  // namespace eindb::bench
