// Early aggregation of sums, extremes, truth values and INT64 products: the resulting vertices, and that their values
// equal those of the whole join, NaN and infinities included.

#include <gtest/gtest.h>

#include "optimizer/rewrites/dead_vertices.hpp"
#include "optimizer/rewrites/early_summation.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/special_values.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::evaluate_graph;
using testing::GraphBuilder;
using testing::number;
using testing::op;
using testing::texts;
using enum ScalarOp;
using Texts = std::vector<std::string>;

// X[i,s], Y[j,s] and C[h], with distinct extents.
struct Operands {
  explicit Operands(DType type = DType::Float64)
      : i(g.label("i", 30)), j(g.label("j", 40)), s(g.label("s", 2)), h(g.label("h", 3)) {
    x = g.input("X", {30, 2}, {}, type);
    y = g.input("Y", {40, 2}, {}, type);
    c = g.input("C", {3}, {}, type);
  }

  void z(const Labels& head, const ScalarPtr& expression, Aggregate aggregate) {
    std::vector<GraphBuilder::Read> reads{{x, {i, s}}, {y, {j, s}}};
    if (contains(head, h)) reads.push_back({c, {h}});
    g.vertex("Z", reads, head, expression, aggregate);
  }

  GraphBuilder g;
  Label i, j, s, h;
  VertexId x, y, c;
};

// Checks the values over many inputs: within `rounding` relative to the largest, or exactly.
Texts apart(const EinGraph& whole, double rounding = 0, bool nan = true) {
  const auto graph = drop_dead_vertices(whole);
  const auto out = sum_early(graph);
  EXPECT_NO_THROW(validate(out));
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto values = [&](const Vertex& vertex) {
      return testing::special_value_of(vertex, seed, nan && seed % 2 == 0);
    };
    const auto plain = [&](const Vertex& vertex) {
      auto tensor = DenseTensor::zeros(vertex.dtype, vertex.bound);
      std::mt19937 random(seed + static_cast<unsigned>(vertex.name[0]));
      dispatch(vertex.dtype, [&](auto t) {
        using T = typename decltype(t)::type;
        for (std::int64_t n = 0; n < vertex.bound.element_count(); ++n)
          tensor.template mutable_data<T>()[n] = static_cast<T>(static_cast<int>(random() % 9) - 4);
      });
      return tensor;
    };
    if (rounding == 0) {
      EXPECT_TRUE(testing::same_values(evaluate_graph(graph, values), evaluate_graph(out, values), false)) << seed;
    }
    const auto expected = evaluate_graph(graph, plain);
    const auto found = evaluate_graph(out, plain);
    EXPECT_EQ(expected.dtype(), found.dtype());
    for (std::int64_t n = 0; rounding > 0 && n < expected.shape().element_count(); ++n)
      EXPECT_NEAR(expected.data<double>()[n], found.data<double>()[n], rounding * 1e5);
    if (rounding == 0) {
      EXPECT_TRUE(testing::same_values(expected, found, false)) << seed;
    }
  }
  return texts(out);
}

TEST(SeparableSum, EachTermOverItsOwnLabels) {
  Operands o;
  o.z({}, call(Add, {op(0), op(1)}), Aggregate::Sum);
  EXPECT_EQ(apart(o.g.graph), (Texts{"Z.1[] = SUM(X[i,s])", "Z.2[] = SUM(Y[j,s])", "Z[] = 40 * Z.1 + 30 * Z.2"}));
  o.z({o.s}, call(Subtract, {op(0), call(Exp, {op(1)})}), Aggregate::Sum);
  EXPECT_EQ(apart(o.g.graph, 1e-12),
            (Texts{"Z.1[s] = SUM(X[i,s])", "Z.2[s] = SUM(-EXP(Y[j,s]))", "Z[s] = 40 * Z.1[s] + 30 * Z.2[s]"}));
}

