#include "tensor/scalar_expression.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "tensor/scalar_types.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

using E = ScalarExpression;

std::string text(const ScalarPtr& e) {
  return to_string(
      *e, [](std::size_t n) { return n == 0 ? "x" : "y"; }, LabelTable{});
}

TEST(ScalarExpression, PrintsAsTheLanguageReadsIt) {
  EXPECT_EQ(text(E::call(ScalarOp::Power, {E::call(ScalarOp::Subtract, {x(), y()}), E::integer(2)})), "(x - y)^2");
  EXPECT_EQ(text(E::call(ScalarOp::Subtract, {x(), E::call(ScalarOp::Subtract, {x(), y()})})), "x - (x - y)");
  EXPECT_EQ(text(E::call(ScalarOp::Subtract, {E::call(ScalarOp::Subtract, {x(), y()}), x()})), "x - y - x");
  EXPECT_EQ(text(E::call(ScalarOp::Power, {E::call(ScalarOp::Power, {x(), y()}), x()})), "(x^y)^x");
  EXPECT_EQ(text(E::call(ScalarOp::Negate, {E::call(ScalarOp::Power, {x(), E::integer(2)})})), "-x^2");
  EXPECT_EQ(text(E::call(ScalarOp::Divide, {x(), E::call(ScalarOp::Multiply, {x(), y()})})), "x / (x * y)");
  EXPECT_EQ(text(E::call(ScalarOp::Case, {E::call(ScalarOp::Less, {x(), y()}), E::real(0.5), E::integer(-1)})),
            "CASE WHEN x < y THEN 0.5 ELSE -1 END");
  EXPECT_EQ(text(E::call(ScalarOp::Exp, {x()})), "EXP(x)");
}

TEST(ScalarExpression, FlattensSumsAndProducts) {
  const auto product = E::call(ScalarOp::Multiply, {E::call(ScalarOp::Multiply, {x(), y()}), x()});
  EXPECT_EQ(product->arguments().size(), 3U);
}

DType result(const ScalarPtr& e, DType a, DType b) {
  const DType types[] = {a, b};
  return type_of(*e, types).dtype;
}

TEST(ScalarExpression, PromotesAsNumPy) {
  const auto sum = E::call(ScalarOp::Add, {x(), y()});
  EXPECT_EQ(result(sum, DType::Int64, DType::Int64), DType::Int64);
  EXPECT_EQ(result(sum, DType::Int64, DType::Float32), DType::Float64);
  EXPECT_EQ(result(sum, DType::Float32, DType::Complex64), DType::Complex64);
  EXPECT_EQ(result(sum, DType::Float64, DType::Complex64), DType::Complex128);
  const auto quotient = E::call(ScalarOp::Divide, {x(), y()});
  EXPECT_EQ(result(quotient, DType::Int64, DType::Int64), DType::Float64);
  EXPECT_EQ(result(quotient, DType::Float32, DType::Float32), DType::Float32);
}

TEST(ScalarExpression, ConstantsAdaptToWhatTheyMeet) {
  const auto half = E::call(ScalarOp::Multiply, {x(), E::real(0.5)});
  EXPECT_EQ(result(half, DType::Float32, DType::Float32), DType::Float32);
  EXPECT_EQ(result(half, DType::Int64, DType::Int64), DType::Float64);
  const auto twice = E::call(ScalarOp::Multiply, {x(), E::integer(2)});
  EXPECT_EQ(result(twice, DType::Int64, DType::Int64), DType::Int64);
  EXPECT_EQ(result(E::integer(1), DType::Float32, DType::Float32), DType::Float64) << "numbers alone are FLOAT64";
}

TEST(ScalarExpression, ComplexNumbersHaveNoOrder) {
  const auto less = E::call(ScalarOp::Less, {x(), E::integer(1)});
  EXPECT_THROW(result(less, DType::Complex64, DType::Float32), Error);
  const auto magnitude = E::call(ScalarOp::Less, {E::call(ScalarOp::Abs, {x()}), E::integer(1)});
  EXPECT_NO_THROW(result(magnitude, DType::Complex64, DType::Float32));
}

}  // namespace
}  // namespace eindb
