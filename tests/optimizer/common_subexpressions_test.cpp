#include "optimizer/rewrites/common_subexpressions.hpp"

#include <gtest/gtest.h>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;
using Texts = std::vector<std::string>;

Texts united(const EinGraph& graph) { return testing::texts(unite_common_subexpressions(graph)); }

TEST(CommonSubexpressions, NamesOfLabelsDoNotMatter) {
  GraphBuilder g;
  const auto l = g.labels("ijkxyz", 3);
  const auto a = g.input("A", {3, 3});
  const auto b = g.input("B", {3, 3});
  const auto t = g.contraction("T", {{a, {l[0], l[1]}}, {b, {l[1], l[2]}}}, {l[0], l[2]});
  const auto u = g.contraction("U", {{a, {l[3], l[4]}}, {b, {l[4], l[5]}}}, {l[3], l[5]});
  g.vertex("Z", {{t, {l[0], l[1]}}, {u, {l[1], l[0]}}}, {l[0], l[1]}, call(ScalarOp::Subtract, {op(0), op(1)}));
  EXPECT_EQ(united(g.graph), (Texts{"T[i,k] = SUM(A[i,j] * B[j,k])", "Z[i,j] = T[i,j] - T[j,i]"}));
}

// Equal up to here. Extents, positions of labels, aggregates, constants, label values and types all distinguish
// vertices.
TEST(CommonSubexpressions, WhatDiffersStays) {
  GraphBuilder g;
  const auto i = g.label("i", 3);
  const auto j = g.label("j", 3);
  const auto x = g.input("X", {3, 3});
  g.vertex("A", {{x, {i, j}}}, {i, j}, op(0));
  g.vertex("C", {{x, {i, i}}}, {i}, op(0));
  g.vertex("D", {{x, {i, j}}}, {i}, op(0));
  g.vertex("E", {{x, {i, j}}}, {i}, op(0), Aggregate::Max);
  g.vertex("F", {{x, {i, j}}}, {i, j}, call(ScalarOp::Multiply, {testing::index(i), op(0)}));
  g.vertex("G", {{x, {i, j}}}, {i, j}, call(ScalarOp::Multiply, {testing::index(j), op(0)}));
  g.vertex("H", {{x, {i, j}}}, {i, j}, call(ScalarOp::Multiply, {testing::number(2), op(0)}));
  auto same =
      g.graph.vertex(g.vertex("K", {{x, {i, j}}}, {i, j}, call(ScalarOp::Multiply, {testing::number(3), op(0)})));
  same.name = "L";
  same.dtype = DType::Float32;
  g.graph.set_output(g.graph.add(same));
  EXPECT_EQ(unite_common_subexpressions(g.graph).size(), g.graph.size());
  // Broadcast over another extent.
  const auto y = g.input("Y", {});
  g.vertex("M", {{y, {}}}, {g.label("m", 4)}, op(0));
  g.vertex("N", {{y, {}}}, {g.label("n", 5)}, op(0));
  EXPECT_EQ(unite_common_subexpressions(g.graph).size(), g.graph.size());
}

