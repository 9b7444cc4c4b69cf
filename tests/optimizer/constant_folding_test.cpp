#include "optimizer/rewrites/constant_folding.hpp"

#include <gtest/gtest.h>

#include "plan/validator.hpp"
#include "tests/optimizer/special_values.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::number;
using testing::op;
using testing::real;
using enum ScalarOp;

// The folded expression over X[i], with X of `type`; checks that no value changes, NaN, infinities and -0 included.
std::string folded(const ScalarPtr& expression, DType type = DType::Float64) {
  GraphBuilder g;
  const auto i = g.label("i", 40);
  const auto x = g.input("X", {40}, {}, type);
  g.vertex("Z", {{x, {i}}}, {i}, expression);
  const auto out = fold_constants(g.graph);
  validate(out);
  const auto values = [](const Vertex& vertex) { return testing::special_value_of(vertex, 1); };
  EXPECT_TRUE(testing::same_values(testing::evaluate_graph(g.graph, values), testing::evaluate_graph(out, values)))
      << out.describe(out.output());
  const auto text = out.describe(out.output());
  return text.substr(text.find("= ") + 2);
}

TEST(ConstantFolding, ConstantsAreComputed) {
  EXPECT_EQ(folded(call(Multiply, {op(0), call(Power, {number(2), number(3)})})), "X[i] * 8");
  EXPECT_EQ(folded(call(Multiply, {op(0), call(Divide, {number(1), number(4)})})), "X[i] * 0.25");
  EXPECT_EQ(folded(call(Add, {op(0), call(Sqrt, {number(-1)})})), "X[i] + NAN");
  EXPECT_EQ(folded(call(Multiply, {number(2), number(3), op(0), number(4)})), "6 * X[i] * 4");
  EXPECT_EQ(folded(call(Greatest, {number(2), number(3), op(0)})), "GREATEST(3, X[i])");
  EXPECT_EQ(folded(call(Case, {call(Less, {op(0), call(Negate, {number(7)})}), op(0), number(1)})),
            "CASE WHEN X[i] < -7 THEN X[i] ELSE 1 END");
}

// Constants are folded in the type of their use: 1/3 in FLOAT32 differs from 1/3 in FLOAT64.
TEST(ConstantFolding, LiteralsSayExactlyWhatWasComputed) {
  EXPECT_EQ(folded(call(Divide, {op(0), call(Negate, {number(0)})})), "X[i] / -0");
  EXPECT_EQ(folded(call(Multiply, {op(0), call(Divide, {number(1), number(3)})}), DType::Float32),
            "X[i] * 0.3333333432674408");
  const auto large = call(Multiply, {number(std::int64_t{1} << 62U), number(4)});
  EXPECT_EQ(folded(call(Add, {op(0), large})), "X[i] + 18446744073709551616");
  EXPECT_EQ(folded(call(Add, {op(0), large}), DType::Int64), "X[i]");  // wraps to 0
}

TEST(ConstantFolding, TypesStay) {
  GraphBuilder g;
  const auto i = g.label("i", 3);
  const auto x = g.input("X", {3}, {}, DType::Int64);
  g.vertex("Z", {{x, {i}}}, {i}, call(Multiply, {op(0), real(1)}));
  const auto out = fold_constants(g.graph);
  EXPECT_EQ(out.describe(out.output()), "Z[i] = CAST(X[i] AS FLOAT64)");
  EXPECT_EQ(out.vertex(out.output()).dtype, DType::Float64);
  EXPECT_EQ(folded(call(Add, {op(0), call(Add, {number(1), number(2)})}), DType::Int64), "X[i] + 3");
}

TEST(ConstantFolding, WhatChangesNothing) {
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64}) {
    EXPECT_EQ(folded(call(Multiply, {op(0), number(1)}), type), "X[i]");
    EXPECT_EQ(folded(call(Multiply, {number(1), op(0), number(2)}), type), "X[i] * 2");
    EXPECT_EQ(folded(call(Power, {op(0), number(1)}), type), "X[i]");
    EXPECT_EQ(folded(call(Add, {op(0), call(Power, {op(0), number(0)})}), type), "X[i] + 1");
    EXPECT_EQ(folded(call(Subtract, {op(0), number(0)}), type), "X[i]");
    EXPECT_EQ(folded(call(Negate, {call(Negate, {op(0)})}), type), "X[i]");
    EXPECT_EQ(folded(call(Divide, {op(0), number(1)}), type), type == DType::Int64 ? "CAST(X[i] AS FLOAT64)" : "X[i]");
    EXPECT_EQ(folded(call(Conj, {op(0)}), type), "X[i]");
  }
  EXPECT_EQ(folded(call(Add, {op(0), real(-0.0)})), "X[i]");
  EXPECT_EQ(folded(call(Add, {op(0), number(0)}), DType::Int64), "X[i]");
  EXPECT_EQ(folded(call(Round, {op(0)}), DType::Int64), "X[i]");
}

