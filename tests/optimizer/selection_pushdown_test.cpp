#include "optimizer/rewrites/selection_pushdown.hpp"

#include <gtest/gtest.h>

#include "plan/validator.hpp"
#include "tests/optimizer/selected_values.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::evaluate_graph;
using testing::GraphBuilder;
using testing::number;
using testing::op;
using testing::texts;
using Texts = std::vector<std::string>;

DenseTensor value_of(const Vertex& vertex) {
  auto whole = DenseTensor::uninitialized(DType::Float64, testing::stored_shape(vertex));
  for (std::int64_t n = 0; n < whole.shape().element_count(); ++n)
    whole.mutable_data<double>()[n] = static_cast<double>(n % 17);
  return testing::selected_part(vertex, whole);
}

// Z[free] = X(at) in the form that the binder writes; `at` has -1 for a free dimension.
VertexId select(GraphBuilder& g, const std::string& name, VertexId from, const std::vector<std::int64_t>& at) {
  Labels read;
  Labels output;
  ScalarPtr here;
  for (std::size_t d = 0; d < at.size(); ++d) {
    const auto label = g.label("s" + std::to_string(d), g.graph.vertex(from).bound[d]);
    read.push_back(label);
    if (at[d] < 0) {
      output.push_back(label);
      continue;
    }
    const auto same = call(ScalarOp::Equal, {testing::index(label), number(at[d])});
    here = here == nullptr ? same : call(ScalarOp::And, {here, same});
  }
  return g.vertex(name, {{from, read}}, output, call(ScalarOp::Case, {here, op(0), number(0)}));
}

EinGraph pushed(const EinGraph& graph) {
  auto out = push_selections(graph);
  EXPECT_NO_THROW(validate(out));
  const auto before = evaluate_graph(graph, value_of);
  const auto after = evaluate_graph(out, value_of);
  EXPECT_EQ(before.shape(), after.shape());
  for (std::int64_t n = 0; n < before.shape().element_count(); ++n)
    EXPECT_EQ(before.data<double>()[n], after.data<double>()[n]);
  return out;
}

TEST(SelectionPushdown, WhatIsWantedAsAWholeIsComputedAsAWhole) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 4);
  const auto a = g.input("A", {4, 4});
  const auto b = g.input("B", {4, 4});
  const auto c = g.contraction("C", {{a, {l[0], l[1]}}, {b, {l[1], l[2]}}}, {l[0], l[2]});
  const auto z = select(g, "Z", c, {2, -1});
  g.graph.set_outputs({z, c});
  const auto out = pushed(g.graph);
  EXPECT_EQ(testing::texts(out).size(), 2U);
  EXPECT_EQ(out.describe(out.outputs()[1]), "C[i,k] = SUM(A[i,j] * B[j,k])");
  EXPECT_EQ(out.vertex(out.outputs()[0]).inputs, std::vector{out.outputs()[1]});
}

TEST(SelectionPushdown, ReachesTheScan) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 4);
  const auto a = g.input("A", {4, 4});
  const auto b = g.input("B", {4, 4});
  const auto c = g.contraction("C", {{a, {l[0], l[1]}}, {b, {l[1], l[2]}}}, {l[0], l[2]});
  select(g, "Z", c, {3, -1});
  EXPECT_EQ(texts(pushed(g.graph)), (Texts{"Z[s1] = SUM(A(3,:)[j] * B[j,s1])"}));
}

TEST(SelectionPushdown, GoesThroughChainsAndLabelValues) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 4);
  const auto x = g.input("X", {4, 4});
  const auto a = g.vertex("A", {{x, {l[0], l[1]}}}, {l[1], l[0]}, call(ScalarOp::Add, {op(0), testing::index(l[0])}));
  const auto b = g.contraction("B", {{a, {l[0], l[1]}}, {a, {l[2], l[1]}}}, {l[0], l[2]});
  select(g, "Z", b, {-1, 2});
  // A is read both whole and at 2, so it stays whole.
  EXPECT_EQ(texts(pushed(g.graph)).size(), 3U);

  GraphBuilder h;
  const auto m = h.labels("ij", 4);
  const auto y = h.input("Y", {4, 4});
  const auto p = h.vertex("P", {{y, {m[0], m[1]}}}, {m[1], m[0]}, call(ScalarOp::Add, {op(0), testing::index(m[0])}));
  const auto q = h.vertex("Q", {{p, {m[0], m[1]}}}, {m[0], m[1]}, call(ScalarOp::Multiply, {op(0), number(2)}));
  select(h, "Z", q, {1, 2});
  EXPECT_EQ(texts(pushed(h.graph)), (Texts{"P(1,2)[] = Y(2,1) + 2", "Z[] = P(1,2) * 2"}));
}

