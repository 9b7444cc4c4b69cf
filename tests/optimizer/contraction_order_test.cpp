#include "optimizer/rewrites/contraction_order.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;
using Texts = std::vector<std::string>;

EinGraph order_contractions(const EinGraph& graph) {
  PathSearch paths;
  return eindb::order_contractions(graph, paths);
}

Texts ordered(const EinGraph& graph) {
  const auto result = order_contractions(graph);
  validate(result, 2);
  return testing::texts(result);
}

// i:10 j:100 k:5 m:50 and the matrices A B C of a chain.
struct Chain : GraphBuilder {
  Label i = label("i", 10);
  Label j = label("j", 100);
  Label k = label("k", 5);
  Label m = label("m", 50);
  VertexId a = input("A", {10, 100});
  VertexId b = input("B", {100, 5});
  VertexId c = input("C", {5, 50});
  std::vector<Read> reads{{a, {i, j}}, {b, {j, k}}, {c, {k, m}}};
};

TEST(ContractionOrder, MatrixChain) {
  Chain g;
  g.contraction("Z", g.reads, {g.i, g.m});
  EXPECT_EQ(ordered(g.graph), (Texts{"Z.1[i,k] = SUM(A[i,j] * B[j,k])", "Z[i,m] = SUM(Z.1[i,k] * C[k,m])"}));
}

TEST(ContractionOrder, ConstantsAndSignsWaitForTheLastVertex) {
  Chain g;
  g.vertex("Z", g.reads, {g.i, g.m},
           call(ScalarOp::Negate, {call(ScalarOp::Multiply, {testing::number(2), op(0), op(1), op(2)})}));
  EXPECT_EQ(ordered(g.graph).back(), "Z[i,m] = SUM(-2 * Z.1[i,k] * C[k,m])");
}

TEST(ContractionOrder, DividingIsAFactor) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 4);
  const auto a = g.input("A", {4, 4});
  const auto b = g.input("B", {4});
  const auto c = g.input("C", {4});
  const std::vector<GraphBuilder::Read> reads{{a, {l[0], l[1]}}, {b, {l[0]}}, {c, {l[1]}}};
  const auto quotient = call(ScalarOp::Divide, {call(ScalarOp::Divide, {op(0), op(1)}), op(2)});
  // Nothing is summed: the denominators are multiplied, and divide once.
  g.vertex("Z", reads, {l[0], l[1]}, quotient);
  EXPECT_EQ(ordered(g.graph), (Texts{"Z.1[i,j] = A[i,j] / B[i]", "Z[i,j] = Z.1[i,j] / C[j]"}));
}

TEST(ContractionOrder, DenominatorsStayOneUntilTheyAreSummed) {
  GraphBuilder g;
  const auto i = g.label("i", 100);
  const auto j = g.label("j", 4);
  const auto a = g.input("A", {100});
  const auto b = g.input("B", {4});
  const auto c = g.input("C", {4});
  const std::vector<GraphBuilder::Read> reads{{a, {i}}, {b, {j}}, {c, {j}}};
  const auto quotient = call(ScalarOp::Divide, {op(0), call(ScalarOp::Multiply, {op(1), op(2)})});
  g.vertex("Z", reads, {i, j}, quotient);
  EXPECT_EQ(ordered(g.graph), (Texts{"Z.1[j] = B[j] * C[j]", "Z[i,j] = A[i] / Z.1[j]"}));
  g.vertex("W", reads, {i}, quotient);
  const auto all = ordered(g.graph);
  EXPECT_EQ((Texts{all.end() - 2, all.end()}), (Texts{"W.1[] = SUM(1 / (B[j] * C[j]))", "W[i] = A[i] * W.1"}));
}

TEST(ContractionOrder, HyperedgesAndOuterProducts) {
  GraphBuilder g;
  const auto l = g.labels("abc", 4);
  const auto x = g.input("X", {4});
  const auto y = g.input("Y", {4});
  const auto z = g.input("Z", {4});
  g.contraction("S", {{x, {l[0]}}, {y, {l[0]}}, {z, {l[0]}}}, {});
  EXPECT_EQ(ordered(g.graph), (Texts{"S.1[a] = X[a] * Y[a]", "S[] = SUM(S.1[a] * Z[a])"}));
  g.contraction("O", {{x, {l[0]}}, {y, {l[1]}}, {z, {l[2]}}}, {l[2], l[0], l[1]});
  EXPECT_EQ(ordered(g.graph).back(), "O[c,a,b] = O.1[a,b] * Z[c]");
}

