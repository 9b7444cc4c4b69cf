#include "optimizer/rewrites/plain_operands.hpp"

#include <gtest/gtest.h>

#include "optimizer/rewrites/log_sum_exp_parts.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/special_values.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::number;
using testing::op;
using testing::texts;
using enum ScalarOp;
using Texts = std::vector<std::string>;

// X[i,j] and Y[j,k].
struct Matrices : GraphBuilder {
  explicit Matrices(std::int64_t extent, DType type = DType::Float64)
      : i(label("i", extent)),
        j(label("j", extent)),
        k(label("k", extent)),
        x(input("X", {extent, extent}, {}, type)),
        y(input("Y", {extent, extent}, {}, type)) {}

  void z(const ScalarPtr& expression, Aggregate aggregate) {
    vertex("Z", {{x, {i, j}}, {y, {j, k}}}, {i, k}, expression, aggregate);
  }

  Label i, j, k;
  VertexId x, y;
};

// The rewritten graph has exactly the values of the given one.
Texts plain(const EinGraph& graph) {
  const auto out = make_operands_plain(graph);
  validate(out, 2);
  for (unsigned seed = 0; seed < 4; ++seed) {
    const auto values = [&](const Vertex& vertex) { return testing::special_value_of(vertex, seed, seed % 2 == 0); };
    EXPECT_TRUE(
        testing::same_values(testing::evaluate_graph(graph, values), testing::evaluate_graph(out, values), false));
  }
  return texts(out);
}

Texts plain(std::int64_t extent, const ScalarPtr& expression, Aggregate aggregate, DType type = DType::Float64) {
  Matrices g(extent, type);
  g.z(expression, aggregate);
  return plain(g.graph);
}

TEST(PlainOperands, FunctionsOfOneOperandComeFirst) {
  EXPECT_EQ(plain(16, call(Subtract, {call(Multiply, {number(2), op(0)}), op(1)}), Aggregate::Max),
            (Texts{"Z.1[i,j] = 2 * X[i,j]", "Z.2[j,k] = -Y[j,k]", "Z[i,k] = MAX(Z.1[i,j] + Z.2[j,k])"}));
  EXPECT_EQ(plain(16, call(Least, {call(Abs, {op(0)}), op(1), number(1)}), Aggregate::Max),
            (Texts{"Z.1[i,j] = LEAST(ABS(X[i,j]), 1)", "Z[i,k] = MAX(LEAST(Z.1[i,j], Y[j,k]))"}));
}

TEST(PlainOperands, NotWhereNothingIsGained) {
  EXPECT_EQ(plain(16, call(Add, {op(0), op(1)}), Aggregate::Max).size(), 1U);
  EXPECT_EQ(plain(3, call(Add, {call(Abs, {op(0)}), op(1)}), Aggregate::Max).size(), 1U);
  EXPECT_EQ(plain(16, call(Add, {call(Multiply, {op(0), op(1)}), op(1)}), Aggregate::Max).size(), 1U);
  // Products of values that may be negative.
  EXPECT_EQ(plain(16, call(Multiply, {call(Abs, {op(0)}), op(1), number(2)}), Aggregate::Max).size(), 1U);
}

TEST(PlainOperands, CountsInTheFastestExactType) {
  Matrices g(16, DType::Int64);
  g.z(call(And, {call(Greater, {op(0), number(0)}), op(1)}), Aggregate::Sum);
  EXPECT_EQ(plain(g.graph).back(), "Z[i,k] = SUM(CAST(Z.1[i,j] AND Y[j,k] AS FLOAT32))");
  const auto out = make_operands_plain(g.graph);
  EXPECT_EQ(out.vertices().back().compute_dtype, DType::Float32);
  EXPECT_EQ(out.vertices().back().dtype, g.graph.vertices().back().dtype);
}

TEST(LogSumExpParts, WhatNoKernelTakes) {
  Matrices sum(16);
  sum.z(call(Add, {op(0), op(1)}), Aggregate::LogSumExp);
  EXPECT_EQ(texts(expand_log_sum_exp(sum.graph)).size(), 1U);
  Matrices g(16);
  g.z(call(Multiply, {op(0), op(1)}), Aggregate::LogSumExp);
  const auto out = expand_log_sum_exp(g.graph);
  validate(out, 2);
  EXPECT_EQ(texts(out).size(), 4U);
  const auto values = [&](const Vertex& vertex) { return testing::special_value_of(vertex, 5, false); };
  const auto expected = testing::evaluate_graph(g.graph, values);
  const auto found = testing::evaluate_graph(out, values);
  for (std::int64_t n = 0; n < expected.shape().element_count(); ++n) {
    const double a = expected.data<double>()[n];
    const double b = found.data<double>()[n];
    EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) < 1e-12) << a << " " << b;
  }
}

}  // namespace
}  // namespace eindb
