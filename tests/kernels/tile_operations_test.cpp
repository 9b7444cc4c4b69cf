#include "executor/kernels/tile_operations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "executor/kernels/cache_sizes.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/strided_copy.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

using Index = std::vector<std::int64_t>;

std::int64_t offset_of(const Index& index, const Index& strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), std::int64_t{0});
}

// Strides of a block whose dimensions lie in a random order in memory, some with gaps behind them.
Index random_strides(Random& random, const Index& extents, std::int64_t& span) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  Index strides(extents.size());
  span = draw(random, 0, 5) == 0 ? 2 : 1;
  for (const auto d : order) {
    strides[d] = span;
    span *= extents[d] + (draw(random, 0, 3) == 0 ? 1 : 0);
  }
  span = std::max<std::int64_t>(span, 1);
  return strides;
}

// Blocks that the caches do not hold, contiguous along different dimensions: squares are streamed where rows of the
// target are aligned to vectors, and not elsewhere.
TEST(StridedCopy, StreamsTransposedBlocks) {
  Random random(2);
  const auto cache = static_cast<std::int64_t>(cache_sizes().second);
  for (const auto set : available_instruction_sets()) {
    for (const auto type : {DType::Float32, DType::Float64, DType::Complex128}) {
      for (const std::int64_t gap : {0, 5, 64}) {
        const auto size = static_cast<std::int64_t>(size_of(type));
        const std::int64_t columns = gap == 5 ? 77 : 80;  // 77: parts of squares are left
        const auto rows = cache / (size * columns) + 50;
        const auto source = random_tile(random, type, Shape({columns, rows}));
        auto target = Tile::zeros(type, Shape({rows, columns + gap}));
        const Index extents{rows, columns};
        copy_strided(level_table(set), {type, target.mutable_bytes().data(), Index{columns + gap, 1}},
                     {type, source.bytes().data(), Index{1, rows}}, extents);
        std::int64_t wrong = 0;
        for (std::int64_t r = 0; r < rows; ++r) {
          for (std::int64_t c = 0; c < columns + gap; ++c) {
            const auto* found = target.bytes().data() + (r * (columns + gap) + c) * size;
            const std::array<std::byte, 16> zero{};
            const auto* expected = c < columns ? source.bytes().data() + (c * rows + r) * size : zero.data();
            wrong += std::memcmp(found, expected, static_cast<std::size_t>(size)) == 0 ? 0 : 1;
          }
        }
        EXPECT_EQ(wrong, 0) << "gap " << gap << ", " << size << " bytes";
      }
    }
  }
}

// Element for element what a plain loop gives, for every order of dimensions, pair of types and level.
TEST(StridedCopy, CopiesAnyBlock) {
  Random random(1);
  constexpr std::array kTypes{DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64};
  for (const auto set : available_instruction_sets()) {
    for (int n = 0; n < 400; ++n) {
      Index extents(static_cast<std::size_t>(draw(random, 0, 4)));
      for (auto& extent : extents)
        extent = draw(random, 0, 30) == 0 ? 0 : draw(random, 1, extents.size() < 3 ? 90 : 20);
      std::int64_t target_span = 0;
      std::int64_t source_span = 0;
      const auto target_strides = random_strides(random, extents, target_span);
      auto source_strides = random_strides(random, extents, source_span);
      if (!extents.empty() && draw(random, 0, 3) == 0) source_strides.back() = 0;
      const auto from = kTypes[static_cast<std::size_t>(draw(random, 0, 4))];
      const auto to = draw(random, 0, 1) == 0 ? from : kTypes[static_cast<std::size_t>(draw(random, 0, 4))];
      const auto source = random_tile(random, from, Shape({source_span}));
      auto target = Tile::zeros(to, Shape({target_span}));
      auto expected = Tile::zeros(to, Shape({target_span}));
      const auto converted = convert(source, to);
      Index index(extents.size(), 0);
      const auto size = size_of(to);
      if (Shape(extents).element_count() > 0) {
        do {
          std::memcpy(
              expected.mutable_bytes().data() + static_cast<std::size_t>(offset_of(index, target_strides)) * size,
              converted.bytes().data() + static_cast<std::size_t>(offset_of(index, source_strides)) * size, size);
        } while (next_index(index, extents));
      }
      copy_strided(level_table(set), {to, target.mutable_bytes().data(), target_strides},
                   {from, source.bytes().data(), source_strides}, extents);
      ASSERT_EQ(std::memcmp(target.bytes().data(), expected.bytes().data(), target.byte_size()), 0)
          << bracketed(extents) << " from " << bracketed(source_strides) << " to " << bracketed(target_strides);
    }
  }
}

