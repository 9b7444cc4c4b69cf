#include "optimizer/partitions/kernel_work.hpp"

#include <gtest/gtest.h>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

class KernelWorkTest : public ::testing::Test {
 protected:
  KernelWork product_of(const Labels& x, const Labels& y, const Labels& output, const Labels& aggregated) const {
    EinSum e;
    e.inputs = {x, y};
    e.output = output;
    e.aggregated = aggregated;
    e.expression = testing::product(2);
    e.aggregate = Aggregate::Sum;
    return work_of(e, {DType::Float64, DType::Float64}, DType::Float64, DType::Float64);
  }

  LabelTable table_;
  Label b_ = table_.add("b", 8);
  Label i_ = table_.add("i", 8);
  Label j_ = table_.add("j", 8);
  Label k_ = table_.add("k", 8);
};

TEST_F(KernelWorkTest, RolesOfABatchedProduct) {
  const auto work = product_of({b_, i_, j_}, {b_, j_, k_}, {b_, i_, k_}, {j_});
  ASSERT_TRUE(work.matrix);
  using enum ContractionRole;
  EXPECT_EQ(work.matrix->roles, (std::vector<ContractionRole>{Batch, Left, Contracted, Right}));
  EXPECT_FALSE(work.matrix->packs_left || work.matrix->packs_right || work.matrix->packs_output);
}

TEST_F(KernelWorkTest, OperandsThatDoNotLieAsMatricesArePacked) {
  EXPECT_TRUE(product_of({i_, j_, b_}, {b_, j_, k_}, {b_, i_, k_}, {j_}).matrix->packs_left);
  EXPECT_TRUE(product_of({b_, i_, j_}, {b_, j_, k_}, {i_, k_, b_}, {j_}).matrix->packs_output);
  // Label j separates the rows i and k of the left operand.
  EXPECT_TRUE(product_of({i_, j_, k_}, {j_, b_}, {i_, k_, b_}, {j_}).matrix->packs_left);
  // Both operands contract j and k, but in different orders.
  EXPECT_TRUE(product_of({i_, j_, k_}, {k_, j_, b_}, {i_, b_}, {j_, k_}).matrix->packs_right);
}

TEST_F(KernelWorkTest, WhatIsNoMatrixProduct) {
  EinSum e;
  e.inputs = {{i_, j_}, {j_, k_}};
  e.output = {i_, k_};
  e.aggregated = {j_};
  e.expression = testing::product(2);
  e.aggregate = Aggregate::Max;
  const auto in_type = [&](DType type) { return work_of(e, {type, type}, type, type); };
  EXPECT_EQ(in_type(DType::Float64).kernel.best, KernelKind::Pairs);
  EXPECT_EQ(in_type(DType::Float64).pair_operations, 2);
  e.aggregate = Aggregate::Sum;
  EXPECT_EQ(in_type(DType::Int64).kernel.best, KernelKind::Pairs);
  e.expression = testing::call(ScalarOp::Subtract, {testing::op(0), testing::op(1)});
  EXPECT_EQ(in_type(DType::Float64).pair_operations, 2);
  EXPECT_TRUE(in_type(DType::Float64).folds && !in_type(DType::Float64).folds_product);
  e.expression = testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)});
  e.aggregate = Aggregate::LogSumExp;
  EXPECT_TRUE(in_type(DType::Float64).takes_exponentials);
  e.expression = testing::call(ScalarOp::Divide, {testing::op(0), testing::op(1)});
  EXPECT_FALSE(in_type(DType::Float64).matrix);
}

TEST_F(KernelWorkTest, ConversionsAreOperations) {
  EinSum e;
  e.inputs = {{i_}, {i_}};
  e.output = {i_};
  e.expression = testing::call(ScalarOp::Add, {testing::call(ScalarOp::ToFloat64, {testing::op(0)}), testing::op(1)});
  const auto work = work_of(e, {DType::Float32, DType::Float64}, DType::Float64, DType::Float64);
  EXPECT_EQ(work.operations, (std::vector<std::pair<Operation, double>>{{Operation::Simple, 2}}));
  EXPECT_EQ(work.input_bytes, (std::vector<std::size_t>{4, 8}));
}

}  // namespace
}  // namespace eindb
