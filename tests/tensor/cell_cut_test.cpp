#include "tensor/cell_cut.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "tensor/cell_gather.hpp"

namespace eindb {
namespace {

std::vector<double> values_of(const CellBlock& cells) {
  std::vector<double> values(static_cast<std::size_t>(cells.shape().element_count()));
  cells.expand(std::as_writable_bytes(std::span(values)));
  return values;
}

CellBlock scattered_cells(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()), 0);
  for (auto& value : values)
    if (random() % 5 == 0) value = static_cast<double>(random() % 100 + 1);
  return CellBlock::of_dense(DType::Float64, shape, std::as_bytes(std::span(values)));
}

// CellGather cuts anew in another way.
void expect_cut(const TileGrid& coarse, const TileGrid& fine, unsigned seed) {
  ASSERT_TRUE(nests_in(fine, coarse));
  std::map<std::int64_t, std::vector<double>> cut;
  std::map<std::int64_t, CellBlock> blocks;
  for (std::int64_t tile = 0; tile < coarse.tile_count(); ++tile) {
    blocks.emplace(tile, scattered_cells(coarse.tile_shape(coarse.key_of(tile)), seed++));
    std::int64_t last = -1;
    cut_cells(blocks.at(tile), coarse, tile, fine, [&](std::int64_t fine_tile, const CellBlock& cells) {
      EXPECT_GT(fine_tile, last);
      EXPECT_GT(cells.count(), 0);
      last = fine_tile;
      EXPECT_TRUE(cut.emplace(fine_tile, values_of(cells)).second) << "tile " << fine_tile << " comes twice";
    });
  }
  for (std::int64_t tile = 0; tile < fine.tile_count(); ++tile) {
    CellGather gather(DType::Float64, coarse, fine, tile);
    for (auto id = gather.next(0); id; id = gather.next(*id + 1)) gather.add(*id, blocks.at(*id));
    const auto gathered = gather.take();
    EXPECT_EQ(gathered.count() == 0, !cut.contains(tile)) << "tile " << tile;
    if (cut.contains(tile)) {
      EXPECT_EQ(cut[tile], values_of(gathered)) << "tile " << tile;
    }
  }
}

TEST(CellCut, GivesTheTilesOfAFinerGrid) {
  expect_cut({Shape({17}), {2}}, {Shape({17}), {6}}, 1);
  expect_cut({Shape({12, 9}), {3, 1}}, {Shape({12, 9}), {6, 4}}, 2);
  expect_cut({Shape({12, 9}), {1, 1}}, {Shape({12, 9}), {1, 1}}, 3);
  expect_cut({Shape({7, 5, 6}), {1, 5, 2}}, {Shape({7, 5, 6}), {7, 5, 6}}, 4);
  expect_cut({Shape({11, 8}), {1, 2}}, {Shape({11, 8}), {3, 4}, {4, 0}}, 5);
}

TEST(CellCut, KnowsWhichGridsNest) {
  const Shape shape({12, 10});
  EXPECT_TRUE(nests_in({shape, {4, 10}}, {shape, {2, 5}}));
  EXPECT_FALSE(nests_in({shape, {4, 10}}, {shape, {3, 5}}));
  EXPECT_FALSE(nests_in({shape, {2, 5}}, {shape, {4, 5}}));
  EXPECT_TRUE(nests_in({shape, {3, 5}, {5, 0}}, {shape, {1, 5}}));
  EXPECT_FALSE(nests_in({shape, {3, 5}, {5, 0}}, {shape, {3, 5}}));
}

TEST(CellCut, TakesTimeByCellsAlone) {
  const Shape shape({std::int64_t{1} << 30U, std::int64_t{1} << 30U});
  const TileGrid coarse(shape, {1, 1});
  const TileGrid fine(shape, {1 << 28U, 1 << 28U});
  const std::vector<double> values{1, 2};
  const auto bytes = std::as_bytes(std::span(values));
  const std::vector<std::int64_t> numbers{5, shape.element_count() - 1};
  const auto cells = CellBlock::of_numbers(DType::Float64, shape, numbers, {bytes.begin(), bytes.end()});
  std::vector<std::int64_t> tiles;
  cut_cells(cells, coarse, 0, fine, [&](std::int64_t tile, const CellBlock& cut) {
    tiles.push_back(tile);
    EXPECT_EQ(cut.numbers(), std::vector<std::int64_t>{tile == 1 ? 1 : 15});
  });
  EXPECT_EQ(tiles, (std::vector<std::int64_t>{1, fine.tile_count() - 1}));
}

}  // namespace
}  // namespace eindb
