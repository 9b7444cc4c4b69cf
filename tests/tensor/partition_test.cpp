#include "tensor/partition.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

TEST(Partition, PartsCoverTheExtentInOrderAndAreNearlyEqual) {
  for (std::int64_t extent = 0; extent < 40; ++extent) {
    for (std::int64_t parts = 1; parts <= std::max<std::int64_t>(1, extent); ++parts) {
      std::int64_t end = 0;
      for (std::int64_t q = 0; q < parts; ++q) {
        const auto range = part_range(extent, parts, q);
        EXPECT_EQ(range.begin, end);
        EXPECT_GE(range.size, extent / parts);
        EXPECT_LE(range.size, largest_part(extent, parts));
        for (auto i = range.begin; i < range.end(); ++i) EXPECT_EQ(part_of(extent, parts, i), q);
        end = range.end();
      }
      EXPECT_EQ(end, extent);
    }
  }
}

TEST(Partition, MultiplesNestExactly) {
  for (std::int64_t q = 0; q < 5; ++q)
    EXPECT_EQ(part_range(103, 5, q).begin, part_range(103, 15, 3 * q).begin) << "a cut of d is a cut of 3 d";
}

TEST(Partition, HugeExtentsDoNotOverflow) {
  const std::int64_t extent = INT64_MAX / 2;
  EXPECT_EQ(part_range(extent, extent, extent - 1).end(), extent);
  EXPECT_EQ(part_of(extent, 1 << 20, extent - 1), (1 << 20) - 1);
}

TEST(TileGrid, NumbersTilesRowMajor) {
  const TileGrid grid(Shape({5, 7, 2}), {2, 3, 1});
  EXPECT_EQ(grid.tile_count(), 6);
  for (std::int64_t id = 0; id < grid.tile_count(); ++id) EXPECT_EQ(grid.id_of(grid.key_of(id)), id);
  EXPECT_EQ(grid.key_of(4), (TileKey{1, 1, 0}));
  EXPECT_EQ(grid.tile_begin({1, 2, 0}), (std::vector<std::int64_t>{2, 4, 0}));
  EXPECT_EQ(grid.tile_shape({1, 2, 0}), Shape({3, 3, 2}));
}

TEST(TileGrid, CopiesStayAsTheyAreWhereOthersChange) {
  Shape shape({6, 4});
  const Shape shape_before = shape;
  const auto taken = std::move(shape);
  shape = Shape({2});
  EXPECT_EQ(taken, shape_before);
  EXPECT_EQ(taken, Shape({6, 4})) << "whether extents are shared or not";
  EXPECT_NE(taken, shape);
  TileGrid grid(taken, {3, 1});
  const TileGrid before = grid;
  EXPECT_EQ(&before.partition(), &grid.partition()) << "copies share what they are made of";
  grid = TileGrid(taken, {1, 2});
  EXPECT_EQ(before, TileGrid(Shape({6, 4}), {3, 1}));
  EXPECT_NE(before, grid);
  EXPECT_EQ(before.even(), before);
  const TileGrid with_edge(Shape({6, 4}), {2, 1}, {4, 0});
  EXPECT_EQ(with_edge.even(), TileGrid(Shape({6, 4}), {2, 1}));
  EXPECT_NE(with_edge, with_edge.even());
}

TEST(TileGrid, OfOneTileHasItsWholeShape) {
  EXPECT_EQ(TileGrid().tile_shape(TileKey{}), Shape());
  EXPECT_EQ(TileGrid().tile_count(), 1);
  const TileGrid grid(Shape({6, 4}), {1, 1});
  EXPECT_EQ(grid.tile_shape({0, 0}), Shape({6, 4}));
  EXPECT_EQ(grid.range(0, 0).size, 6);
}

TEST(TileGrid, RefusesPartitionsThatDoNotFit) {
  EXPECT_THROW(TileGrid(Shape({4}), {5}), Error);
  EXPECT_THROW(TileGrid(Shape({4}), {0}), Error);
  EXPECT_THROW(TileGrid(Shape({4}), {1, 1}), Error);
  EXPECT_NO_THROW(TileGrid(Shape(std::vector<std::int64_t>{0}), {1}));
  EXPECT_EQ(TileGrid(Shape(), {}).tile_count(), 1) << "a scalar is one tile";
}