// Either side may be the one whose rows are contiguous.
TEST(Move, TransposesMatricesOfAllSizes) {
  Random random(2);
  for (const auto set : available_instruction_sets()) {
    for (const auto type : {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64}) {
      const auto size = size_of(type);
      for (int n = 0; n < 150; ++n) {
        const auto rows = draw(random, 1, 70);
        const auto columns = draw(random, 1, 40);
        const auto wide = columns + draw(random, 0, 3);
        const auto high = rows + draw(random, 0, 3);
        const auto source = random_tile(random, type, Shape({rows * wide + columns * high}), true);
        auto target = Tile::zeros(type, Shape({rows * wide + columns * high}));
        const Index by_rows{wide, 1};
        const Index by_columns{1, high};
        const auto& from = n % 2 == 0 ? by_rows : by_columns;
        const auto& to = n % 2 == 0 ? by_columns : by_rows;
        auto expected = Tile::zeros(type, target.shape());
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t c = 0; c < columns; ++c)
            std::memcpy(expected.mutable_bytes().data() + static_cast<std::size_t>(r * to[0] + c * to[1]) * size,
                        source.bytes().data() + static_cast<std::size_t>(r * from[0] + c * from[1]) * size, size);
        level_table(set).of(type).move[slot_of(type)]({target.mutable_bytes().data(), to[0], to[1]},
                                                      {source.bytes().data(), from[0], from[1]}, rows, columns);
        ASSERT_EQ(std::memcmp(target.bytes().data(), expected.bytes().data(), target.byte_size()), 0)
            << name_of(type) << " " << rows << " x " << columns;
      }
    }
  }
}

TEST(TileOperations, CombineAggregatesElementByElement) {
  auto into = Tile::zeros(DType::Float64, Shape({3}));
  auto from = Tile::zeros(DType::Float64, Shape({3}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::ranges::copy(std::array{1.0, nan, 3.0}, into.mutable_data<double>());
  std::ranges::copy(std::array{-2.0, 5.0, nan}, from.mutable_data<double>());
  auto minimum = convert(into, DType::Float64);
  combine(Aggregate::Min, minimum, from);
  EXPECT_EQ(minimum.data<double>()[0], -2);
  EXPECT_TRUE(std::isnan(minimum.data<double>()[1]));
  EXPECT_TRUE(std::isnan(minimum.data<double>()[2]));
  combine(Aggregate::Prod, into, from);
  EXPECT_EQ(into.data<double>()[0], -2);
}

TEST(TileOperations, CombineWrapsIntegers) {
  auto into = Tile::zeros(DType::Int64, Shape({1}));
  auto from = Tile::zeros(DType::Int64, Shape({1}));
  into.mutable_data<std::int64_t>()[0] = std::numeric_limits<std::int64_t>::max();
  from.mutable_data<std::int64_t>()[0] = 1;
  combine(Aggregate::Sum, into, from);
  EXPECT_EQ(into.data<std::int64_t>()[0], std::numeric_limits<std::int64_t>::min());
}

TEST(TileOperations, ConvertTakesRealPartsAndDropsFractions) {
  auto tile = Tile::zeros(DType::Complex128, Shape({3}));
  auto* values = tile.mutable_data<std::complex<double>>();
  values[0] = {2.75, 9};
  values[1] = {-2.75, 0};
  values[2] = {1e300, 0};
  const auto real = convert(tile, DType::Float32);
  EXPECT_EQ(real.data<float>()[0], 2.75F);
  const auto whole = convert(tile, DType::Int64);
  EXPECT_EQ(whole.data<std::int64_t>()[0], 2);
  EXPECT_EQ(whole.data<std::int64_t>()[1], -2);
  EXPECT_EQ(whole.data<std::int64_t>()[2], std::numeric_limits<std::int64_t>::min());
}

}  // namespace
}  // namespace eindb
