#include "tensor/cell_gather.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

#include "tensor/tile.hpp"

namespace eindb {
namespace {

// The value of each cell of the whole tensor; most are zero.
std::vector<double> scattered(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<std::size_t>(count), 0);
  for (auto& value : values)
    if (random() % 4 == 0) value = static_cast<double>(random() % 100 + 1);
  return values;
}

double at(const std::vector<double>& values, const Shape& shape, const std::vector<std::int64_t>& index) {
  const auto strides = shape.row_major_strides();
  return values[static_cast<std::size_t>(
      std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0}))];
}

std::vector<double> tile_values(const std::vector<double>& values, const TileGrid& grid, std::int64_t tile) {
  const auto key = grid.key_of(tile);
  const auto begin = grid.tile_begin(key);
  const auto shape = grid.tile_shape(key);
  std::vector<double> out;
  std::vector<std::int64_t> index(shape.rank(), 0);
  if (shape.element_count() == 0) return out;
  do {
    auto whole = index;
    for (std::size_t d = 0; d < whole.size(); ++d) whole[d] += begin[d];
    out.push_back(at(values, grid.shape(), whole));
  } while (next_index(index, shape.extents()));
  return out;
}

void expect_gathered(const Shape& shape, const TileGrid& source, const TileGrid& target, unsigned seed) {
  const auto values = scattered(shape.element_count(), seed);
  for (std::int64_t tile = 0; tile < target.tile_count(); ++tile) {
    CellGather gather(DType::Float64, source, target, tile);
    for (auto id = gather.next(0); id; id = gather.next(*id + 1)) {
      const auto cells = tile_values(values, source, *id);
      gather.add(*id, CellBlock::of_dense(DType::Float64, source.tile_shape(source.key_of(*id)),
                                          std::as_bytes(std::span(cells))));
    }
    const auto gathered = gather.take();
    std::vector<double> expanded(static_cast<std::size_t>(gathered.shape().element_count()));
    gathered.expand(std::as_writable_bytes(std::span(expanded)));
    EXPECT_EQ(expanded, tile_values(values, target, tile)) << "tile " << tile;
  }
}

TEST(CellGather, GivesTheCellsOfAnyCut) {
  const Shape shape({13, 7, 10});
  const std::vector<Partition> cuts{{1, 1, 1}, {4, 2, 1}, {2, 7, 3}, {13, 1, 5}, {1, 3, 10}, {8, 4, 8}};
  unsigned seed = 0;
  for (const auto& from : cuts)
    for (const auto& to : cuts) expect_gathered(shape, {shape, from}, {shape, to}, seed++);
}

TEST(CellGather, ReadsTilesOfTensorsThatHaveGrown) {
  const Shape shape({11, 6});
  expect_gathered(shape, {shape, {3, 2}, {4, 0}}, {shape, {2, 1}}, 1);
  expect_gathered(shape, {shape, {3, 2}, {4, 0}}, {shape, {5, 3}}, 2);
}

TEST(CellGather, FindsTheTilesThatOverlap) {
  const Shape shape({8, 8});
  const TileGrid source(shape, {4, 4});
  const TileGrid target(shape, {2, 2});
  const CellGather gather(DType::Float64, source, target, 3);  // rows and columns 4 to 7
  std::vector<std::int64_t> found;
  for (auto id = gather.next(0); id; id = gather.next(*id + 1)) found.push_back(*id);
  EXPECT_EQ(found, (std::vector<std::int64_t>{10, 11, 14, 15}));
  EXPECT_EQ(gather.next(12), 14);
  EXPECT_EQ(gather.next(16), std::nullopt);
}

TEST(CellGather, OfAnEmptyTensorIsEmpty) {
  const Shape shape({0, 5});
  CellGather gather(DType::Float32, {shape, {1, 1}}, {shape, {1, 5}}, 2);
  EXPECT_EQ(gather.next(0), std::nullopt);
  EXPECT_EQ(gather.take().count(), 0);
}

}  // namespace
}  // namespace eindb
