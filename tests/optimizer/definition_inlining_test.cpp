#include "optimizer/rewrites/definition_inlining.hpp"

#include <gtest/gtest.h>

#include "optimizer/rewrites/repeated_joins.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/special_values.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::number;
using testing::op;
using testing::product;
using testing::texts;
using enum ScalarOp;
using Texts = std::vector<std::string>;

// A[i,j], B[j,k] and C[k,l].
struct SquareMatrices : GraphBuilder {
  explicit SquareMatrices(std::int64_t extent)
      : i(label("i", extent)),
        j(label("j", extent)),
        k(label("k", extent)),
        l(label("l", extent)),
        a(input("A", {extent, extent})),
        b(input("B", {extent, extent})),
        c(input("C", {extent, extent})) {}

  VertexId y(const ScalarPtr& expression, const Labels& output, Aggregate aggregate) {
    return vertex("Y", {{a, {i, j}}, {b, {j, k}}}, output, expression, aggregate);
  }

  Label i, j, k, l;
  VertexId a, b, c;
};

// The rewritten graph has the values of the given one.
template <class Pass>
Texts rewritten(const EinGraph& graph, const Pass& pass) {
  const auto out = pass(graph);
  validate(out);
  const auto values = [&](const Vertex& vertex) { return testing::special_value_of(vertex, 3, true); };
  EXPECT_TRUE(testing::same_values(testing::evaluate_graph(graph, values), testing::evaluate_graph(out, values), true));
  return texts(out);
}
Texts inlined(const EinGraph& graph) { return rewritten(graph, inline_definitions); }
Texts repeated(const EinGraph& graph) { return rewritten(graph, repeat_joins); }

TEST(DefinitionInlining, ContractionsOfOneSemiring) {
  for (const auto& [aggregate, join] : {std::pair(Aggregate::Sum, Multiply), {Aggregate::Max, Add}}) {
    SquareMatrices g(3);
    const auto y = g.y(call(join, {op(0), op(1)}), {g.i, g.k}, aggregate);
    // The second product has a vector's head: another order takes fewer operations.
    g.vertex("Z", {{y, {g.i, g.k}}, {g.c, {g.k, g.l}}}, {g.i}, call(join, {op(0), op(1)}), aggregate);
    const auto found = inlined(g.graph);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find("C[k,l]"), std::string::npos) << found[0];
    EXPECT_NE(found[0].find("A[i,j]"), std::string::npos) << found[0];
  }
}

TEST(DefinitionInlining, TwoContractionsGoIntoOneReader) {
  SquareMatrices g(3);
  const auto v = g.input("V", {3});
  const auto sum = call(Add, {op(0), op(1)});
  const auto y = g.y(sum, {g.i, g.k}, Aggregate::Max);
  const auto w = g.vertex("W", {{v, {g.i}}, {g.c, {g.l, g.k}}}, {g.i, g.k}, sum, Aggregate::Max);
  g.vertex("Z", {{y, {g.i, g.k}}, {w, {g.i, g.k}}}, {g.i}, sum, Aggregate::Max);
  EXPECT_EQ(inlined(g.graph), (Texts{"Z[i] = MAX(A[i,j] + B[j,k] + (V[i] + C[l,k]))"}));
}

TEST(DefinitionInlining, JoinsGoIntoTheirAggregate) {
  SquareMatrices g(3);
  const auto y = g.y(product(2), {g.i, g.j, g.k}, Aggregate::None);
  g.vertex("Z", {{g.c, {g.k, g.l}}, {y, {g.i, g.j, g.k}}}, {g.i, g.l}, product(2), Aggregate::Sum);
  EXPECT_EQ(inlined(g.graph), (Texts{"Z[i,l] = SUM(C[k,l] * (A[i,j] * B[j,k]))"}));
}