TEST(SelectionPushdown, AggregatedLabelsKeepApart) {
  GraphBuilder g;
  const auto l = g.labels("ij", 4);
  const auto x = g.input("X", {4, 4});
  const auto c = g.vertex("C", {{x, {l[0], l[1]}}, {x, {l[1], l[1]}}}, {l[0]}, testing::product(2));
  // Reads the rows of C with the label that C aggregates.
  const auto d = g.vertex("D", {{c, {l[0]}}}, {l[0], l[1]}, op(0));
  g.vertex("Z", {{d, {l[1], l[0]}}}, {l[1]},
           call(ScalarOp::Case, {call(ScalarOp::Equal, {testing::index(l[0]), number(1)}), op(0), number(0)}));
  pushed(g.graph);
}

TEST(SelectionPushdown, OfSeveralSmallSelectionsEachIsComputed) {
  GraphBuilder g;
  const auto l = g.labels("ij", 16);
  const auto x = g.input("X", {16, 16});
  const auto c = g.vertex("C", {{x, {l[0], l[1]}}}, {l[0], l[1]}, call(ScalarOp::Exp, {op(0)}));
  const auto a = select(g, "A", c, {0, -1});
  const auto b = select(g, "B", c, {1, -1});
  g.vertex("Z", {{a, {l[0]}}, {b, {l[0]}}}, {l[0]}, testing::product(2));
  EXPECT_EQ(texts(pushed(g.graph)),
            (Texts{"A[s1] = EXP(X(0,:)[s1])", "B[s1] = EXP(X(1,:)[s1])", "Z[i] = A[i] * B[i]"}));
}

TEST(SelectionPushdown, WhatIsReadWholeStaysWhole) {
  GraphBuilder g;
  const auto l = g.labels("ij", 4);
  const auto x = g.input("X", {4, 4});
  const auto c = g.vertex("C", {{x, {l[0], l[1]}}}, {l[0], l[1]}, call(ScalarOp::Exp, {op(0)}));
  const auto s = select(g, "S", c, {-1, 0});
  g.vertex("Z", {{c, {l[0], l[1]}}, {s, {l[0]}}}, {l[0], l[1]}, testing::product(2));
  EXPECT_EQ(texts(pushed(g.graph)), texts(g.graph));
}

TEST(SelectionPushdown, RandomNumbersBelongToTheirCells) {
  GraphBuilder g;
  const auto l = g.labels("ij", 4);
  const auto r = g.vertex("R", {}, {l[0], l[1]}, ScalarExpression::random(ScalarExpression::Kind::Normal, 7, l));
  select(g, "Z", r, {2, -1});
  EXPECT_EQ(texts(pushed(g.graph)), texts(g.graph));
  // A diagonal of diagonals is still one.
  const auto t = g.vertex("T", {}, {l[0], l[1]}, ScalarExpression::random(ScalarExpression::Kind::Normal, 7, l));
  g.vertex("D", {{t, {l[0], l[0]}}}, {l[0]}, op(0));
  EXPECT_EQ(texts(pushed(g.graph)), (Texts{"T[i] = RANDN(7)", "D[i] = T[i]"}));
}

TEST(SelectionPushdown, Diagonals) {
  GraphBuilder g;
  const auto l = g.labels("abji", 4);
  const auto a = g.input("A", {4, 4});
  const auto b = g.input("B", {4, 4});
  const auto c = g.contraction("C", {{a, {l[0], l[2]}}, {b, {l[2], l[1]}}}, {l[0], l[1]});
  g.vertex("Z", {{c, {l[3], l[3]}}}, {}, op(0));
  EXPECT_EQ(texts(pushed(g.graph)), (Texts{"C[a] = SUM(A[a,j] * B[j,a])", "Z[] = SUM(C[i])"}));
}

TEST(SelectionPushdown, ADiagonalOfASelection) {
  GraphBuilder g;
  const auto l = g.labels("abc", 4);
  const auto x = g.input("X", {4, 4, 4});
  const auto c = g.vertex("C", {{x, l}}, {l[2], l[0], l[1]}, call(ScalarOp::Multiply, {op(0), number(2)}));
  const auto s = select(g, "S", c, {-1, 1, -1});
  g.vertex("Z", {{s, {l[0], l[0]}}}, {l[0]}, op(0));
  EXPECT_EQ(texts(pushed(g.graph)), (Texts{"S[s0] = X(1,:,:)[s0,s0] * 2", "Z[a] = S[a]"}));
}

// A condition that a user writes on a stored tensor is a selection too.
TEST(SelectionPushdown, ConditionsOnStoredTensors) {
  GraphBuilder g;
  const auto x = g.input("X", {4, 5}, {2, 5});
  select(g, "Z", x, {-1, 3});
  EXPECT_EQ(texts(pushed(g.graph)), (Texts{"Z[s0] = X(:,3)[s0]"}));
  // Outside the extent nothing is selected, and the sum is 0.
  const auto l = g.labels("ij", 4);
  const auto y = g.input("Y", {4});
  g.vertex("W", {{y, {l[0]}}}, {},
           call(ScalarOp::Case, {call(ScalarOp::Equal, {testing::index(l[0]), number(9)}), op(0), number(0)}));
  EXPECT_EQ(texts(pushed(g.graph)).back(), "W[] = Y[9 PAD 0]");
}

}  // namespace
}  // namespace eindb