// One vertex is a transposed copy of the other: its readers read the other with permuted labels.
TEST(CommonSubexpressions, TransposedCopies) {
  GraphBuilder g;
  const auto l = g.labels("ijkxyz", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3, 3});
  const auto a = g.contraction("A", {{x, {l[0], l[2]}}, {y, {l[1], l[2]}}}, {l[0], l[1]});
  const auto b = g.contraction("B", {{y, {l[3], l[5]}}, {x, {l[4], l[5]}}}, {l[3], l[4]});
  g.vertex("Z", {{a, {l[0], l[1]}}, {b, {l[0], l[1]}}}, {l[0], l[1]}, call(ScalarOp::Subtract, {op(0), op(1)}));
  EXPECT_EQ(united(g.graph), (Texts{"A[i,j] = SUM(X[i,k] * Y[j,k])", "Z[i,j] = A[i,j] - A[j,i]"}));

  // Three dimensions, rotated twice.
  GraphBuilder h;
  const auto m = h.labels("abcd", 2);
  const auto t = h.input("T", {2, 2, 2});
  const auto exp = call(ScalarOp::Exp, {op(0)});
  const auto p = h.vertex("P", {{t, {m[0], m[1], m[2]}}}, {m[1], m[2], m[0]}, exp);
  const auto q = h.vertex("Q", {{t, {m[0], m[1], m[2]}}}, {m[2], m[0], m[1]}, exp);
  const auto r = h.vertex("R", {{p, {m[0], m[1], m[2]}}, {q, {m[0], m[1], m[3]}}}, {m[2], m[3]}, testing::product(2));
  h.vertex("Z", {{r, {m[0], m[1]}}}, {m[0], m[1]}, exp);
  EXPECT_EQ(united(h.graph),
            (Texts{"P[b,c,a] = EXP(T[a,b,c])", "R[c,d] = SUM(P[a,b,c] * P[d,a,b])", "Z[a,b] = EXP(R[a,b])"}));
}

// X X' is its own transpose, whichever of its operands comes first.
TEST(CommonSubexpressions, OperandsOfOneVertexInEitherOrder) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3, 3});
  const auto a = g.contraction("A", {{x, {l[0], l[2]}}, {x, {l[1], l[2]}}}, {l[0], l[1]});
  const auto b = g.contraction("B", {{x, {l[1], l[2]}}, {x, {l[0], l[2]}}}, {l[0], l[1]});
  const auto c = g.contraction("C", {{x, {l[0], l[2]}}, {x, {l[1], l[2]}}}, {l[1], l[0]});
  g.vertex("Z", {{a, {l[0], l[1]}}, {b, {l[0], l[1]}}, {c, {l[0], l[1]}}}, {}, testing::product(3));
  EXPECT_EQ(united(g.graph), (Texts{"A[i,j] = SUM(X[i,k] * X[j,k])", "Z[] = SUM(A[i,j] * A[i,j] * A[i,j])"}));
}

// The order of arguments matters for differences and for the sign of zero in LEAST, and so does the identity of
// operands.
TEST(CommonSubexpressions, WhatDoesNotCommute) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3, 3});
  const GraphBuilder::Read xs{x, {l[0], l[1]}};
  const GraphBuilder::Read ys{y, {l[0], l[1]}};
  g.vertex("A", {xs, ys}, {l[0], l[1]}, call(ScalarOp::Subtract, {op(0), op(1)}));
  g.vertex("B", {xs, ys}, {l[0], l[1]}, call(ScalarOp::Subtract, {op(1), op(0)}));
  g.vertex("C", {xs, ys}, {l[0], l[1]}, call(ScalarOp::Least, {op(0), op(1)}));
  g.vertex("D", {xs, ys}, {l[0], l[1]}, call(ScalarOp::Least, {op(1), op(0)}));
  EXPECT_EQ(unite_common_subexpressions(g.graph).size(), g.graph.size());
  g.vertex("E", {ys, xs}, {l[0], l[1]}, call(ScalarOp::Subtract, {op(1), op(0)}));  // equal to A
  EXPECT_EQ(unite_common_subexpressions(g.graph).size(), g.graph.size() - 1);
}

TEST(CommonSubexpressions, ATransposedOutputKeepsItsHead) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3, 3});
  const auto t = g.contraction("T", {{x, {l[0], l[2]}}, {x, {l[2], l[1]}}}, {l[0], l[1]});
  g.vertex("U", {{t, {l[0], l[1]}}}, {l[0]}, op(0));
  g.contraction("Z", {{x, {l[0], l[2]}}, {x, {l[2], l[1]}}}, {l[1], l[0]});
  EXPECT_EQ(united(g.graph), (Texts{"Z[j,i] = SUM(X[i,k] * X[k,j])", "U[i] = SUM(Z[j,i])"}));
}

