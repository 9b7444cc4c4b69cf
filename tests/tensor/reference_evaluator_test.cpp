#include "tensor/reference_evaluator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace eindb {
namespace {

using E = ScalarExpression;

DenseTensor tensor(std::vector<std::int64_t> extents, std::initializer_list<double> values) {
  auto t = Tile::zeros(DType::Float64, Shape(std::move(extents)));
  std::copy(values.begin(), values.end(), t.mutable_data<double>());
  return t;
}

std::vector<double> values(const DenseTensor& t) {
  return {t.data<double>(), t.data<double>() + t.shape().element_count()};
}

struct Labelled : ::testing::Test {
  LabelTable table;
  Label i = table.add("i", 2);
  Label j = table.add("j", 3);
  Label k = table.add("k", 2);
};
using ReferenceEvaluator = Labelled;

TEST_F(ReferenceEvaluator, MultipliesMatrices) {
  const auto x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto y = tensor({3, 2}, {1, 0, 0, 1, 1, 1});
  const EinSum product{.inputs = {{i, j}, {j, k}},
                       .output = {i, k},
                       .aggregated = {j},
                       .expression = E::call(ScalarOp::Multiply, {E::operand(0), E::operand(1)}),
                       .aggregate = Aggregate::Sum};
  EXPECT_EQ(values(evaluate_reference(product, table, {&x, &y}, DType::Float64, DType::Float64)),
            (std::vector<double>{4, 5, 10, 11}));
}

TEST_F(ReferenceEvaluator, ReadsDiagonalsAndLabelValues) {
  const auto x = tensor({2, 2}, {1, 2, 3, 4});
  const EinSum diagonal{.inputs = {{i, i}},
                        .output = {i},
                        .aggregated = {},
                        .expression = E::call(ScalarOp::Add, {E::operand(0), E::label_index(i)}),
                        .aggregate = Aggregate::None};
  EXPECT_EQ(values(evaluate_reference(diagonal, table, {&x}, DType::Float64, DType::Float64)),
            (std::vector<double>{1, 5}));
}

TEST_F(ReferenceEvaluator, MaximumKeepsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto x = tensor({2, 3}, {1, nan, 3, 4, 5, -INFINITY});
  const EinSum maximum{
      .inputs = {{i, j}}, .output = {i}, .aggregated = {j}, .expression = E::operand(0), .aggregate = Aggregate::Max};
  const auto result = evaluate_reference(maximum, table, {&x}, DType::Float64, DType::Float64);
  EXPECT_TRUE(std::isnan(result.data<double>()[0]));
  EXPECT_EQ(result.data<double>()[1], 5);
}

TEST_F(ReferenceEvaluator, EmptyGroupsGiveTheIdentity) {
  const auto none = table.add("n", 0);
  const auto x = tensor({2, 0}, {});
  EinSum e{.inputs = {{i, none}},
           .output = {i},
           .aggregated = {none},
           .expression = E::operand(0),
           .aggregate = Aggregate::Min};
  EXPECT_EQ(values(evaluate_reference(e, table, {&x}, DType::Float64, DType::Float64)),
            (std::vector<double>{INFINITY, INFINITY}));
  e.aggregate = Aggregate::Prod;
  EXPECT_EQ(values(evaluate_reference(e, table, {&x}, DType::Float64, DType::Float64)), (std::vector<double>{1, 1}));
}

// A generator without labels is constant, so an epilogue may contain one.
TEST_F(ReferenceEvaluator, EpiloguesKnowRandomNumbers) {
  const auto x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EinSum e{.inputs = {{i, j}},
           .output = {},
           .aggregated = {i, j},
           .expression = E::operand(0),
           .aggregate = Aggregate::Sum,
           .epilogue = E::call(ScalarOp::Multiply, {E::operand(0), E::random(E::Kind::Uniform, 7, {})})};
  const EinSum number{.inputs = {},
                      .output = {},
                      .aggregated = {},
                      .expression = E::random(E::Kind::Uniform, 7, {}),
                      .aggregate = Aggregate::None};
  const auto factor = values(evaluate_reference(number, table, {}, DType::Float64, DType::Float64)).front();
  EXPECT_EQ(values(evaluate_reference(e, table, {&x}, DType::Float64, DType::Float64)),
            (std::vector<double>{21 * factor}));
}

}  // namespace
}  // namespace eindb
