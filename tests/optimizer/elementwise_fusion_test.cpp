#include "optimizer/rewrites/elementwise_fusion.hpp"

#include <gtest/gtest.h>

#include "plan/validator.hpp"
#include "tests/optimizer/special_values.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::evaluate_graph;
using testing::GraphBuilder;
using testing::number;
using testing::op;
using Texts = std::vector<std::string>;

ScalarPtr exp(ScalarPtr e) { return call(ScalarOp::Exp, {std::move(e)}); }
ScalarPtr twice(ScalarPtr e) { return call(ScalarOp::Multiply, {std::move(e), number(2)}); }

// Fusion must not change any value.
Texts fused(const EinGraph& graph) {
  const auto out = fuse_elementwise(graph);
  EXPECT_NO_THROW(validate(out));
  const auto values = [](const Vertex& vertex) { return testing::special_value_of(vertex, 5, false); };
  EXPECT_TRUE(testing::same_values(evaluate_graph(graph, values), evaluate_graph(out, values)));
  const auto& before = graph.vertex(graph.output());
  const auto& after = out.vertex(out.output());
  EXPECT_EQ(before.name, after.name);
  EXPECT_EQ(graph.labels().join_names(before.einsum.output), out.labels().join_names(after.einsum.output));
  EXPECT_EQ(before.dtype, after.dtype);
  return testing::texts(out);
}

TEST(ElementwiseFusion, ChainsBecomeOneVertex) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3});
  const auto a = g.vertex("A", {{x, {l[0], l[1]}}}, {l[1], l[0]}, twice(op(0)));
  const auto b = g.vertex("B", {{a, {l[0], l[1]}}, {y, {l[1]}}}, {l[0], l[1]}, call(ScalarOp::Add, {op(0), op(1)}));
  const auto c = g.vertex("C", {{b, {l[0], l[1]}}}, {l[0], l[1]}, call(ScalarOp::Relu, {op(0)}));
  g.vertex("Z", {{c, {l[0], l[1]}}}, {l[0]}, op(0), Aggregate::Max);
  EXPECT_EQ(fused(g.graph), (Texts{"Z[i] = MAX(RELU(X[j,i] * 2 + Y[j]))"}));
}

// A vertex that is both a result and read by others is computed once.
TEST(ElementwiseFusion, OutputsAreNotTakenIn) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto a = g.vertex("A", {{x, {l[0], l[1]}}}, {l[0], l[1]}, twice(op(0)));
  const auto z = g.vertex("Z", {{a, {l[0], l[1]}}}, {l[0]}, op(0), Aggregate::Max);
  const auto e = g.vertex("E", {{z, {l[0]}}}, {l[0]}, exp(op(0)));
  g.graph.set_outputs({e, z, a});
  EXPECT_EQ(fused(g.graph), (Texts{"A[i,j] = X[i,j] * 2", "Z[i] = MAX(A[i,j])", "E[i] = EXP(Z[i])"}));
  g.graph.set_outputs({e, a});
  EXPECT_EQ(fused(g.graph).size(), 2U) << "of Z and E one remains";
}

TEST(ElementwiseFusion, AtMostTwoOperands) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3, 3});
  const auto w = g.input("W", {3, 3});
  const auto a = g.vertex("A", {{x, l}, {y, l}}, l, testing::product(2));
  g.vertex("Z", {{a, l}, {w, l}}, l, call(ScalarOp::Add, {op(0), op(1)}));
  EXPECT_EQ(fused(g.graph), (Texts{"A[i,j] = X[i,j] * Y[i,j]", "Z[i,j] = A[i,j] + W[i,j]"}));
  g.vertex("V", {{a, l}, {y, l}}, l, call(ScalarOp::Subtract, {op(1), op(0)}));
  // A has two readers now; drop one of them.
  GraphBuilder h;
  const auto m = h.labels("ij", 3);
  const auto p = h.input("P", {3, 3});
  const auto q = h.input("Q", {3, 3});
  const auto b = h.vertex("B", {{p, m}, {q, m}}, m, testing::product(2));
  h.vertex("V", {{b, m}, {q, m}}, m, call(ScalarOp::Subtract, {op(1), op(0)}));
  EXPECT_EQ(fused(h.graph), (Texts{"V[i,j] = Q[i,j] - P[i,j] * Q[i,j]"}));
}

