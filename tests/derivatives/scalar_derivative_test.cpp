#include "derivatives/scalar_derivative.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::number;
using testing::op;
using testing::real;
using enum ScalarOp;

constexpr DType kReal[] = {DType::Float64, DType::Float64, DType::Float64, DType::Float64};
constexpr DType kComplex[] = {DType::Complex128, DType::Complex128, DType::Complex128, DType::Complex128};

// Operands are x, y, d (the incoming cotangent or tangent) and z (the value).
std::string text(const ScalarPtr& e) {
  if (e == nullptr) return "zero";
  return to_string(
      *e, [](std::size_t n) { return std::string(1, "xydz"[n]); }, LabelTable());
}
std::string pulled(const ScalarPtr& e, std::size_t operand = 0, std::span<const DType> types = kReal) {
  return text(pullback({e, operand, types}, op(2)));
}
std::string pulled_with_value(const ScalarPtr& e, std::size_t operand = 0) {
  return text(pullback({e, operand, kReal, op(3)}, op(2)));
}
std::string pushed(const ScalarPtr& e, std::size_t operand = 0, std::span<const DType> types = kReal) {
  return text(pushforward({e, operand, types}, op(2)));
}

TEST(ScalarDerivative, ProductsStayProducts) {
  EXPECT_EQ(pulled(call(Multiply, {op(0), op(1)})), "d * y");
  EXPECT_EQ(pulled(call(Multiply, {number(2), op(1), op(0)})), "2 * d * y");
  EXPECT_EQ(pulled(call(Negate, {call(Multiply, {op(0), op(1)})})), "-d * y");
  EXPECT_EQ(pulled(call(Divide, {op(0), op(1)})), "d / y");
  EXPECT_EQ(pulled(call(Divide, {op(0), op(1)}), 1), "-d * (x / y) / y");
  EXPECT_EQ(pulled(call(Multiply, {op(0), op(0)})), "2 * d * x");
}

TEST(ScalarDerivative, WhatIsNotThereIsNotWritten) {
  EXPECT_EQ(pulled(op(0)), "d");
  EXPECT_EQ(pulled(op(1)), "zero");
  EXPECT_EQ(pulled(call(Add, {op(0), call(Exp, {op(1)}), number(3)})), "d");
  EXPECT_EQ(pulled(call(Subtract, {op(1), op(0)})), "-d");
  EXPECT_EQ(pulled(call(Multiply, {number(0), op(0)})), "zero");
  EXPECT_EQ(pulled(call(Multiply, {number(3), call(Multiply, {number(2), op(0)})})), "6 * d");
  EXPECT_EQ(text(pullback({call(Power, {op(0), number(2)}), 0, kReal}, number(1))), "2 * x");
}

TEST(ScalarDerivative, Powers) {
  EXPECT_EQ(pulled(call(Power, {op(0), number(2)})), "2 * d * x");
  EXPECT_EQ(pulled(call(Power, {op(0), number(1)})), "d");
  EXPECT_EQ(pulled(call(Power, {op(0), number(0)})), "zero");
  EXPECT_EQ(pulled(call(Power, {op(0), real(2.5)})), "2.5 * d * x^1.5");
  EXPECT_EQ(pulled(call(Power, {op(0), op(1)})), "CASE WHEN y = 0 THEN 0 ELSE d * y * x^(y - 1) END");
  EXPECT_EQ(pulled(call(Power, {op(0), op(1)}), 1), "CASE WHEN x = 0 THEN 0 ELSE d * x^y * LOG(x) END");
  EXPECT_EQ(pulled_with_value(call(Power, {number(2), op(0)})), "d * z * LOG(2)");
}

TEST(ScalarDerivative, TheValueServesAgain) {
  EXPECT_EQ(pulled(call(Exp, {op(0)})), "d * EXP(x)");
  EXPECT_EQ(pulled_with_value(call(Exp, {op(0)})), "d * z");
  EXPECT_EQ(pulled_with_value(call(Tanh, {op(0)})), "d * (1 - z^2)");
  EXPECT_EQ(pulled_with_value(call(Sigmoid, {op(0)})), "d * z * (1 - z)");
  EXPECT_EQ(pulled_with_value(call(Sqrt, {op(0)})), "d / (2 * z)");
  EXPECT_EQ(pulled_with_value(call(Relu, {op(0)})), "CASE WHEN z > 0 THEN d ELSE 0 END");
  EXPECT_EQ(pulled_with_value(call(Divide, {op(0), op(1)}), 1), "-d * z / y");
  // Softmax: EXP(x) / y
  EXPECT_EQ(pulled_with_value(call(Divide, {call(Exp, {op(0)}), op(1)})), "d * z");
  // Inside another function the value of the whole is of no use.
  EXPECT_EQ(pulled_with_value(call(Add, {call(Exp, {op(0)}), op(1)})), "d * EXP(x)");
}