// Each of these differs from the simpler expression for some value: -0, NaN or infinity.
TEST(ConstantFolding, WhatChangesSomeValueStays) {
  EXPECT_EQ(folded(call(Add, {op(0), number(0)})), "X[i] + 0");
  EXPECT_EQ(folded(call(Multiply, {op(0), number(0)})), "X[i] * 0");
  EXPECT_EQ(folded(call(Subtract, {op(0), op(0)})), "X[i] - X[i]");
  EXPECT_EQ(folded(call(Divide, {op(0), op(0)})), "X[i] / X[i]");
  EXPECT_EQ(folded(call(Subtract, {number(0), op(0)})), "0 - X[i]");
  EXPECT_EQ(folded(call(Equal, {op(0), op(0)})), "X[i] = X[i]");
  EXPECT_EQ(folded(call(Round, {op(0)})), "ROUND(X[i])");
  EXPECT_EQ(folded(call(Multiply, {op(0), number(1)}), DType::Complex128), "X[i] * 1");
}

TEST(ConstantFolding, Conditions) {
  const auto yes = call(Less, {number(1), number(2)});
  const auto no = call(Not, {yes});
  const auto unknown = call(Less, {op(0), number(1)});
  EXPECT_EQ(folded(call(Case, {yes, op(0), number(7)})), "X[i]");
  EXPECT_EQ(folded(call(Case, {no, op(0), number(7)})), "7");
  EXPECT_EQ(folded(call(Case, {unknown, number(1), yes, op(0), number(2), number(3), number(4)})),
            "CASE WHEN X[i] < 1 THEN 1 ELSE X[i] END");
  EXPECT_EQ(folded(call(Case, {unknown, op(0), op(0)})), "X[i]");
  EXPECT_EQ(folded(call(And, {unknown, yes})), "X[i] < 1");
  EXPECT_EQ(folded(call(And, {unknown, no})), "0");
  EXPECT_EQ(folded(call(Or, {real(NAN), unknown})), "1");
  EXPECT_EQ(folded(call(Or, {no, op(0)})), "0 OR X[i]");  // 1 or 0, not X
}

TEST(ConstantFolding, LabelsOfOneIndexAndRandomNumbers) {
  GraphBuilder g;
  const auto i = g.label("i", 1);
  const auto j = g.label("j", 2);
  const auto x = g.input("X", {1, 2});
  g.vertex("Z", {{x, {i, j}}}, {i, j}, call(Add, {op(0), testing::index(i), testing::index(j)}));
  EXPECT_EQ(testing::texts(fold_constants(g.graph)).back(), "Z[i,j] = X[i,j] + 0 + j");
  const auto random = ScalarExpression::random(ScalarExpression::Kind::Uniform, 3, {i});
  g.vertex("R", {}, {i}, call(Add, {random, number(1)}));
  EXPECT_EQ(testing::texts(fold_constants(g.graph)).back(), "R[i] = RANDOM(3) + 1");
}

// 7 keeps the type that X gave it.
TEST(ConstantFolding, NumbersKeepTheirTypeWithoutOperands) {
  const auto seven = call(Case, {number(0), op(0), number(7)});
  for (const auto type : {DType::Float32, DType::Float64, DType::Int64}) EXPECT_EQ(folded(seven, type), "7");
}

// Operands that are no longer read are dropped; SUM over their label still counts every index.
TEST(ConstantFolding, UnreadOperandsAreDropped) {
  GraphBuilder g;
  const auto l = g.labels("ij", 3);
  const auto x = g.input("X", {3});
  const auto y = g.input("Y", {3, 3});
  g.vertex("Z", {{y, {l[0], l[1]}}, {x, {l[0]}}}, {l[0]}, call(Case, {number(0), op(0), op(1)}));
  const auto out = fold_constants(g.graph);
  EXPECT_EQ(testing::texts(out).back(), "Z[i] = SUM[j](X[i])");
  EXPECT_EQ(out.vertex(out.output()).inputs.size(), 1U);
}

}  // namespace
}  // namespace eindb