// An operand may be listed without being read.
TEST(ElementwiseFusion, ConstantsAreNoEpilogues) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto s = g.vertex("S", {{x, l}}, {l[0]}, op(0));
  g.vertex("Z", {{s, {l[0]}}}, {l[0]}, number(7));
  EXPECT_EQ(fused(g.graph), (Texts{"S[i] = SUM(X[i,j])", "Z[i] = 7"}));
}

// EXP is computed once per element of X, not once per product; the kernel of a matrix product has no EXP.
TEST(ElementwiseFusion, OperandsOfMatrixProductsStay) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3, 3});
  const auto e = g.vertex("E", {{x, {l[0], l[1]}}}, {l[0], l[1]}, exp(op(0)));
  g.contraction("Z", {{e, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
  EXPECT_EQ(fused(g.graph), (Texts{"E[i,j] = EXP(X[i,j])", "Z[i,k] = SUM(E[i,j] * Y[j,k])"}));
}

TEST(ElementwiseFusion, WhatSeveralReadStays) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto e = g.vertex("E", {{x, l}}, l, exp(op(0)));
  const auto s = g.vertex("S", {{e, l}}, {l[0]}, op(0));
  g.vertex("Z", {{e, l}, {s, {l[0]}}}, l, call(ScalarOp::Divide, {op(0), op(1)}));
  EXPECT_EQ(fused(g.graph).size(), 3U);
  GraphBuilder h;
  const auto m = h.labels("ij", 3);
  const auto y = h.input("Y", {3, 3});
  const auto f = h.vertex("F", {{y, m}}, m, exp(op(0)));
  h.vertex("Z", {{f, m}, {f, {m[1], m[0]}}}, m, testing::product(2));
  EXPECT_EQ(fused(h.graph).size(), 2U);
}

// A vertex that computes in another type than its reader keeps that type when merged; one that rounds is not merged.
TEST(ElementwiseFusion, TypesStayWhatTheyAre) {
  GraphBuilder g;
  const auto i = g.label("i", 3);
  const auto x = g.input("X", {3}, {}, DType::Float32);
  const auto y = g.input("Y", {3});
  const auto a = g.vertex("A", {{x, {i}}}, {i}, exp(op(0)));
  g.vertex("Z", {{a, {i}}, {y, {i}}}, {i}, testing::product(2));
  EXPECT_EQ(fused(g.graph), Texts{"Z[i] = CAST(EXP(X[i]) AS FLOAT64) * Y[i]"});
  GraphBuilder h;
  const auto j = h.label("j", 3);
  const auto w = h.input("W", {3});
  const auto b = h.vertex("B", {{w, {j}}}, {j}, exp(op(0)));
  h.graph.set_dtype(b, DType::Float32);
  auto last = make_vertex(h.graph, "Z", {b}, {{{j}}, {j}, {}, twice(op(0)), Aggregate::None});
  h.graph.set_output(h.graph.add(last));
  EXPECT_EQ(fused(h.graph).size(), 2U);
}

TEST(ElementwiseFusion, CopiesAreNotMade) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3});
  const auto t = g.vertex("T", {{x, {l[0], l[1]}}}, {l[1], l[0]}, op(0));
  const auto d = g.vertex("D", {{t, {l[0], l[0]}}}, {l[0]}, op(0));
  const auto b = g.vertex("B", {{y, {l[0]}}}, {l[0], l[1]}, op(0));
  const auto s = g.contraction("S", {{t, {l[0], l[1]}}, {t, {l[1], l[2]}}}, {l[0], l[2]});
  const auto m = g.vertex("M", {{s, {l[0], l[1]}}, {d, {l[0]}}}, {l[0], l[1]}, testing::product(2));
  g.vertex("Z", {{m, {l[0], l[1]}}, {b, {l[0], l[1]}}}, {l[0], l[1]}, call(ScalarOp::Subtract, {op(0), op(1)}));
  EXPECT_EQ(fused(g.graph),
            (Texts{"S[i,k] = SUM(X[j,i] * X[k,j])", "M[i,j] = S[i,j] * X[i,i]", "Z[i,j] = M[i,j] - Y[i]"}));
}