TEST(ScalarDerivative, BranchesThatAreNotTakenGiveZero) {
  const auto e = call(Case, {call(Less, {op(1), number(0)}), call(Log, {op(0)}), number(7)});
  EXPECT_EQ(pulled(e), "CASE WHEN y < 0 THEN d / x ELSE 0 END");
  EXPECT_EQ(pulled(call(Multiply, {e, op(1)})), "CASE WHEN y < 0 THEN d * y / x ELSE 0 END");
  EXPECT_EQ(pulled(e, 1), "zero");
  EXPECT_EQ(pushed(e), "CASE WHEN y < 0 THEN d / x ELSE 0 END");
}

TEST(ScalarDerivative, StepsAndExtremes) {
  for (const auto f : {Sign, Floor, Ceil, Round, Not}) EXPECT_EQ(pulled(call(f, {op(0)})), "zero");
  for (const auto f : {Equal, Less, And, Or}) EXPECT_EQ(pulled(call(f, {op(0), op(1)})), "zero");
  EXPECT_EQ(pulled(call(Abs, {op(0)})), "d * SIGN(x)");
  EXPECT_EQ(pulled(call(Greatest, {op(0), op(1)})), "CASE WHEN x >= y THEN d / (1 + (y = x)) ELSE 0 END");
  EXPECT_EQ(pulled(call(Least, {op(0), op(1), number(3)}), 1),
            "CASE WHEN y <= LEAST(x, 3) THEN d / (1 + (x = y) + (3 = y)) ELSE 0 END");
  EXPECT_EQ(pulled(call(Modulo, {op(0), op(1)})), "d");
  EXPECT_EQ(pulled(call(Modulo, {op(0), op(1)}), 1), "-d * FLOOR(x / y)");
}

TEST(ScalarDerivative, LongProductsOfOneOperandAreRefused) {
  const auto power = [](std::size_t n) { return call(Multiply, std::vector<ScalarPtr>(n, op(0))); };
  EXPECT_NO_THROW(pulled(power(100)));
  EXPECT_THROW(pulled(power(100000)), Error);
  EXPECT_THROW(pushed(power(100000)), Error);
}

// dL = Re(cotangent * dz), without conjugation, as in JAX.
TEST(ScalarDerivative, ComplexValues) {
  EXPECT_EQ(pulled(call(Multiply, {op(0), op(1)}), 0, kComplex), "d * y");
  const DType of_real[] = {DType::Complex128, DType::Complex128, DType::Float64};
  EXPECT_EQ(pulled(call(Real, {op(0)}), 0, of_real), "d");
  EXPECT_EQ(pulled(call(Imag, {op(0)}), 0, of_real), "COMPLEX(0, -d)");
  EXPECT_EQ(pulled(call(Conj, {op(0)}), 0, kComplex), "CONJ(d)");
  EXPECT_EQ(pulled(call(Abs, {op(0)}), 0, of_real), "d * CASE WHEN ABS(x) = 0 THEN 0 ELSE CONJ(x) / ABS(x) END");
  const DType of_parts[] = {DType::Float64, DType::Float64, DType::Complex128};
  EXPECT_EQ(pulled(call(MakeComplex, {op(0), op(1)}), 0, of_parts), "REAL(d)");
  EXPECT_EQ(pulled(call(MakeComplex, {op(0), op(1)}), 1, of_parts), "-IMAG(d)");
  EXPECT_EQ(pushed(call(Real, {op(0)}), 0, kComplex), "REAL(d)");
  EXPECT_EQ(pushed(call(MakeComplex, {op(0), op(1)}), 1), "COMPLEX(0, d)");
  // The argument is real, so its cotangent is real.
  EXPECT_EQ(pulled(call(Multiply, {call(Real, {op(0)}), op(1)}), 0, kComplex), "REAL(d * y)");
}

}  // namespace
}  // namespace eindb
