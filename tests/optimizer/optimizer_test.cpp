#include "optimizer/optimizer.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "optimizer/fragment_planner.hpp"
#include "optimizer/partitions/placement.hpp"
#include "tests/optimizer/graph_builder.hpp"
#include "tests/processor_time.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// Z[i,k] = SUM(X[i,j] * Y[j,k]) on 64 x 64, stored as given.
EinGraph stored_product(Partition x, Partition y) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 64);
  const auto a = g.input("X", {64, 64}, std::move(x));
  const auto b = g.input("Y", {64, 64}, std::move(y));
  g.contraction("Z", {{a, {l[0], l[1]}}, {b, {l[1], l[2]}}}, {l[0], l[2]});
  return g.graph;
}

std::vector<std::string> operators(const Fragment& plan) {
  std::vector<std::string> out;
  for (const auto& node : plan.nodes) out.push_back(operator_name(node) + " " + bracketed(node.grid.partition()));
  return out;
}
using Operators = std::vector<std::string>;

// A labelling by hand: entry n belongs to the n-th vertex; empty for inputs.
Labelling labelled(const EinGraph& graph, const std::vector<Partition>& vectors) {
  std::vector<LabelPartition> partitions;
  for (std::size_t v = 0; v < vectors.size(); ++v)
    partitions.push_back({graph.vertex(VertexId(v)).einsum.labels(), vectors[v]});
  return evaluate(graph, std::move(partitions), {});
}

TEST(FragmentPlanner, RepartitionsOnlyWhatDoesNotFit) {
  const auto graph = stored_product({4, 1}, {2, 2});
  EXPECT_EQ(operators(plan_fragment(graph, labelled(graph, {{}, {}, {4, 1, 4}}))),
            (Operators{"scan [4, 1]", "scan [2, 2]", "repartition [1, 4]", "join [4, 4]", "sink [4, 4]"}));
}

TEST(FragmentPlanner, GroupsExactlyWhereAnAggregatedLabelIsCut) {
  const auto graph = stored_product({4, 2}, {2, 2});
  EXPECT_EQ(operators(plan_fragment(graph, labelled(graph, {{}, {}, {4, 2, 2}}))),
            (Operators{"scan [4, 2]", "scan [2, 2]", "join [4, 2]", "group-by [4, 2]", "sink [4, 2]"}));
}

TEST(FragmentPlanner, ReadersShareARepartition) {
  GraphBuilder g;
  const auto l = g.labels("ij", 8);
  const auto x = g.input("X", {8, 8}, {1, 8});
  const auto a = g.vertex("A", {{x, {l[0], l[1]}}}, {l[0], l[1]}, testing::op(0));
  g.vertex("Z", {{x, {l[0], l[1]}}, {a, {l[0], l[1]}}}, {l[0], l[1]}, testing::product(2));
  EXPECT_EQ(operators(plan_fragment(g.graph, labelled(g.graph, {{}, {8, 1}, {8, 1}}))),
            (Operators{"scan [1, 8]", "repartition [8, 1]", "join [8, 1]", "join [8, 1]", "sink [8, 1]"}));
}

TEST(FragmentPlanner, TheResultIsCutAsWanted) {
  const auto graph = stored_product({4, 1}, {1, 4});
  const auto labelling = labelled(graph, {{}, {}, {4, 1, 4}});
  EXPECT_EQ(operators(plan_fragment(graph, labelling, {Partition{3, 1}})),
            (Operators{"scan [4, 1]", "scan [1, 4]", "join [4, 4]", "repartition [3, 1]", "sink [3, 1]"}));
  EXPECT_EQ(plan_fragment(graph, labelling, {Partition{4, 4}}).nodes.size(), 4U);
}

TEST(Optimizer, GivesEveryStage) {
  const auto plan = optimize(stored_product({8, 1}, {1, 8}), {16, {}, {}, false, {}});
  EXPECT_EQ(plan.labelling.vertices[2].partition.kernel_calls(), 16);
  EXPECT_EQ(plan.stages.size(), all_passes().size() + 3);  // vectors, operators, parts
  EXPECT_GT(plan.planning_seconds, 0);
  EXPECT_TRUE(std::holds_alternative<SinkNode>(plan.fragment().nodes.back().op));
}

TEST(Optimizer, ResultDoesNotDependOnDeadVertices) {
  GraphBuilder g;
  const auto i = g.label("i", 8);
  const auto x = g.input("X", {8});
  g.vertex("D", {{x, {i}}}, {i}, testing::call(ScalarOp::Exp, {testing::op(0)}));
  g.vertex("Z", {{x, {i}}}, {}, testing::op(0));
  const auto lean = optimize(g.graph, {4, {}, {}, false, {}});
  const auto kept = optimize(g.graph, {4, {}, {"dead_vertices"}, false, {}});
  EXPECT_EQ(kept.graph.size(), lean.graph.size() + 1);
  EXPECT_EQ(operators(lean.fragment()), operators(kept.fragment()));
}