TEST(ElementwiseFusion, TheOutputTakesOverWhatItCopies) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3, 3});
  const auto s = g.contraction("S", {{x, {l[0], l[1]}}, {x, {l[1], l[2]}}}, {l[0], l[2]});
  // The name is also one that S aggregates.
  g.vertex("Z", {{s, {l[1], l[0]}}}, {l[0], l[1]}, op(0));
  const auto graph = fuse_elementwise(g.graph);
  EXPECT_EQ(graph.size(), 2U);
  EXPECT_EQ(fused(g.graph).back(), "Z[i,j] = SUM(X[j,j] * X[j,i])");
  g.graph.set_dtype(g.graph.output(), DType::Float32);
  fused(g.graph);
  EXPECT_EQ(fuse_elementwise(g.graph).size(), 2U);
}

// A matrix product keeps its kernel; RELU is applied to its finished tiles.
TEST(ElementwiseFusion, FunctionsOfAggregatedValuesAreEpilogues) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3, 3});
  const auto s = g.contraction("S", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
  const auto a = g.vertex("A", {{s, {l[0], l[1]}}}, {l[1], l[0]}, call(ScalarOp::Subtract, {op(0), number(1)}));
  g.vertex("Z", {{a, {l[0], l[1]}}}, {l[0], l[1]}, call(ScalarOp::Relu, {op(0)}));
  EXPECT_EQ(fused(g.graph), (Texts{"Z[i,j] = RELU(SUM(X[j,j] * Y[j,i]) - 1)"}));
  const auto graph = fuse_elementwise(g.graph);
  EXPECT_EQ(graph.vertex(graph.output()).einsum.expression->op(), ScalarOp::Multiply);
  // Later readers read the result as it is.
  EXPECT_EQ(testing::texts(fuse_elementwise(graph)), testing::texts(graph));
}

TEST(ElementwiseFusion, WhatIsNoEpilogue) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto m = g.vertex("M", {{x, l}}, {l[0]}, op(0), Aggregate::Max);
  g.vertex("D", {{x, l}, {m, {l[0]}}}, l, call(ScalarOp::Subtract, {op(0), op(1)}));
  EXPECT_EQ(fused(g.graph).size(), 2U);  // more cells than M has
  const auto n = g.vertex("N", {{x, l}}, {l[0]}, op(0), Aggregate::Max);
  g.vertex("E", {{n, {l[0]}}}, {l[0]}, call(ScalarOp::Add, {op(0), testing::index(l[0])}));
  EXPECT_EQ(fused(g.graph).back(), "E[i] = N[i] + i");  // a label value
}

// A vertex with two groups of readers is stored before the function is applied.
TEST(ElementwiseFusion, ASharedAggregateHasNoEpilogue) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto m = g.vertex("M", {{x, l}}, {l[0]}, op(0), Aggregate::Max);
  const auto e = g.vertex("E", {{m, {l[0]}}}, {l[0]}, exp(op(0)));
  g.vertex("Z", {{m, {l[0]}}, {e, {l[1]}}}, l, testing::product(2));
  EXPECT_EQ(fused(g.graph).size(), 3U);
}

TEST(ElementwiseFusion, ExpressionsStayOfModerateSize) {
  GraphBuilder g;
  const auto i = g.label("i", 3);
  auto last = g.input("X", {3});
  for (int n = 0; n < 100; ++n)
    last = g.vertex("V" + std::to_string(n), {{last, {i}}}, {i}, call(ScalarOp::Tanh, {op(0)}));
  const auto vertices = fused(g.graph);
  EXPECT_EQ(vertices.size(), 2U);
  // Doubling at every step would give 2^100 nodes without a limit.
  GraphBuilder h;
  const auto j = h.label("j", 3);
  auto sum = h.input("X", {3});
  for (int n = 0; n < 100; ++n)
    sum = h.vertex("V" + std::to_string(n), {{sum, {j}}}, {j},
                   call(ScalarOp::Subtract, {op(0), call(ScalarOp::Tanh, {op(0)})}));
  EXPECT_LT(fused(h.graph).size(), 50U);
}

TEST(ElementwiseFusion, Generators) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto r = g.vertex("R", {}, l, ScalarExpression::random(ScalarExpression::Kind::Uniform, 9, l));
  g.vertex("Z", {{x, l}, {r, {l[1], l[0]}}}, {l[0]}, testing::product(2));
  fused(g.graph);
  EXPECT_EQ(fuse_elementwise(g.graph).size(), 2U);
}

}  // namespace
}  // namespace eindb