TEST(TileGrid, DimensionsWithAnEdgeKeepTheirCutsWhereTheyGrow) {
  for (std::int64_t extent = 0; extent < 30; ++extent) {
    const auto parts = std::max<std::int64_t>(1, (extent + 6) / 7);
    const TileGrid grid(Shape({extent, 3}), {parts, 2}, {7, 0});
    std::int64_t end = 0;
    for (std::int64_t q = 0; q < parts; ++q) {
      const auto range = grid.range(0, q);
      EXPECT_EQ(range.begin, end);
      for (auto i = range.begin; i < range.end(); ++i) EXPECT_EQ(grid.part_at(0, i), q);
      EXPECT_LE(range.size, grid.largest(0));
      end = range.end();
      EXPECT_EQ(grid.room_shape({q, 1}), Shape({7, 2}));
    }
    EXPECT_EQ(end, extent);
    EXPECT_EQ(grid.has_edges(), extent == 0 || extent % 7 != 0) << "edges that fit are even cuts";
    EXPECT_EQ(grid.cuts_evenly(), extent <= 7 || extent % 7 == 0);
    EXPECT_EQ(grid.even(), TileGrid(Shape({extent, 3}), {parts, 2}));
  }
  EXPECT_THROW(TileGrid(Shape({15}), {2}, {7}), Error);
  EXPECT_THROW(TileGrid(Shape({14}), {3}, {7}), Error);
  EXPECT_THROW(TileGrid(Shape({14}), {2}, {-7}), Error);
}

TEST(TileGrid, DefaultPartitionCutsTheLargestDimension) {
  EXPECT_EQ(default_partition(Shape({4096, 4096}), DType::Float32, 1 << 20), (Partition{8, 8}));
  EXPECT_EQ(default_partition(Shape({3, 1000000}), DType::Float64, 1 << 20), (Partition{1, 32}));
  EXPECT_EQ(default_partition(Shape({5, 3}), DType::Float64, 1), (Partition{4, 2}));
  EXPECT_EQ(default_partition(Shape(), DType::Float64, 1), Partition{});
  // For workers, whose odd factors cut first.
  EXPECT_EQ(default_partition(Shape({4096, 4096}), DType::Float32, 1 << 20, 8), (Partition{8, 8}));
  EXPECT_EQ(default_partition(Shape({4096, 4096}), DType::Float32, 1 << 20, 3), (Partition{12, 8}));
  EXPECT_EQ(default_partition(Shape({4096, 4096}), DType::Float32, 1 << 20, 15), (Partition{10, 12}));
  EXPECT_EQ(default_partition(Shape({3, 1000000}), DType::Float64, 1 << 20, 7), (Partition{1, 28}));
  EXPECT_EQ(default_partition(Shape({512, 256}), DType::Float64, 1 << 20, 7), (Partition{1, 1})) << "one tile";
  EXPECT_EQ(default_partition(Shape({2, 2}), DType::Float64, 1, 7), (Partition{2, 2}));
  EXPECT_EQ(default_partition(Shape({0, 10}), DType::Float64, 1), (Partition{1, 1}));
}

TEST(TileGrid, DefaultPartitionCountsWhatIsStored) {
  const Shape square({8192, 8192});
  const auto cut = [&](Encoding encoding) { return default_partition(square, with_encoding(encoding), 1 << 20); };
  EXPECT_EQ(cut(Encoding::BFloat16), (Partition{16, 8}));
  EXPECT_EQ(cut(Encoding::Q80), (Partition{16, 8})) << "34 bytes of 32 cells";
  EXPECT_EQ(cut(Encoding::Int8), (Partition{16, 8})) << "a quarter of what the values take as INT64";
  EXPECT_EQ(cut(Encoding::Bool), cut(Encoding::Int8));
  EXPECT_EQ(cut(Encoding::Int32), (Partition{16, 16}));
}

