#include "optimizer/partitions/cost_model.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

// Z[i,k] = SUM(X[i,j] * Y[j,k]); d is over i, j, k.
VertexShape matrix_product(std::int64_t i, std::int64_t j, std::int64_t k) {
  return {{i, j, k}, {{0, 1}, {1, 2}}, {0, 2}, {1}};
}

// The figures of the paper's section 7.
TEST(CostModel, JoinOfTheMatrixProduct) {
  EXPECT_EQ(cost_join(matrix_product(8, 8, 8), {4, 1, 4}), 512);
  EXPECT_EQ(cost_agg(matrix_product(8, 8, 8), {4, 1, 4}), 0);
}

TEST(CostModel, AggregationOfTheMatrixProduct) { EXPECT_EQ(cost_agg(matrix_product(8, 8, 8), {2, 2, 4}), 64); }

TEST(CostModel, RepartitionAddsSendingAndAssembling) { EXPECT_EQ(cost_repart({2, 4}, {4, 1}, {8, 8}), 320); }

TEST(CostModel, RepartitionInParts) {
  // Splitting only: each producer's tile goes once to where its pieces are cut out; n_c = n_int.
  EXPECT_EQ(cost_repart({1}, {4}, {8}), 8 * 8 / 2);
  // Joining only: four pieces make one tile, three more moves of 8 + 2.
  EXPECT_EQ(cost_repart({4}, {1}, {8}), 30);
  EXPECT_EQ(cost_repart({2, 4}, {2, 4}, {8, 8}), 0);
  EXPECT_EQ(cost_repart({}, {}, {}), 0);
}

TEST(CostModel, UnevenPartsCountAsTheLargest) {
  EXPECT_EQ(cost_join(matrix_product(5, 3, 2), {2, 1, 1}), 2 * (3 * 3 + 3 * 2));
  EXPECT_EQ(cost_agg(matrix_product(5, 3, 2), {2, 2, 1}), 2 * (3 * 2));
  // 5 in 2 parts is 3, in 4 parts 2: n_int = 2.
  EXPECT_DOUBLE_EQ(cost_repart({2}, {4}, {5}), 3.0 * 5 / 2);
}

TEST(CostModel, EmptyTensorsCostNothingToMove) { EXPECT_EQ(cost_repart({1, 1}, {1, 2}, {0, 4}), 0); }

TEST(CostModel, UnaryAndBroadcastVertices) {
  // Z[i,k] = X[i]: the tile of X is sent to every call, and calls are counted over both labels.
  const VertexShape broadcast{{8, 4}, {{0}}, {0, 1}, {}};
  EXPECT_EQ(cost_join(broadcast, {2, 4}), 8 * 4);
  // Z[] = SUM(X[i,i]): a tile of the diagonal has both dimensions.
  const VertexShape trace{{8}, {{0, 0}}, {}, {0}};
  EXPECT_EQ(cost_join(trace, {4}), 4 * 4);
  EXPECT_EQ(cost_agg(trace, {4}), 3);
}

TEST(CostModel, ShapeOfAnEinSumNumbersItsLabels) {
  LabelTable table;
  const auto i = table.add("i", 2);
  const auto j = table.add("j", 3);
  const auto k = table.add("k", 5);
  EinSum e;
  e.inputs = {{j, i}, {j, j}};
  e.output = {i, k};
  e.aggregated = {j};
  const auto shape = shape_of(e, table);
  EXPECT_EQ(shape.extents, (std::vector<std::int64_t>{3, 2, 5}));
  EXPECT_EQ(shape.inputs, (std::vector<std::vector<std::size_t>>{{0, 1}, {0, 0}}));
  EXPECT_EQ(shape.output, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(shape.aggregated, (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace eindb