TEST(ContractionOrder, FactorsOverTwoOperandsComeFirst) {
  GraphBuilder g;
  const auto l = g.labels("ijkm", 4);
  const auto x = g.input("X", {4, 4});
  const auto y = g.input("Y", {4, 4});
  const auto w = g.input("W", {4, 4});
  const auto distance = call(ScalarOp::Power, {call(ScalarOp::Subtract, {op(0), op(1)}), testing::number(2)});
  // The factor X[i,j] joins the pair that has X; j is in no other factor and is summed at once.
  g.vertex("Z", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}, {w, {l[2], l[3]}}}, {l[0], l[3]},
           call(ScalarOp::Multiply, {distance, op(2), op(0)}));
  EXPECT_EQ(ordered(g.graph),
            (Texts{"Z.1[i,k] = SUM((X[i,j] - Y[j,k])^2 * X[i,j])", "Z[i,m] = SUM(Z.1[i,k] * W[k,m])"}));
}

TEST(ContractionOrder, LabelValuesJoinAFactorThatHasThem) {
  Chain g;
  g.vertex("Z", g.reads, {g.i, g.m},
           call(ScalarOp::Multiply, {testing::index(g.j), op(0), op(1), op(2),
                                     call(ScalarOp::Less, {testing::index(g.i), testing::index(g.m)})}));
  EXPECT_EQ(ordered(g.graph),
            (Texts{"Z.1[i,k] = SUM(A[i,j] * j * B[j,k])", "Z[i,m] = SUM((i < m) * Z.1[i,k] * C[k,m])"}));
}

TEST(ContractionOrder, EqualReadsAreOneOperand) {
  GraphBuilder g;
  const auto l = g.labels("ij", 4);
  const auto x = g.input("X", {4, 4});
  const auto y = g.input("Y", {4});
  g.contraction("Z", {{x, {l[0], l[1]}}, {x, {l[0], l[1]}}, {y, {l[1]}}}, {l[0]});
  EXPECT_EQ(ordered(g.graph), Texts{"Z[i] = SUM(X[i,j] * X[i,j] * Y[j])"});
}

TEST(ContractionOrder, OtherExpressionsAreSplitBottomUp) {
  GraphBuilder g;
  const auto l = g.labels("ij", 4);
  const auto x = g.input("X", {4, 4});
  const auto c = g.input("C", {4});
  const auto y = g.input("Y", {4});
  const std::vector<GraphBuilder::Read> reads{{x, {l[0], l[1]}}, {c, {l[0]}}, {y, {l[1]}}};
  const auto exp = call(ScalarOp::Exp, {call(ScalarOp::Subtract, {op(0), op(1)})});
  g.vertex("Z", reads, {l[0]}, call(ScalarOp::Add, {exp, op(2)}), Aggregate::Max);
  EXPECT_EQ(ordered(g.graph), (Texts{"Z.1[i,j] = EXP(X[i,j] - C[i])", "Z[i] = MAX(Z.1[i,j] + Y[j])"}));
  // Many arguments split at the neighbours with the smallest join; numbers stay outside.
  g.vertex("S", reads, {l[0], l[1]}, call(ScalarOp::Add, {op(0), testing::number(1), op(1), op(2)}));
  const auto all = ordered(g.graph);
  EXPECT_EQ((Texts{all.end() - 2, all.end()}), (Texts{"S.1[i,j] = X[i,j] + C[i]", "S[i,j] = S.1[i,j] + 1 + Y[j]"}));
}

TEST(ContractionOrder, CaseOverThreeOperands) {
  GraphBuilder g;
  const auto i = g.label("i", 4);
  const auto a = g.input("A", {4});
  const auto b = g.input("B", {4});
  const auto c = g.input("C", {4});
  g.vertex("Z", {{a, {i}}, {b, {i}}, {c, {i}}}, {i}, call(ScalarOp::Case, {op(0), op(1), op(2)}));
  EXPECT_EQ(ordered(g.graph), (Texts{"Z.1[i] = CASE WHEN A[i] THEN B[i] ELSE -0 END",
                                     "Z.2[i] = CASE WHEN A[i] THEN -0 ELSE C[i] END", "Z[i] = Z.1[i] + Z.2[i]"}));
}

