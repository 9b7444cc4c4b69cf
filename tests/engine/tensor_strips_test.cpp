// Tensors are read in row-major order, however they are cut.

#include "engine/results/tensor_strips.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "common/error.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

// 0, 1, 2, ... in row-major order.
std::shared_ptr<const TensorRelation> counted(const Shape& shape, const Partition& partition) {
  auto dense = Tile::uninitialized(DType::Int64, shape);
  for (std::int64_t n = 0; n < shape.element_count(); ++n) dense.mutable_data<std::int64_t>()[n] = n;
  const TileGrid grid(shape, partition);
  const auto tiles = split(dense, grid);
  auto buffered =
      std::make_shared<BufferedTiles>(MemoryBudget::create(std::int64_t{1} << 30U), grid.tile_count(),
                                      [tiles](std::int64_t id) { return tiles[static_cast<std::size_t>(id)]; });
  return std::make_shared<const TensorRelation>(
      TensorRelation{"X", {}, DType::Int64, grid, std::make_shared<ResultTiles>(std::move(buffered), grid)});
}

void expect_in_order(const Shape& shape, const Partition& partition) {
  TensorStrips strips(counted(shape, partition));
  for (int pass = 0; pass < 2; ++pass, strips.rewind()) {
    std::int64_t next = 0;
    while (const auto strip = strips.next())
      for (std::int64_t n = 0; n < strip->shape().element_count(); ++n)
        ASSERT_EQ(strip->data<std::int64_t>()[n], next++) << shape.to_string() << bracketed(partition);
    ASSERT_EQ(next, shape.element_count()) << shape.to_string() << bracketed(partition);
  }
}

TEST(TensorStrips, ElementsComeInOrder) {
  expect_in_order(Shape(), {});
  expect_in_order(Shape({5}), {3});
  expect_in_order(Shape({0, 4}), {1, 2});
  expect_in_order(Shape({4, 4}), {2, 2});
  expect_in_order(Shape({4, 4}), {4, 2});
  expect_in_order(Shape({3, 5, 7}), {2, 1, 3});
  // Lines longer and shorter than a strip.
  expect_in_order(Shape({3, 300000}), {1, 7});
  expect_in_order(Shape({3000, 100}), {5, 4});
  expect_in_order(Shape({2, 3, 200000}), {2, 1, 1});
}

TEST(TensorStrips, RandomCuts) {
  std::mt19937 random(1);
  for (int n = 0; n < 60; ++n) {
    std::vector<std::int64_t> extents(1 + random() % 4);
    Partition partition;
    for (auto& extent : extents) {
      extent = 1 + static_cast<std::int64_t>(random() % 40);
      partition.push_back(1 + static_cast<std::int64_t>(random()) % extent);
    }
    expect_in_order(Shape(extents), partition);
  }
}

TEST(TensorStrips, TilesInOrderAreNotCopied) {
  const auto tensor = counted(Shape({4, 6}), {4, 2});
  TensorStrips strips(tensor);
  for (std::int64_t id = 0; id < 8; ++id) EXPECT_EQ(strips.next(), tensor->tile(id));
  EXPECT_EQ(strips.next(), nullptr);
}

TEST(TensorStrips, AbsentTilesAreZeros) {
  auto tensor = *counted(Shape({4, 6}), {2, 2});
  tensor.tiles =
      std::make_shared<ResultTiles>(std::make_shared<BufferedTiles>(MemoryBudget::create(1 << 20), 4), tensor.grid);
  TensorStrips strips(std::make_shared<const TensorRelation>(tensor));
  const auto strip = strips.next();
  EXPECT_EQ(strip->shape().element_count(), 24);
  EXPECT_TRUE(strip->is_all_zero());
}

TEST(TensorStrips, StopWhenTheStatementIsToStop) {
  Cancellation cancellation;
  TensorStrips strips(counted(Shape({4}), {4}), &cancellation);
  EXPECT_NE(strips.next(), nullptr);
  cancellation.request();
  EXPECT_THROW(strips.next(), Error);
}

}  // namespace
}  // namespace eindb
