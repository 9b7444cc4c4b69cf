#include "plan/fragment.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

// Z[i,k] = SUM(X[i,j] * Y[j,k]), with Y stored as a row of tiles and repartitioned, and j in two parts.
struct Product {
  EinGraph graph;
  Fragment plan;

  Product() {
    const auto i = graph.labels().add("i", 4);
    const auto j = graph.labels().add("j", 6);
    const auto k = graph.labels().add("k", 8);
    const auto x = input("X", {4, 6});
    const auto y = input("Y", {6, 8});
    const auto product = ScalarExpression::call(
        ScalarOp::Multiply, {ScalarExpression::operand(0), ScalarExpression::parameter(0, DType::Float64)});
    const EinSum einsum{{{i, j}, {j, k}}, {i, k}, {j}, product, Aggregate::Sum};
    Vertex vertex;
    vertex.name = "Z";
    vertex.inputs = {x, y};
    vertex.einsum = einsum;
    vertex.bound = Shape({4, 8});
    const auto z = graph.add(std::move(vertex));
    graph.set_output(z);

    const TileGrid of_x(Shape({4, 6}), {1, 2});
    const TileGrid of_y(Shape({6, 8}), {1, 1});
    const TileGrid cut(Shape({6, 8}), {2, 1});
    const TileGrid of_z(Shape({4, 8}), {1, 1});
    plan.labels = graph.labels();
    plan.nodes.push_back({ScanNode{{"X", DType::Float64, of_x}}, x, DType::Float64, of_x});
    plan.nodes.push_back({ScanNode{{"Y", DType::Float64, of_y}}, y, DType::Float64, of_y});
    plan.nodes.push_back({RepartitionNode{NodeId(1)}, y, DType::Float64, cut});
    JoinNode join{{NodeId(0), NodeId(2)}, einsum, {{i, j, k}, {1, 2, 1}}, DType::Float64};
    plan.nodes.push_back({join, z, DType::Float32, of_z});
    plan.nodes.push_back({GroupByNode{NodeId(3)}, z, DType::Float32, of_z});
    plan.nodes.push_back({SinkNode{NodeId(4), 0}, z, DType::Float32, of_z});
  }

  VertexId input(const std::string& name, std::vector<std::int64_t> extents) {
    Vertex vertex;
    vertex.name = name;
    vertex.bound = Shape(extents);
    vertex.stored = InputTensor{name, DType::Float64, TileGrid(vertex.bound, Partition(extents.size(), 1))};
    return graph.add(std::move(vertex));
  }
};

TEST(Fragment, NodesAnswerForTheirOperators) {
  const Product p;
  std::vector<std::string> names;
  std::vector<bool> tasks;
  for (const auto& node : p.plan.nodes) {
    names.push_back(operator_name(node));
    tasks.push_back(node.has_tasks());
    EXPECT_EQ(node.stored() != nullptr, node.role() == OperatorRole::Source);
    EXPECT_EQ(node.result_number().has_value(), node.role() == OperatorRole::Delivery);
    EXPECT_EQ(node.label_partition() != nullptr, node.role() == OperatorRole::Kernel);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"scan", "scan", "repartition", "join", "group-by", "sink"}));
  EXPECT_EQ(tasks, (std::vector<bool>{false, false, true, true, false, false}));
  EXPECT_EQ(p.plan.nodes[3].working_type(), DType::Float64);
  EXPECT_EQ(p.plan.nodes[4].working_type(), DType::Float32);
  EXPECT_EQ(p.plan.result_count(), 1U);
}

TEST(Fragment, ACompletionIsRunWithWhatItReads) {
  const Product p;
  EXPECT_TRUE(p.plan.nodes[3].is_partial());
  EXPECT_FALSE(p.plan.nodes[4].is_partial());
  EXPECT_EQ(p.plan.worker_of(NodeId(4)), NodeId(3));
  EXPECT_EQ(p.plan.worker_of(NodeId(2)), NodeId(2));
  EXPECT_TRUE(p.plan.view(NodeId(4)).inputs.front().is_partial);
}

// An operand without a loop's label is read again in each of its iterations.
TEST(Fragment, LoopsSayWhatIsReadAgain) {
  const Product p;
  const auto join = call_loops(p.plan, NodeId(3));
  ASSERT_EQ(join.loops, 3U);  // i, k, j
  ASSERT_EQ(join.operands.size(), 3U);
  EXPECT_EQ(join.operands[0].part, (std::vector<double>{1, 1, 0.5}));
  EXPECT_EQ(join.operands[2].again, (std::vector<double>{1, 1, 2}));
  EXPECT_EQ(join.operands[2].bytes, 4.0 * 8 * 4);

  const auto cut = call_loops(p.plan, NodeId(2));
  ASSERT_EQ(cut.loops, 2U);
  EXPECT_EQ(cut.operands[0].again, (std::vector<double>{2, 1}));
  EXPECT_EQ(cut.operands[1].part, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(call_loops(p.plan, NodeId(0)).loops, 0U);
}

TEST(Fragment, OperatorsDescribeWhatTheyAloneHave) {
  Product p;
  for (const auto& node : p.plan.nodes) EXPECT_TRUE(node.describe(p.graph).empty());
  auto& join = std::get<JoinNode>(p.plan.nodes[3].op);
  join.steps = {{VertexId(2), {}, {}}, {VertexId(2), {}, {}}};
  const auto fused = p.plan.nodes[3].describe(p.graph);
  ASSERT_EQ(fused.size(), 1U);
  EXPECT_EQ(fused[0].key, "fused");
  EXPECT_EQ(std::get<std::vector<std::string>>(fused[0].value), std::vector<std::string>{"Z"});
  EXPECT_EQ(operator_name(p.plan.nodes[3]), "fused join");

  auto& scan = std::get<ScanNode>(p.plan.nodes[0].op);
  scan.tensor.selection = Selection{TileGrid(Shape({4, 6, 5}), {2, 2, 5}), {std::nullopt, std::nullopt, 3}};
  const auto selected = p.plan.nodes[0].describe(p.graph);
  ASSERT_EQ(selected.size(), 1U);
  EXPECT_EQ(selected[0].key, "selection");
  EXPECT_EQ(std::get<std::string>(selected[0].value), "2 of 20 tiles");
}

TEST(Fragment, ParametersAreReplacedWhereverTheyAre) {
  Product p;
  auto& scan = std::get<ScanNode>(p.plan.nodes[0].op);
  scan.tensor.selection = Selection{TileGrid(Shape({4, 6, 5}), {2, 2, 5}), {std::nullopt, std::nullopt, 0}, {{2, 1}}};
  std::vector<std::size_t> constants;
  const Substitution values{[&](std::size_t number) {
                              constants.push_back(number);
                              return ScalarExpression::real(2);
                            },
                            [](std::size_t number) { return static_cast<std::int64_t>(number) + 3; }};
  for (auto& node : p.plan.nodes) node.substitute(values);
  EXPECT_EQ(constants, std::vector<std::size_t>{0});
  EXPECT_EQ(scan.tensor.selection->at[2], 4);
}

}  // namespace
}  // namespace eindb