// Each product is computed in the type of its own factors, and converted for the next.
TEST(ContractionOrder, PartsHaveTheTypesOfTheStatement) {
  GraphBuilder g;
  const auto i = g.label("i", 4);
  const auto x = g.input("X", {4}, {}, DType::Float32);
  const auto y = g.input("Y", {4}, {}, DType::Int64);
  const auto w = g.input("W", {4}, {}, DType::Complex64);
  g.vertex("Z", {{x, {i}}, {y, {i}}, {w, {i}}}, {}, testing::product(3));
  const auto graph = order_contractions(g.graph);
  EXPECT_EQ(graph.describe(VertexId(3)), "Z.1[i] = CAST(CAST(X[i] AS FLOAT64) * CAST(Y[i] AS FLOAT64) AS COMPLEX128)");
  EXPECT_EQ(graph.vertex(VertexId(3)).dtype, DType::Complex128);
  EXPECT_EQ(graph.vertex(graph.output()).dtype, DType::Complex128);
}

// A comparison has no type of its own; as a part it must not widen the result.
TEST(ContractionOrder, ComparisonsDoNotWidenTheResult) {
  GraphBuilder g;
  const auto i = g.label("i", 4);
  for (const auto type : {DType::Float32, DType::Int64}) {
    const auto x = g.input("X", {4}, {}, type);
    const auto y = g.input("Y", {4}, {}, type);
    const auto w = g.input("W", {4}, {}, type);
    g.vertex("Z", {{x, {i}}, {y, {i}}, {w, {i}}}, {i},
             call(ScalarOp::Multiply, {call(ScalarOp::Less, {op(0), op(1)}), op(2)}));
    const auto graph = order_contractions(g.graph);
    EXPECT_EQ(graph.vertex(graph.output()).dtype, type);
    EXPECT_EQ(graph.vertex(graph.vertex(graph.output()).inputs[1]).dtype, type);
  }
}

TEST(ContractionOrder, NamesAreNew) {
  Chain g;
  g.input("Z.1", {2});
  g.contraction("Z", g.reads, {g.i, g.m});
  EXPECT_EQ(ordered(g.graph).front(), "Z.2[i,k] = SUM(A[i,j] * B[j,k])");
}

TEST(ContractionOrder, ThousandsOfOperands) {
  GraphBuilder g;
  const std::size_t n = 1000;
  std::vector<GraphBuilder::Read> reads;
  Labels bonds;
  for (std::size_t b = 0; b <= n; ++b) bonds.push_back(g.label("b" + std::to_string(b), 2));
  for (std::size_t b = 0; b < n; ++b)
    reads.push_back({g.input("M" + std::to_string(b), {2, 2}), {bonds[b], bonds[b + 1]}});
  g.contraction("Z", reads, {bonds.front(), bonds.back()});
  EXPECT_EQ(ordered(g.graph).size(), n - 1);
}

// In a network in which each of 18 operands shares a label with each other one, a third to two thirds of the operands
// are contracted to one result at some time, which has 72 labels at least.
TEST(ContractionOrder, RefusesResultsBeyondCounting) {
  GraphBuilder g;
  constexpr std::size_t kOperands = 18;
  std::vector<GraphBuilder::Read> reads(kOperands);
  for (std::size_t a = 0; a < kOperands; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const auto label = g.label("l" + std::to_string(a) + "_" + std::to_string(b), 2);
      reads[a].labels.push_back(label);
      reads[b].labels.push_back(label);
    }
  }
  for (auto& read : reads) read.vertex = g.input("X", std::vector<std::int64_t>(kOperands - 1, 2));
  g.contraction("Z", reads, {});
  try {
    order_contractions(g.graph);
    FAIL() << "no machine holds 2^72 elements";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::MemoryLimit);
    EXPECT_NE(std::string(e.what()).find("contraction of 18 operands: the best one makes a result of 2^"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace eindb