TEST(SeparableSum, ConstantsAndLabelValuesGoWithATerm) {
  Operands o;
  o.z({o.h}, call(Multiply, {call(Add, {op(0), op(1), op(2), number(1), testing::index(o.j)}), number(2)}),
      Aggregate::Sum);
  EXPECT_EQ(apart(o.g.graph, 1e-12), (Texts{"Z.1[] = SUM(X[i,s] * 2 + 1 * 2)", "Z.2[] = SUM(Y[j,s] * 2 + j * 2)",
                                            "Z[h] = 40 * Z.1 + 30 * Z.2 + 2400 * (C[h] * 2)"}));
}

// Products within sums and sums within products, repeatedly.
TEST(SeparableSum, PartsAreTakenApartInTheirTurn) {
  GraphBuilder g;
  const auto l = g.labels("ijkm", 5);
  std::vector<GraphBuilder::Read> reads;
  for (std::size_t n = 0; n < 4; ++n) reads.push_back({g.input(std::string(1, "ABCD"[n]), {5}), {l[n]}});
  g.vertex("Z", reads, {}, call(Multiply, {op(0), call(Add, {op(1), call(Multiply, {op(2), op(3)})})}));
  EXPECT_EQ(apart(g.graph, 1e-12),
            (Texts{"Z.1[] = SUM(A[i])", "Z.2.1[] = SUM(B[j])", "Z.2.2.1[] = SUM(C[k])", "Z.2.2.2[] = SUM(D[m])",
                   "Z.2.2[] = Z.2.2.1 * Z.2.2.2", "Z.2[] = 25 * Z.2.1 + 5 * Z.2.2", "Z[] = Z.1 * Z.2"}));
}

TEST(SeparableSum, WhereNothingIsGainedItStays) {
  GraphBuilder g;
  const auto l = g.labels("ij", 5);
  const auto x = g.input("X", {5, 5});
  const auto y = g.input("Y", {5});
  g.vertex("Z", {{x, {l[0], l[1]}}, {y, {l[0]}}}, {l[0]}, call(Add, {op(0), op(1)}));
  EXPECT_EQ(apart(g.graph).size(), 1U);
  // Over no cell the sum is 0, whatever the other side is.
  const auto none = g.label("e", 0);
  const auto empty = g.input("E", {0});
  g.vertex("Z", {{empty, {none}}, {y, {l[0]}}}, {}, call(Add, {op(0), op(1)}));
  EXPECT_EQ(apart(g.graph).size(), 1U);
}

TEST(SeparableSum, WholeNumbersWrapAlike) {
  Operands o(DType::Int64);
  o.z({}, call(Subtract, {op(0), op(1)}), Aggregate::Sum);
  EXPECT_EQ(apart(o.g.graph).size(), 3U);
  o.z({o.s}, testing::product(2), Aggregate::Prod);
  EXPECT_EQ(apart(o.g.graph),
            (Texts{"Z.1[s] = PROD(X[i,s])", "Z.2[s] = PROD(Y[j,s])", "Z[s] = Z.1[s]^40 * Z.2[s]^30"}));
  Operands f;
  f.z({f.s}, testing::product(2), Aggregate::Prod);
  EXPECT_EQ(texts(sum_early(f.g.graph)).size(), 1U);
}

// PROD of a power is the power of the PROD, also with -0, infinities and NaN. Roots are not: they take PROD out of
// what FLOAT64 holds; and x ^ 0 is 1 for NaN, too.
TEST(SeparableProduct, PowersAreTakenLast) {
  const auto power = [](double exponent) { return call(Power, {op(0), ScalarExpression::real(exponent)}); };
  GraphBuilder g;
  const auto s = g.label("s", 2);
  const auto i = g.label("i", 3);
  const auto x = g.input("X", {3, 2});
  const auto z = [&](const ScalarPtr& expression) {
    g.vertex("Z", {{x, {i, s}}}, {s}, expression, Aggregate::Prod);
    return apart(g.graph);
  };
  EXPECT_EQ(z(power(2)), (Texts{"Z.1[s] = PROD(X[i,s])", "Z[s] = Z.1[s]^2"}));
  EXPECT_EQ(z(power(3)).size(), 2U);
  EXPECT_EQ(z(call(Abs, {op(0)})), (Texts{"Z.1[s] = PROD(X[i,s])", "Z[s] = ABS(Z.1[s])"}));
  for (const double exponent : {0.5, 0.0, 1e30}) EXPECT_EQ(z(power(exponent)).size(), 1U) << exponent;
  for (const double exponent : {-1.0, -2.0}) {
    g.vertex("Z", {{x, {i, s}}}, {s}, power(exponent), Aggregate::Prod);
    EXPECT_EQ(texts(sum_early(drop_dead_vertices(g.graph))).size(), 2U) << exponent;
  }
  Operands whole(DType::Int64);
  whole.z({whole.s}, call(Power, {testing::product(2), ScalarExpression::integer(3)}), Aggregate::Prod);
  EXPECT_EQ(apart(whole.g.graph), (Texts{"Z.1.1[s] = PROD(X[i,s])", "Z.1.2[s] = PROD(Y[j,s])",
                                         "Z.1[s] = Z.1.1[s]^40 * Z.1.2[s]^30", "Z[s] = Z.1[s]^3"}));
}

