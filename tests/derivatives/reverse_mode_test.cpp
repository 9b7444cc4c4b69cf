#include "derivatives/reverse_mode.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "plan/selection.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::number;
using testing::op;
using Texts = std::vector<std::string>;
using enum ScalarOp;

// The vertices added for the gradient of the graph's output.
Texts gradient(GraphBuilder& g, const std::vector<VertexId>& variables) {
  const auto before = g.graph.size();
  const auto out = add_gradients(g.graph, g.graph.output(), variables);
  for (std::size_t n = 0; n < out.size(); ++n)
    EXPECT_EQ(g.graph.vertex(out[n]).bound, g.graph.vertex(variables[n]).bound);
  g.graph.set_outputs(out);
  EXPECT_NO_THROW(validate(g.graph));
  Texts texts;
  for (auto n = before; n < g.graph.size(); ++n) texts.push_back(g.graph.describe(VertexId(n)));
  return texts;
}

TEST(ReverseMode, ContractionsGiveContractions) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3, 3});
  const auto w = g.input("W", {3, 3});
  const auto z = g.contraction("Z", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
  g.contraction("L", {{z, {l[0], l[2]}}, {w, {l[0], l[2]}}}, {});
  EXPECT_EQ(gradient(g, {x, y}),
            (Texts{"dZ.1[i,k] = W[i,k]", "dX[i,j] = SUM(dZ.1[i,k] * Y[j,k])", "dY[j,k] = SUM(dZ.1[i,k] * X[i,j])"}));
}

// With an explicit path the vertices are binary, and so are those of the gradient, in reverse order.
TEST(ReverseMode, PathsAreKept) {
  GraphBuilder g;
  const auto l = g.labels("ijkm", 3);
  const auto a = g.input("A", {3, 3});
  const auto b = g.input("B", {3, 3});
  const auto c = g.input("C", {3, 3});
  const auto t = g.contraction("L.1", {{b, {l[1], l[2]}}, {c, {l[2], l[0]}}}, {l[1], l[0]});
  g.contraction("L", {{a, {l[0], l[1]}}, {t, {l[1], l[0]}}}, {});
  EXPECT_EQ(gradient(g, {a, b, c}),
            (Texts{"dA[i,j] = L.1[j,i]", "dL.1.1[j,i] = A[i,j]", "dB[j,k] = SUM(dL.1.1[j,i] * C[k,i])",
                   "dC[k,i] = SUM(dL.1.1[j,i] * B[j,k])"}));
}

TEST(ReverseMode, ReadsAreAddedUp) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto z = g.contraction("Z", {{x, {l[0], l[1]}}, {x, {l[1], l[0]}}}, l);
  g.contraction("L", {{z, l}, {x, l}}, {});
  EXPECT_EQ(gradient(g, {x}), (Texts{"dZ.1[i,j] = X[i,j]", "dX.1[i,j] = Z[i,j]", "dX.2[i,j] = dZ.1[i,j] * X[j,i]",
                                     "dX.3[j,i] = dZ.1[i,j] * X[i,j]", "dX[i,j] = dX.1[i,j] + dX.2[i,j] + dX.3[i,j]"}));
}

TEST(ReverseMode, Diagonals) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3, 3});
  g.contraction("L", {{x, {l[0], l[0]}}, {y, {l[0], l[1]}}}, {});
  EXPECT_EQ(gradient(g, {x}), (Texts{"dX.1[i] = SUM(Y[i,j])", "dX[i,i] = CASE WHEN i = i THEN dX.1[i] ELSE 0 END"}));
}

TEST(ReverseMode, LabelsThatNothingHasCount) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 4);
  const auto x = g.input("X", {4});
  const auto y = g.input("Y", {4, 4});
  const auto w = g.input("W", {4, 4});
  g.vertex("L", {{x, {l[0]}}, {y, {l[0], l[1]}}}, {}, call(Add, {op(0), op(1)}));
  EXPECT_EQ(gradient(g, {x, y, w}), (Texts{"dX[i] = 4", "dY[i,j] = 1", "dW[i1,i2] = 0"}));
}

TEST(ReverseMode, SelectionsArePartOfTheirTensor) {
  GraphBuilder g;
  const auto l = g.labels("ij", 4);
  const auto x = g.input("X", {4, 4});
  const auto row = select(g.graph, x, {3, std::nullopt});
  g.contraction("L", {{row, {l[0]}}, {x, {l[0], l[1]}}}, {});
  EXPECT_EQ(gradient(g, {x}), (Texts{"dX(3,:).1[i] = SUM(X[i,j])", "dX.1[i,j] = X(3,:)[i]",
                                     "dX(3,:)[i,j] = CASE WHEN i = 3 THEN dX(3,:).1[j] ELSE 0 END",
                                     "dX[i,j] = dX.1[i,j] + dX(3,:)[i,j]"}));
}

TEST(ReverseMode, ExtremesPassToWhereTheyAreTaken) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3, 3});
  const auto y = g.input("Y", {3});
  const auto m = g.vertex("M", {{x, l}}, {l[0]}, op(0), Aggregate::Max);
  g.contraction("L", {{m, {l[0]}}, {y, {l[0]}}}, {});
  EXPECT_EQ(gradient(g, {x}), (Texts{"dM.1[i] = Y[i]", "M.ties[i] = SUM(X[i,j] = M[i])",
                                     "dX[i,j] = CASE WHEN X[i,j] = M[i] THEN dM.1[i] / M.ties[i] ELSE 0 END"}));
}

Error error_of(GraphBuilder& g, const std::vector<VertexId>& variables) {
  try {
    add_gradients(g.graph, g.graph.output(), variables);
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::Internal, "no error"};
}

TEST(ReverseMode, ScalarsAlone) {
  GraphBuilder g;
  const auto l = g.labels("i", 3);
  const auto x = g.input("X", {3});
  g.vertex("Z", {{x, l}}, l, op(0));
  EXPECT_EQ(error_of(g, {x}).message(), "a gradient is that of a scalar, but Z has 1 dimension");
  EXPECT_EQ(error_of(g, {x}).kind(), ErrorKind::Shape);
}

TEST(ReverseMode, WholeNumbersHaveNoDerivative) {
  GraphBuilder g;
  const auto l = g.labels("i", 3);
  const auto n = g.input("N", {3}, {}, DType::Int64);
  const auto x = g.input("X", {3});
  const auto c = g.vertex("L.1", {{x, l}}, l, op(0));
  g.graph.set_dtype(c, DType::Int64);
  g.contraction("L", {{c, l}, {n, l}}, {});
  EXPECT_EQ(error_of(g, {n}).message(), "N is INT64, and derivatives are by real or complex numbers");
  EXPECT_EQ(error_of(g, {x}).message(), "CAST to INT64 has no derivative, and L depends on it");
  EXPECT_EQ(error_of(g, {x}).kind(), ErrorKind::Type);
}

}  // namespace
}  // namespace eindb