TEST(Shape, RefusesWhatOverflows) {
  EXPECT_THROW(Shape({INT64_MAX, 2}), Error);
  EXPECT_THROW(Shape({-1}), Error);
  EXPECT_EQ(Shape({INT64_MAX, 0, 2}).element_count(), 0) << "an empty shape has no elements to count";
}

TEST(DenseTensor, SplitAndAssembleAreInverse) {
  auto tensor = Tile::zeros(DType::Int64, Shape({5, 1, 7}));
  for (std::int64_t n = 0; n < 35; ++n) tensor.mutable_data<std::int64_t>()[n] = n;
  const TileGrid grid(tensor.shape(), {3, 1, 2});
  const auto tiles = split(tensor, grid);
  EXPECT_EQ(tiles[5]->data<std::int64_t>()[0], 3 * 7 + 3);
  const auto back = assemble(tiles, grid, DType::Int64);
  for (std::int64_t n = 0; n < 35; ++n) EXPECT_EQ(back.data<std::int64_t>()[n], n);
}

// By the definition: of a part that has i, those l with step * i + least <= divisor * l <= step * i + most.
TEST(Reach, HasTheIndicesThatPartsNeed) {
  int found = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    std::mt19937 random(round);
    const auto any = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    Reach reach{.extent = any(2, 30), .step = any(-4, 4), .least = any(-8, 20), .most = 0, .divisor = any(1, 4)};
    reach.most = reach.least + any(0, 6);
    const auto indices = any(1, 30);
    const auto parts = any(2, 6);
    if (!reach.is_of_parts(indices, parts)) {
      const std::vector<std::optional<Reach>> reaches{reach};
      EXPECT_THROW(TileGrid::overlapping(Shape({indices}), {parts}, reaches), Error);
      continue;
    }
    ++found;
    const auto grid = TileGrid::overlapping(Shape({indices}), {parts}, {reach});
    for (std::int64_t q = 0; q < parts; ++q) {
      const auto range = grid.range(0, q);
      EXPECT_GE(range.begin, 0);
      EXPECT_LE(range.end(), indices);
      EXPECT_GT(range.size, 0);
      EXPECT_LE(range.size, grid.largest(0));
      const auto part = part_range(reach.extent, parts, q);
      for (std::int64_t l = 0; l < indices; ++l)
        for (auto i = part.begin; i < part.end(); ++i)
          if (reach.step * i + reach.least <= reach.divisor * l && reach.divisor * l <= reach.step * i + reach.most) {
            EXPECT_LE(range.begin, l);
            EXPECT_LT(l, range.end());
          }
    }
    const auto begin = any(0, indices - 1);
    const PartRange wanted{begin, any(1, indices - begin)};
    const auto over = grid.parts_over(0, wanted);
    for (std::int64_t q = 0; q < parts; ++q) {
      const auto range = grid.range(0, q);
      const bool overlaps = range.begin < wanted.end() && wanted.begin < range.end();
      EXPECT_EQ(overlaps, q >= over.begin && q < over.end()) << "part " << q << " in round " << round;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(found, 500);
}

TEST(Reach, LeavesNumbersThatCannotBeComputedWith) {
  constexpr auto kGreatest = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE((Reach{.extent = 8, .step = kGreatest}.is_of_parts(8, 2)));
  EXPECT_FALSE((Reach{.extent = 8, .least = -kGreatest, .most = kGreatest}.is_of_parts(8, 2)));
  EXPECT_FALSE((Reach{.extent = kGreatest, .step = 2}.is_of_parts(8, 2)));
  EXPECT_FALSE((Reach{.extent = 8, .divisor = 0}.is_of_parts(8, 2)));
  EXPECT_FALSE((Reach{.extent = 8}.is_of_parts(8, 1))) << "one part is the whole";
  EXPECT_FALSE((Reach{.extent = 8}.is_of_parts(8, 9))) << "there are more parts than indices";
  EXPECT_TRUE((Reach{.extent = 8}.is_of_parts(8, 8)));
}

}  // namespace
}  // namespace eindb