// By parts, as products in sums: exact but for rounding where no infinities of both signs meet.
TEST(SeparableExtreme, SumsByParts) {
  Operands o;
  o.z({o.s}, call(Add, {op(0), op(1)}), Aggregate::Max);
  EXPECT_EQ(apart(o.g.graph, 1e-12), (Texts{"Z.1[s] = MAX(X[i,s])", "Z.2[s] = MAX(Y[j,s])", "Z[s] = Z.1[s] + Z.2[s]"}));
  o.z({o.h}, call(Subtract, {op(0), call(Multiply, {op(1), op(2)})}), Aggregate::Min);
  EXPECT_EQ(apart(o.g.graph, 1e-12),
            (Texts{"Z.1[s] = MIN(X[i,s])", "Z.2[s,h] = MIN(-Y[j,s] * C[h])", "Z[h] = MIN(Z.1[s] + Z.2[s,h])"}));
  o.z({o.h}, call(Subtract, {call(Add, {op(0), op(2)}), op(1)}), Aggregate::Max);
  EXPECT_EQ(apart(o.g.graph, 1e-12).back(), "Z[h] = MAX(Z.1[s] + C[h] + Z.2[s])");
}

TEST(SeparableExtreme, ProductsOfWhatIsNotNegative) {
  Operands o;
  const auto product = call(Multiply, {call(Abs, {op(0)}), call(Exp, {op(1)})});
  o.z({o.s}, product, Aggregate::Max);
  EXPECT_EQ(apart(o.g.graph, 1e-12), (Texts{"Z.1[s] = MAX(ABS(X[i,s]))", "Z.2.1[s] = MAX(Y[j,s])",
                                            "Z.2[s] = EXP(Z.2.1[s])", "Z[s] = Z.1[s] * Z.2[s]"}));
  o.z({o.s}, call(Divide, {call(Abs, {op(0)}), call(Exp, {op(1)})}), Aggregate::Min);
  EXPECT_GT(apart(o.g.graph, 1e-12).size(), 2U);
  // 1 / SQRT(-0) is negative.
  o.z({o.s}, call(Divide, {call(Abs, {op(0)}), call(Sqrt, {op(1)})}), Aggregate::Max);
  EXPECT_EQ(apart(o.g.graph).size(), 1U);
}