TEST(DefinitionInlining, WhatStays) {
  {  // no other order takes fewer operations
    SquareMatrices g(3);
    const auto y = g.y(product(2), {g.i, g.k}, Aggregate::Sum);
    g.vertex("Z", {{y, {g.i, g.k}}, {g.c, {g.k, g.l}}}, {g.i, g.l}, product(2), Aggregate::Sum);
    EXPECT_EQ(inlined(g.graph).size(), 2U);
  }
  {  // read twice
    SquareMatrices g(3);
    const auto y = g.y(product(2), {g.i, g.k}, Aggregate::Sum);
    g.vertex("Z", {{y, {g.i, g.k}}, {y, {g.k, g.l}}}, {g.i}, product(2), Aggregate::Sum);
    EXPECT_EQ(inlined(g.graph).size(), 2U);
  }
  {  // another aggregate
    SquareMatrices g(3);
    const auto y = g.y(product(2), {g.i, g.k}, Aggregate::Sum);
    g.vertex("Z", {{y, {g.i, g.k}}, {g.c, {g.k, g.l}}}, {g.i}, call(Add, {op(0), op(1)}), Aggregate::Max);
    EXPECT_EQ(inlined(g.graph).size(), 2U);
  }
  {  // a function of the sum
    SquareMatrices g(3);
    const auto y = g.y(product(2), {g.i, g.k}, Aggregate::Sum);
    g.vertex("Z", {{y, {g.i, g.k}}, {g.c, {g.k, g.l}}}, {g.i}, call(Multiply, {call(Exp, {op(0)}), op(1)}),
             Aggregate::Sum);
    EXPECT_EQ(inlined(g.graph).size(), 2U);
  }
  {  // an order that the statement gives
    SquareMatrices g(3);
    const auto y = g.y(product(2), {g.i, g.k}, Aggregate::Sum);
    const auto z = g.vertex("Z", {{y, {g.i, g.k}}, {g.c, {g.k, g.l}}}, {g.i}, product(2), Aggregate::Sum);
    auto ordered = rewrite_each(g.graph, [](EinGraph& out, Vertex vertex) {
      vertex.keeps_order = !vertex.is_input();
      return out.add(std::move(vertex));
    });
    ordered.set_output(z);
    EXPECT_EQ(inlined(ordered).size(), 2U);
  }
}

TEST(RepeatedJoins, EachAggregateComputesTheJoin) {
  SquareMatrices g(40);
  const auto y = g.y(call(Add, {op(0), op(1)}), {g.i, g.j, g.k}, Aggregate::None);
  const auto most = g.vertex("M", {{y, {g.i, g.j, g.k}}}, {g.i, g.k}, op(0), Aggregate::Max);
  const auto same = g.vertex("S", {{y, {g.i, g.j, g.k}}, {most, {g.i, g.k}}}, {g.i, g.j, g.k},
                             call(Equal, {op(0), op(1)}), Aggregate::None);
  g.vertex("Z", {{same, {g.i, g.j, g.k}}}, {g.i, g.k}, op(0), Aggregate::Sum);
  EXPECT_EQ(repeated(g.graph),
            (Texts{"Y.1[i,j,k] = A[i,j] + B[j,k]", "M[i,k] = MAX(Y.1[i,j,k])", "Y.2[i,j,k] = A[i,j] + B[j,k]",
                   "S.1[i,j,k] = Y.2[i,j,k] = M[i,k]", "Z[i,k] = SUM(S.1[i,j,k])"}));
}

TEST(RepeatedJoins, WhatStays) {
  {  // costly functions
    SquareMatrices g(40);
    const auto y = g.y(call(Exp, {call(Add, {op(0), op(1)})}), {g.i, g.j, g.k}, Aggregate::None);
    const auto most = g.vertex("M", {{y, {g.i, g.j, g.k}}}, {g.i, g.k}, op(0), Aggregate::Max);
    g.vertex("Z", {{y, {g.i, g.j, g.k}}, {most, {g.i, g.k}}}, {g.i, g.k}, call(Divide, {op(0), op(1)}), Aggregate::Sum);
    EXPECT_EQ(repeated(g.graph).size(), 3U);
  }
  {  // small values, which stay in the caches
    SquareMatrices g(12);
    const auto y = g.y(call(Add, {op(0), op(1)}), {g.i, g.j, g.k}, Aggregate::None);
    const auto most = g.vertex("M", {{y, {g.i, g.j, g.k}}}, {g.i, g.k}, op(0), Aggregate::Max);
    g.vertex("Z", {{y, {g.i, g.j, g.k}}, {most, {g.i, g.k}}}, {g.i, g.k}, call(Subtract, {op(0), op(1)}),
             Aggregate::Sum);
    EXPECT_EQ(repeated(g.graph).size(), 3U);
  }
  {  // values that something else keeps
    SquareMatrices g(40);
    const auto y = g.y(call(Add, {op(0), op(1)}), {g.i, g.j, g.k}, Aggregate::None);
    const auto most = g.vertex("M", {{y, {g.i, g.j, g.k}}}, {g.i, g.k}, op(0), Aggregate::Max);
    g.vertex("Z", {{y, {g.i, g.j, g.k}}, {most, {g.i, g.k}}}, {g.i, g.j, g.k}, call(Subtract, {op(0), op(1)}),
             Aggregate::None);
    EXPECT_EQ(repeated(g.graph).size(), 3U);
  }
}

}  // namespace
}  // namespace eindb