TEST(CommonSubexpressions, ChainsOfEqualVertices) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3});
  const auto again = g.input("X", {3});
  const auto a = g.vertex("A", {{x, {l[0]}}}, {l[0]}, call(ScalarOp::Exp, {op(0)}));
  const auto b = g.vertex("B", {{again, {l[1]}}}, {l[1]}, call(ScalarOp::Exp, {op(0)}));
  const auto c = g.vertex("C", {{a, {l[0]}}}, {}, op(0));
  const auto d = g.vertex("D", {{b, {l[1]}}}, {}, op(0));
  g.vertex("Z", {{c, {}}, {d, {}}}, {}, testing::product(2));
  EXPECT_EQ(united(g.graph), (Texts{"A[i] = EXP(X[i])", "C[] = SUM(A[i])", "Z[] = C * C"}));
}

// Column names come from the output's head, so it must survive.
TEST(CommonSubexpressions, TheOutputKeepsItsHead) {
  GraphBuilder g;
  const auto l = g.labels("ijxy", 3);
  const auto x = g.input("X", {3, 3});
  const auto t = g.vertex("T", {{x, {l[0], l[1]}}}, {l[1], l[0]}, op(0));
  g.vertex("U", {{t, {l[0], l[1]}}}, {}, op(0));
  g.vertex("Z", {{x, {l[2], l[3]}}}, {l[3], l[2]}, op(0));
  const auto graph = unite_common_subexpressions(g.graph);
  EXPECT_EQ(testing::texts(graph), (Texts{"Z[y,x] = X[x,y]", "U[] = SUM(Z[i,j])"}));
  EXPECT_EQ(graph.vertex(graph.output()).name, "Z");
}

// Each result is a tensor of its own, and is computed once.
TEST(CommonSubexpressions, EqualOutputsStaySeveral) {
  GraphBuilder g;
  const auto l = g.labels("ijkxyz", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3, 3});
  const auto t = g.contraction("T", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
  const auto a = g.contraction("A", {{x, {l[3], l[4]}}, {y, {l[4], l[5]}}}, {l[5], l[3]});
  const auto b = g.contraction("B", {{x, {l[3], l[4]}}, {y, {l[4], l[5]}}}, {l[3], l[5]});
  const auto z = g.vertex("Z", {{t, {l[0], l[1]}}, {b, {l[0], l[1]}}}, {}, testing::product(2));
  g.graph.set_outputs({b, z, a});
  const auto graph = unite_common_subexpressions(g.graph);
  EXPECT_EQ(testing::texts(graph),
            (Texts{"A[z,x] = SUM(X[x,y] * Y[y,z])", "B[x,z] = A[z,x]", "Z[] = SUM(A[j,i] * A[j,i])"}));
  ASSERT_EQ(graph.outputs().size(), 3U);
  EXPECT_EQ(graph.vertex(graph.outputs()[0]).name, "B");
  EXPECT_EQ(graph.vertex(graph.outputs()[1]).name, "Z");
  EXPECT_EQ(graph.vertex(graph.outputs()[2]).name, "A");
  g.graph.set_outputs({b, t});  // b is an output and is read as well
  EXPECT_EQ(united(g.graph), (Texts{"T[i,k] = SUM(X[i,j] * Y[j,k])", "B[x,z] = T[x,z]", "Z[] = SUM(T[i,j] * T[i,j])"}));
}

TEST(CommonSubexpressions, RandomNumbersOfOneSeedAndShapeAreEqual) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto random = [](Labels cell, std::uint64_t seed) {
    return ScalarExpression::random(ScalarExpression::Kind::Uniform, seed, std::move(cell));
  };
  g.vertex("A", {}, {l[0]}, random({l[0]}, 1));
  g.vertex("B", {}, {l[1]}, random({l[1]}, 1));
  g.vertex("C", {}, {l[0]}, random({l[0]}, 2));
  EXPECT_EQ(united(g.graph), (Texts{"A[i] = RANDOM(1)", "C[i] = RANDOM(2)"}));
}

}  // namespace
}  // namespace eindb