TEST(SeparableExtreme, MonotoneFunctionsComeLast) {
  Operands o;
  o.z({o.s}, call(Exp, {call(Negate, {call(Add, {op(0), op(1)})})}), Aggregate::Max);
  EXPECT_EQ(apart(o.g.graph, 1e-12).back(), "Z[s] = EXP(-Z.1[s])");
  GraphBuilder g;
  const auto l = g.labels("ij", 4);
  const auto x = g.input("X", {4, 4});
  const std::vector<GraphBuilder::Read> reads{{x, {l[0], l[1]}}};
  g.vertex("Z", reads, {l[0]}, call(Tanh, {call(Divide, {op(0), number(-2)})}), Aggregate::Max);
  EXPECT_EQ(apart(g.graph), (Texts{"Z.1[i] = MIN(X[i,j])", "Z[i] = TANH(Z.1[i] / (-2))"}));
  g.vertex("Z", reads, {l[0]}, call(Log, {op(0)}), Aggregate::Min);
  EXPECT_EQ(apart(g.graph), (Texts{"Z.1[i] = MIN(X[i,j])", "Z[i] = LOG(Z.1[i])"}));
  // One negative number makes the logarithm's maximum NaN.
  g.vertex("Z", reads, {l[0]}, call(Log, {op(0)}), Aggregate::Max);
  EXPECT_EQ(apart(g.graph), (Texts{"Z[i] = MAX(LOG(X[i,j]))"}));
  for (const auto f : {Exp, Expm1, Tanh, Atan, Sinh, Erf, Sigmoid, Sqrt}) {
    g.vertex("Z", reads, {}, call(f, {call(Relu, {op(0)})}), Aggregate::Min);
    EXPECT_EQ(apart(g.graph).size(), 2U);
  }
}

TEST(SeparableExtreme, GreatestAndLeast) {
  for (const auto type : {DType::Float64, DType::Int64}) {
    Operands o(type);
    o.z({o.s}, call(Least, {op(0), op(1)}), Aggregate::Max);
    EXPECT_EQ(apart(o.g.graph),
              (Texts{"Z.1[s] = MAX(X[i,s])", "Z.2[s] = MAX(Y[j,s])", "Z[s] = LEAST(Z.1[s], Z.2[s])"}));
    o.z({}, call(Least, {op(0), op(1), number(2)}), Aggregate::Max);
    EXPECT_EQ(apart(o.g.graph).back(), "Z[] = MAX(LEAST(Z.1[s], Z.2[s], 2))");
    o.z({}, call(Greatest, {op(0), op(1)}), Aggregate::Max);
    EXPECT_EQ(apart(o.g.graph), (Texts{"Z.1[] = MAX(X[i,s])", "Z.2[] = MAX(Y[j,s])", "Z[] = GREATEST(Z.1, Z.2)"}));
    o.z({o.h}, call(Sign, {call(Greatest, {op(0), op(2), op(1)})}), Aggregate::Min);
    EXPECT_GT(apart(o.g.graph).size(), 2U);
  }
}

// INT64 sums wrap, and the extremes of products depend on signs.
TEST(SeparableExtreme, WhatIsNotMonotoneStays) {
  Operands o(DType::Int64);
  o.z({o.s}, call(Add, {op(0), op(1)}), Aggregate::Max);
  EXPECT_EQ(apart(o.g.graph).size(), 1U);
  o.z({o.s}, testing::product(2), Aggregate::Max);
  EXPECT_EQ(apart(o.g.graph).size(), 1U);
  Operands f;
  f.z({f.s}, testing::product(2), Aggregate::Max);
  EXPECT_EQ(apart(f.g.graph).size(), 1U);
}

TEST(SeparableTruth, CountsOfAndAndOr) {
  Operands o;
  const auto both = call(And, {op(0), call(Less, {op(1), number(1)})});
  o.z({o.s}, both, Aggregate::Sum);
  EXPECT_EQ(apart(o.g.graph),
            (Texts{"Z.1[s] = SUM(X[i,s] <> 0)", "Z.2[s] = SUM(Y[j,s] < 1)", "Z[s] = Z.1[s] * Z.2[s]"}));
  o.z({o.s}, call(NotEqual, {call(Or, {op(0), op(1)}), number(0)}), Aggregate::Sum);
  EXPECT_EQ(apart(o.g.graph), (Texts{"Z.1.1[s] = SUM(X[i,s] = 0)", "Z.1.2[s] = SUM(Y[j,s] = 0)",
                                     "Z.1[s] = Z.1.1[s] * Z.1.2[s]", "Z[s] = 1200 - Z.1[s]"}));
  o.z({o.s}, call(Equal, {both, number(0)}), Aggregate::Sum);
  EXPECT_EQ(apart(o.g.graph).back(), "Z[s] = 1200 - Z.1[s]");
}

}  // namespace
}  // namespace eindb