TEST(Optimizer, ScalarsEmptyTensorsAndGenerators) {
  GraphBuilder g;
  const auto i = g.label("i", 0);
  const auto j = g.label("j", 5);
  const auto s = g.input("s", {});
  const auto e = g.input("E", {0, 5});
  const auto ones = g.vertex("ONES", {}, {j}, testing::number(1));
  const auto t = g.vertex("T", {{e, {i, j}}, {ones, {j}}}, {j}, testing::product(2));
  g.vertex("Z", {{s, {}}, {t, {j}}}, {}, testing::product(2));
  for (const auto& strategy : {Strategy{}, Strategy{Strategy::Kind::Sqrt}})
    EXPECT_NO_THROW(optimize(g.graph, {16, strategy, {}, false, {}}));
}

TEST(Optimizer, WrongOptionsAreErrors) {
  const auto graph = stored_product({1, 1}, {1, 1});
  const auto kind = [&](const OptimizerOptions& options) {
    try {
      optimize(graph, options);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::Internal;
  };
  EXPECT_EQ(kind({0, {}, {}, false, {}}), ErrorKind::Value);
  EXPECT_EQ(kind({4, {}, {"nothing"}, false, {}}), ErrorKind::UnknownName);
  EXPECT_EQ(kind({4, {}, {}, false, {Partition{2}}}), ErrorKind::Shape);
  EXPECT_EQ(kind({4, {}, {}, false, {Partition{2, 65}}}), ErrorKind::Shape);
}

// (A B) + (C (D E)), 64 x 64.
EinGraph chain_of_products() {
  GraphBuilder g;
  const auto l = g.labels("ijklm", 64);
  const auto matrix = [&](const std::string& name) { return g.input(name, {64, 64}, {4, 4}); };
  const auto ab = g.contraction("AB", {{matrix("A"), {l[0], l[1]}}, {matrix("B"), {l[1], l[2]}}}, {l[0], l[2]});
  const auto de = g.contraction("DE", {{matrix("D"), {l[3], l[4]}}, {matrix("E"), {l[4], l[2]}}}, {l[3], l[2]});
  const auto cde = g.contraction("CDE", {{matrix("C"), {l[0], l[3]}}, {de, {l[3], l[2]}}}, {l[0], l[2]});
  g.vertex("Z", {{ab, {l[0], l[2]}}, {cde, {l[0], l[2]}}}, {l[0], l[2]},
           testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}));
  return g.graph;
}

// The expected plan for four workers under a strategy equals the one that EXPLAIN (COMPARE) shows.
void expect_same(const StrategyCosts& row, const OptimizedPlan& plan) {
  EXPECT_EQ(row.total_cost, plan.labelling.total_cost) << row.strategy.to_string();
  EXPECT_EQ(row.received, place(plan.graph, plan.labelling, 4).received) << row.strategy.to_string();
}

OptimizerOptions comparison_for_four_workers(Strategy strategy) {
  OptimizerOptions options{4, std::move(strategy), {}, false, {}};
  options.compare_strategies = true;
  options.workers = 4;
  return options;
}

TEST(Optimizer, StrategiesComparedForWorkersAreTheirPlans) {
  const auto graph = chain_of_products();
  const auto rows = optimize(graph, comparison_for_four_workers({Strategy::Kind::Data, {"i"}})).strategies;
  ASSERT_EQ(rows.size(), all_strategies().size());
  for (const auto& row : rows)
    if (row.not_applicable.empty()) expect_same(row, optimize(graph, comparison_for_four_workers(row.strategy)));
}

TEST(Optimizer, TheChosenStrategyIsComparedAsPlannedInSlices) {
  for (const auto& strategy : {Strategy{}, Strategy{Strategy::Kind::Sqrt}}) {
    auto options = comparison_for_four_workers(strategy);
    options.memory_limit = 100'000;
    const auto plan = optimize(chain_of_products(), options);
    EXPECT_FALSE(plan.graph.sliced().empty());
    for (const auto& row : plan.strategies)
      if (row.strategy == strategy) expect_same(row, plan);
  }
}

TEST(Optimizer, NothingIsReceivedWhereThereAreNoWorkers) {
  OptimizerOptions options{4, {}, {}, false, {}};
  options.compare_strategies = true;
  for (const auto& row : optimize(chain_of_products(), options).strategies) EXPECT_EQ(row.received, std::nullopt);
}

// A network whose intermediates have dozens of labels is planned without enumerating all their cuts.
TEST(Optimizer, HighRankPlansQuickly) {
  GraphBuilder g;
  std::vector<GraphBuilder::Read> reads;
  Labels output;
  const auto hub = g.label("h", 2);
  for (int n = 0; n < 18; ++n) {
    output.push_back(g.label("o" + std::to_string(n), 2));
    reads.push_back({g.input("X" + std::to_string(n), {2, 2}), {hub, output.back()}});
  }
  g.contraction("Z", reads, output);
  const double start = testing::processor_seconds();
  const auto plan = optimize(g.graph, {64, {}, {}, false, {}});
  EXPECT_EQ(plan.labelling.vertices.back().partition.kernel_calls(), 64);
  EXPECT_LT(testing::processor_seconds() - start, 60);
}

}  // namespace
}  // namespace eindb
