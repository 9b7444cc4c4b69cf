#include "plan/validator.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "common/error.hpp"

namespace eindb {
namespace {

// T[i,k] = SUM(X[i,j] * Y[j,k]); Z[k] = EXP(T[i,k]) summed over i.
EinGraph valid_graph() {
  EinGraph g;
  const auto i = g.labels().add("i", 4);
  const auto j = g.labels().add("j", 6);
  const auto k = g.labels().add("k", 8);
  const auto input = [&](const std::string& name, std::vector<std::int64_t> extents) {
    Vertex v;
    v.name = name;
    v.bound = Shape(extents);
    v.stored = InputTensor{name, DType::Float64, TileGrid(v.bound, Partition(extents.size(), 1))};
    return g.add(v);
  };
  const auto x = input("X", {4, 6});
  const auto y = input("Y", {6, 8});
  const auto product =
      ScalarExpression::call(ScalarOp::Multiply, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
  const auto exp = ScalarExpression::call(ScalarOp::Exp, {ScalarExpression::operand(0)});
  const auto t = g.add(make_vertex(g, "T", {x, y}, {{{i, j}, {j, k}}, {i, k}, {j}, product, Aggregate::Sum}));
  g.set_output(g.add(make_vertex(g, "Z", {t}, {{{i, k}}, {k}, {i}, exp, Aggregate::Sum})));
  return g;
}

// A copy of the graph with one vertex changed.
EinGraph changed(std::size_t which, const std::function<void(Vertex&)>& change) {
  const auto valid = valid_graph();
  EinGraph g;
  g.labels() = valid.labels();
  for (std::size_t v = 0; v < valid.size(); ++v) {
    auto vertex = valid.vertex(VertexId(v));
    if (v == which) change(vertex);
    g.add(std::move(vertex));
  }
  g.set_output(valid.output());
  return g;
}

template <class Plan>
std::string failure(const Plan& plan) {
  try {
    validate(plan);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Internal);
    return e.message();
  }
  return "none";
}

TEST(VertexList, AnOwnCopyIsMadeOfASharedVertexBeforeItChanges) {
  const auto before = valid_graph();
  auto after = before;
  ASSERT_TRUE(after.vertices().shares(2, before.vertices()));
  after.rename(VertexId(2), "U");
  EXPECT_EQ(before.vertex(VertexId(2)).name, "T");
  EXPECT_EQ(after.vertex(VertexId(2)).name, "U");
  EXPECT_FALSE(after.vertices().shares(2, before.vertices()));
  EXPECT_TRUE(after.vertices().shares(3, before.vertices()));
}

TEST(GraphValidator, LooksAgainAtWhatReadsAVertexThatIsNotShared) {
  const auto valid = valid_graph();
  auto shared = valid;
  EXPECT_NO_THROW(validate(shared, 2, &valid));
  EinGraph wrong;  // Z is shared, and reads a T of other extents
  wrong.labels() = valid.labels();
  for (std::size_t v = 0; v < 2; ++v) wrong.add(valid.vertices(), v);
  auto other = valid.vertex(VertexId(2));
  other.einsum.output = {other.einsum.output[1], other.einsum.output[0]};
  other.bound = Shape({8, 4});
  wrong.add(std::move(other));
  wrong.add(valid.vertices(), 3);
  wrong.set_output(VertexId(3));
  EXPECT_THROW(validate(wrong, 2, &valid), Error);
}

TEST(GraphValidator, AcceptsAValidGraph) {
  EXPECT_NO_THROW(validate(valid_graph()));
  EXPECT_NO_THROW(validate(valid_graph(), 2));
  EXPECT_THROW(validate(valid_graph(), 1), Error);
}

TEST(GraphValidator, FailuresNameTheVertex) {
  const auto message = failure(changed(2, [](Vertex& v) { v.bound = Shape({4, 9}); }));
  EXPECT_NE(message.find("vertex T"), std::string::npos) << message;
  EXPECT_NE(message.find("the bound is the head's extents"), std::string::npos) << message;
}

TEST(GraphValidator, RefusesEveryBrokenInvariant) {
  const Label i(0);
  const Label j(1);
  const Label k(2);
  const std::vector<std::function<void(Vertex&)>> changes{
      [](Vertex& v) { v.inputs[0] = VertexId(3); },  // reads a later vertex
      [](Vertex& v) { v.inputs[0] = VertexId(2); },  // reads itself
      [](Vertex& v) { v.inputs.pop_back(); },        // labels without an input
      [&](Vertex& v) { v.einsum.inputs[0] = {i}; },  // too few labels
      [&](Vertex& v) {
        v.einsum.inputs[0] = {j, i};
      },                                                                      // extents do not agree
      [](Vertex& v) { v.einsum.inputs[0][0] = Label(17); },                   // no such label
      [](Vertex& v) { v.einsum.expression = nullptr; },                       // nothing to compute
      [](Vertex& v) { v.einsum.expression = ScalarExpression::operand(2); },  // no such operand
      [&](Vertex& v) {
        v.einsum.output = {i, i};
      },  // repeated in the head
      [&](Vertex& v) {
        v.einsum.aggregated = {j, j};
      },  // aggregated twice
      [&](Vertex& v) {
        v.einsum.aggregated = {j, k};
      },                                                        // both in the head and aggregated
      [](Vertex& v) { v.einsum.aggregated = {}; },              // neither
      [](Vertex& v) { v.einsum.aggregate = Aggregate::None; },  // labels, but no aggregate
      [](Vertex& v) { v.compute_dtype = DType::Float32; },      // narrower than its operands
  };
  for (std::size_t n = 0; n < changes.size(); ++n) EXPECT_NE(failure(changed(2, changes[n])), "none") << "change " << n;
  EXPECT_NE(failure(changed(0, [](Vertex& v) { v.dtype = DType::Float32; })), "none");
  EXPECT_NE(failure(changed(0, [](Vertex& v) { v.bound = Shape({6, 4}); })), "none");
  EXPECT_NE(failure(changed(1, [](Vertex& v) { v.inputs.emplace_back(0); })), "none");
  const auto failure_of_outputs = [](std::vector<VertexId> outputs) {
    auto graph = valid_graph();
    graph.set_outputs(std::move(outputs));
    return failure(graph);
  };
  EXPECT_NE(failure_of_outputs({VertexId()}), "none");
  EXPECT_NE(failure_of_outputs({}), "none");
  EXPECT_NE(failure_of_outputs({VertexId(0)}), "none") << "an input";
  EXPECT_NE(failure_of_outputs({VertexId(2), VertexId(2)}), "none") << "twice";
  EXPECT_EQ(failure_of_outputs({VertexId(3), VertexId(2)}), "none");
}

// Passes keep the type of the vertices that they split, and CAST narrows; only losing an imaginary part is rejected.
TEST(GraphValidator, ResultTypesMayBeChosen) {
  EXPECT_EQ(failure(changed(3, [](Vertex& v) { v.dtype = DType::Float32; })), "none");
  EXPECT_EQ(failure(changed(3, [](Vertex& v) { v.dtype = DType::Complex64; })), "none");
  EXPECT_NE(failure(changed(2,
                            [](Vertex& v) {
                              v.einsum.expression =
                                  ScalarExpression::call(ScalarOp::Exp, {ScalarExpression::operand(0)});
                              v.compute_dtype = DType::Int64;
                            })),
            "none");
}

// scan X, scan Y, repartition Y, join T with j cut, group-by, sink.
Fragment valid_plan() {
  const auto g = valid_graph();
  const auto& t = g.vertex(VertexId(2));
  Fragment plan;
  plan.labels = g.labels();
  const auto add = [&](auto node, std::size_t vertex, Shape shape, Partition partition) {
    plan.nodes.push_back(
        {std::move(node), VertexId(vertex), DType::Float64, TileGrid(std::move(shape), std::move(partition))});
  };
  const InputTensor x{"X", DType::Float64, TileGrid(Shape({4, 6}), {2, 2})};
  const InputTensor y{"Y", DType::Float64, TileGrid(Shape({6, 8}), {1, 4})};
  add(ScanNode{x}, 0, Shape({4, 6}), {2, 2});
  add(ScanNode{y}, 1, Shape({6, 8}), {1, 4});
  add(RepartitionNode{NodeId(1)}, 1, Shape({6, 8}), {2, 4});
  const LabelPartition d{t.einsum.labels(), {2, 2, 4}};
  add(JoinNode{{NodeId(0), NodeId(2)}, t.einsum, d, DType::Float64}, 2, Shape({4, 8}), {2, 4});
  add(GroupByNode{NodeId(3)}, 2, Shape({4, 8}), {2, 4});
  add(SinkNode{NodeId(4)}, 2, Shape({4, 8}), {2, 4});
  return plan;
}

TEST(PhysicalValidator, AcceptsAValidPlan) { EXPECT_EQ(failure(valid_plan()), "none"); }

TEST(PhysicalValidator, FailuresNameTheNode) {
  auto plan = valid_plan();
  std::get<JoinNode>(plan.nodes[3].op).inputs[1] = NodeId(1);
  EXPECT_NE(failure(plan).find("node 3 (join)"), std::string::npos) << failure(plan);
}

TEST(PhysicalValidator, ConcatenationsHaveTheElementsOfTheirInputs) {
  const auto plan = [](const ConcatenationNode& joined, const Shape& x, const Shape& y) {
    Fragment made;
    const auto add = [&](auto node, const Shape& shape) {
      made.nodes.push_back({std::move(node), VertexId(0), DType::Float64, TileGrid(shape, {1, 1})});
    };
    for (const auto& shape : {x, y}) add(ScanNode{InputTensor{"X", DType::Float64, TileGrid(shape, {1, 1})}}, shape);
    add(joined, Shape({5, 6}));
    add(SinkNode{NodeId(2)}, Shape({5, 6}));
    return made;
  };
  const std::vector<NodeId> both{NodeId(0), NodeId(1)};
  EXPECT_EQ(failure(plan({both, 0}, Shape({2, 6}), Shape({3, 6}))), "none");
  EXPECT_EQ(failure(plan({both, 1}, Shape({5, 4}), Shape({5, 2}))), "none");
  for (const auto& broken : {
           plan({both, 1}, Shape({2, 6}), Shape({3, 6})),                   // along another dimension
           plan({both, 2}, Shape({2, 6}), Shape({3, 6})),                   // along none
           plan({both, 0}, Shape({2, 6}), Shape({2, 6})),                   // an index is missing
           plan({both, 0}, Shape({2, 6}), Shape({3, 5})),                   // another extent
           plan({{NodeId(0), NodeId(0)}, 0}, Shape({2, 6}), Shape({3, 6}))  // one twice, the other not read
       })
    EXPECT_NE(failure(broken), "none");
}

TEST(PhysicalValidator, RefusesEveryBrokenInvariant) {
  using Change = std::function<void(Fragment&)>;
  const auto join = [](Fragment& plan) -> JoinNode& { return std::get<JoinNode>(plan.nodes[3].op); };
  const std::vector<Change> changes{
      [](Fragment& p) { p.nodes.clear(); },
      [](Fragment& p) { p.nodes.pop_back(); },                            // no sink
      [](Fragment& p) { p.nodes.push_back(p.nodes.back()); },             // two of one result
      [](Fragment& p) { std::get<SinkNode>(p.nodes[5].op).result = 1; },  // of a result after none
      [](Fragment& p) {
        p.nodes.push_back({SinkNode{NodeId(5), 1}, VertexId(2), p.nodes[5].dtype, p.nodes[5].grid});
      },                                                                // of a sink
      [](Fragment& p) { p.nodes[2].op = RepartitionNode{NodeId(4)}; },  // reads a later node
      [](Fragment& p) {
        p.nodes[0].grid = TileGrid(Shape({4, 6}), {1, 1});
      },                                                       // not the tensor's grid
      [](Fragment& p) { p.nodes[1].dtype = DType::Float32; },  // not the tensor's type
      [](Fragment& p) {
        p.nodes[2].grid = TileGrid(Shape({8, 6}), {4, 2});
      },                                                       // another shape
      [](Fragment& p) { p.nodes[2].dtype = DType::Float32; },  // another type
      [](Fragment& p) {
        p.nodes[2].grid = TileGrid(Shape({6, 8}), {1, 4});
      },  // a repartition without a change
      [&](Fragment& p) {
        join(p).partition.parts = {4, 2, 4};
      },  // inputs are cut otherwise
      [&](Fragment& p) {
        join(p).partition.parts = {2, 2, 16};
      },                                                           // more parts than indices
      [&](Fragment& p) { join(p).partition.labels.pop_back(); },   // a label without parts
      [&](Fragment& p) { join(p).inputs.pop_back(); },             // labels without an input
      [&](Fragment& p) { join(p).compute_dtype = DType::Int64; },  // narrower than its operands
      [](Fragment& p) {
        p.nodes[3].grid = TileGrid(Shape({4, 8}), {2, 2});
      },                                                                         // result cut otherwise
      [](Fragment& p) { p.nodes[4].op = GroupByNode{NodeId(2)}; },               // groups no join
      [](Fragment& p) { std::get<SinkNode>(p.nodes[5].op).input = NodeId(3); },  // not grouped
      [](Fragment& p) {
        p.nodes[5].grid = TileGrid(Shape({4, 8}), {1, 1});
      },                                                                   // sink changes the grid
      [](Fragment& p) { p.nodes.insert(p.nodes.end() - 1, p.nodes[0]); },  // has no reader
  };
  for (std::size_t n = 0; n < changes.size(); ++n) {
    auto plan = valid_plan();
    changes[n](plan);
    EXPECT_NE(failure(plan), "none") << "change " << n;
  }
}

}  // namespace
}  // namespace eindb
