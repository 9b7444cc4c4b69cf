#include "optimizer/rewrites/early_summation.hpp"

#include <gtest/gtest.h>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;
using testing::texts;
using Texts = std::vector<std::string>;

TEST(EarlySummation, SumsEachSideBeforeTheJoin) {
  GraphBuilder g;
  const auto l = g.labels("abcdef", 3);
  const auto a = g.input("A", {3, 3, 3});
  const auto b = g.input("B", {3, 3, 3});
  g.contraction("Z", {{a, {l[0], l[1], l[2]}}, {b, {l[3], l[4], l[5]}}}, {});
  EXPECT_EQ(texts(sum_early(g.graph)), (Texts{"Z.1[] = SUM(A[a,b,c])", "Z.2[] = SUM(B[d,e,f])", "Z[] = Z.1 * Z.2"}));
}

TEST(EarlySummation, KeepsSharedAndHeadLabels) {
  GraphBuilder g;
  const auto l = g.labels("ijkm", 3);
  const auto a = g.input("A", {3, 3, 3});
  const auto b = g.input("B", {3, 3});
  g.contraction("Z", {{a, {l[0], l[1], l[3]}}, {b, {l[1], l[2]}}}, {l[0], l[2]});
  EXPECT_EQ(texts(sum_early(g.graph)), (Texts{"Z.1[i,j] = SUM(A[i,j,m])", "Z[i,k] = SUM(Z.1[i,j] * B[j,k])"}));
}

TEST(EarlySummation, QuotientsAreProducts) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto e = g.input("E", {3, 3});
  const auto s = g.input("S", {3, 3});
  g.vertex("Z", {{e, {l[0], l[1]}}, {s, {l[0], l[2]}}}, {l[0]}, call(ScalarOp::Divide, {op(0), op(1)}));
  EXPECT_EQ(texts(sum_early(g.graph)),
            (Texts{"Z.1[i] = SUM(E[i,j])", "Z.2[i] = SUM(1 / S[i,k])", "Z[i] = Z.1[i] * Z.2[i]"}));
}

// A label value joins the operand that has the label; one that connects two sides is not summed early.
TEST(EarlySummation, LabelsAsNumbers) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3});
  g.vertex("Z", {{x, {l[0], l[1]}}, {y, {l[2]}}}, {l[0], l[2]},
           call(ScalarOp::Multiply, {testing::index(l[1]), op(0), op(1)}));
  EXPECT_EQ(texts(sum_early(g.graph)), (Texts{"Z.1[i] = SUM(j * X[i,j])", "Z[i,k] = Z.1[i] * Y[k]"}));

  const auto mask = call(ScalarOp::LessEqual, {testing::index(l[1]), testing::index(l[2])});
  g.vertex("W", {{x, {l[0], l[1]}}, {y, {l[2]}}}, {l[0]}, call(ScalarOp::Multiply, {mask, op(0), op(1)}));
  EXPECT_EQ(texts(sum_early(g.graph)).back(), "W[i] = SUM((j <= k) * X[i,j] * Y[k])");
}

TEST(EarlySummation, FactorsOverOneOperandStayTogether) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3});
  g.vertex("Z", {{x, {l[0], l[1]}}, {y, {l[0]}}}, {l[0]},
           call(ScalarOp::Multiply, {op(0), op(1), call(ScalarOp::Exp, {op(0)})}));
  EXPECT_EQ(texts(sum_early(g.graph)), (Texts{"Z.1[i] = SUM(X[i,j] * EXP(X[i,j]))", "Z[i] = Z.1[i] * Y[i]"}));
}

TEST(EarlySummation, LeavesOtherVerticesAlone) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3});
  const auto y = g.input("Y", {3});
  const Texts untouched{
      "A[] = MAX(X[i] * Y[j])",  // signs are unknown
      "B[] = SUM((X[i] - Y[j])^2)",
      "C[] = SUM(2 * X[i])",     // nothing to join with
      "D[] = SUM(X[i] * Y[i])",  // on both sides
  };
  g.vertex("A", {{x, {l[0]}}, {y, {l[1]}}}, {}, testing::product(2), Aggregate::Max);
  g.vertex("B", {{x, {l[0]}}, {y, {l[1]}}}, {},
           call(ScalarOp::Power, {call(ScalarOp::Subtract, {op(0), op(1)}), testing::number(2)}));
  g.vertex("C", {{x, {l[0]}}}, {}, call(ScalarOp::Multiply, {testing::number(2), op(0)}));
  g.contraction("D", {{x, {l[0]}}, {y, {l[0]}}}, {});
  EXPECT_EQ(texts(sum_early(g.graph)), untouched);
}

// A label without a factor multiplies by its extent; such a vertex does not change.
TEST(EarlySummation, LabelsOfNoFactorStay) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3});
  const auto y = g.input("Y", {3});
  EinSum e;
  e.inputs = {{l[0]}, {l[1]}};
  e.aggregated = {l[0], l[1], l[2]};
  e.aggregate = Aggregate::Sum;
  e.expression = testing::product(2);
  g.graph.set_output(g.graph.add(make_vertex(g.graph, "Z", {x, y}, e)));
  EXPECT_EQ(texts(sum_early(g.graph)).back(), "Z[] = SUM[k](Z.1 * Z.2)");
}

}  // namespace
}  // namespace eindb
