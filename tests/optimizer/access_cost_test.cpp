// What models know of accesses and scans: the cells that calls visit, and the calls that reach nothing.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/partitions/density.hpp"

namespace eindb {
namespace {

using enum ScalarOp;

class AccessCost : public ::testing::Test {
 protected:
  static ScalarPtr function(ScalarOp op, std::vector<ScalarPtr> arguments) {
    return ScalarExpression::call(op, std::move(arguments));
  }
  static ScalarPtr index(Label label) { return ScalarExpression::label_index(label); }

  // SUM over a of the cells of X[a,j] for which the condition holds.
  VertexShape shape(const ScalarPtr& condition, std::vector<Labels> more = {}) const {
    EinSum einsum{.inputs = {{a_, j_}},
                  .output = {i_, j_},
                  .aggregated = {a_},
                  .expression = function(Case, {condition, ScalarExpression::operand(0), ScalarExpression::integer(0)}),
                  .aggregate = Aggregate::Sum};
    einsum.inputs.insert(einsum.inputs.end(), more.begin(), more.end());
    return shape_of(einsum, labels_);
  }

  LabelTable labels_;
  Label a_ = labels_.add("a", 1000);
  Label i_ = labels_.add("i", 1000);
  Label j_ = labels_.add("j", 8);
};

// Partition vectors are over a, j, i.
TEST_F(AccessCost, OfAShiftTwoPartsAreReached) {
  const auto shift = shape(function(Equal, {index(a_), function(Add, {index(i_), ScalarExpression::integer(1)})}));
  EXPECT_EQ(visited_cells(shift, {1, 1, 1}), 8000);
  EXPECT_EQ(visited_cells(shift, {10, 2, 10}), 400);
  EXPECT_EQ(reached_parts(shift, {1, 1, 10}), 1);
  EXPECT_EQ(reached_parts(shift, {10, 1, 10}), 2);
  EXPECT_EQ(share_of_calls(shift, {10, 1, 10}), 0.2);
  EXPECT_EQ(reached_parts(shift, {10, 1, 1}), 10) << "one part of i has all indices";
  EXPECT_LT(transfers_model().join(shift, {10, 1, 10}), transfers_model().join(shift, {10, 1, 100}));
}

TEST_F(AccessCost, AGatherMayReachAllParts) {
  const auto gather = shape(function(Equal, {index(a_), ScalarExpression::operand(1)}), {{i_}});
  EXPECT_EQ(visited_cells(gather, {4, 1, 4}), 2000);
  EXPECT_EQ(share_of_calls(gather, {4, 1, 4}), 1);
}

// Each row is copied once, whatever parts the source has, by the thread that makes the part of the result.
TEST_F(AccessCost, AGatherCopiesItsRowsOnce) {
  const auto gather = shape(function(Equal, {index(a_), ScalarExpression::operand(1)}), {{i_}});
  const auto scatter = shape(function(Equal, {index(i_), ScalarExpression::operand(1)}), {{a_}});
  ASSERT_TRUE(gather.rows.has_value());
  EXPECT_EQ(*gather.rows, 1U);
  EXPECT_FALSE(scatter.rows.has_value());
  const CalibratedModel one(built_in_figures(), 1);
  EXPECT_EQ(one.aggregation(gather, {100, 1, 1}), 0);
  EXPECT_GT(one.aggregation(scatter, {100, 1, 1}), 0);
  EXPECT_LT(one.join(gather, {1000, 1, 1}), 1.2e-3) << "calls cost a microsecond each, and no more";
  const CalibratedModel two(built_in_figures(), 2);
  EXPECT_GT(two.join(gather, {4, 1, 1}), 1.4 * two.join(gather, {4, 1, 2})) << "one thread makes a part";
  EXPECT_NEAR(share_with_rows(gather, {1000, 1, 1}), 0.632, 0.001) << "1 - 1/e";
  EXPECT_NEAR(share_with_rows(gather, {1000, 1, 1000}), 0.001, 1e-6);
  EXPECT_EQ(share_with_rows(gather, {1, 1, 1000}), 1);
}

TEST_F(AccessCost, SecondsGrowWithTheCellsThatAreReadAlone) {
  const CalibratedModel model(built_in_figures(), 1);
  const auto shift = shape(function(Equal, {index(a_), index(i_)}));
  const auto scan = shape(function(LessEqual, {index(a_), index(i_)}));
  const auto loops = shape(function(NotEqual, {index(a_), index(i_)}));
  EXPECT_LT(model.join(shift, {1, 1, 1}), model.join(loops, {1, 1, 1}) / 20);
  EXPECT_LT(model.join(scan, {1, 1, 1}), model.join(loops, {1, 1, 1}) / 20);
}

}  // namespace
}  // namespace eindb
