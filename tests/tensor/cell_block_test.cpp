#include "tensor/cell_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tensor/tile.hpp"

namespace eindb {
namespace {

std::vector<std::byte> bytes_of(const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(double));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<double> expanded_values(const CellBlock& block) {
  std::vector<double> values(static_cast<std::size_t>(block.shape().element_count()));
  block.expand(std::as_writable_bytes(std::span(values)));
  return values;
}

CellBlock random_block(const Shape& shape, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::set<std::int64_t> chosen;
  std::uniform_int_distribution<std::int64_t> place(0, shape.element_count() - 1);
  while (chosen.size() < count) chosen.insert(place(random));
  const std::vector<std::int64_t> numbers(chosen.begin(), chosen.end());
  std::vector<double> values;
  for (std::size_t n = 0; n < count; ++n) values.push_back(static_cast<double>(n + 1));
  return CellBlock::of_numbers(DType::Float64, shape, numbers, bytes_of(values));
}

TEST(CellBlock, HasATrieOfItsCells) {
  const auto block =
      CellBlock::of_numbers(DType::Float64, Shape({3, 10}), std::vector<std::int64_t>{3, 7, 23}, bytes_of({1, 2, 3}));
  EXPECT_EQ(block.trie().levels[0].coordinates, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(block.trie().levels[0].begins, (std::vector<std::int64_t>{0, 2, 3}));
  EXPECT_EQ(block.trie().levels[1].coordinates, (std::vector<std::uint32_t>{3, 7, 3}));
  EXPECT_EQ(block.count(), 3);
  EXPECT_EQ(block.numbers(), (std::vector<std::int64_t>{3, 7, 23}));
}

TEST(CellBlock, MayHaveNoCells) {
  const auto block = CellBlock::of_numbers(DType::Int64, Shape({4, 5, 6}), {}, {});
  EXPECT_EQ(block.count(), 0);
  EXPECT_TRUE(block.numbers().empty());
  EXPECT_EQ(block.in_order({2, 0, 1}).count(), 0);
  EXPECT_TRUE(Tile::of_cells(std::make_shared<const CellBlock>(block)).is_all_zero());
}

TEST(CellBlock, OfDenseValuesLeavesOutZerosAlone) {
  const std::vector<double> dense{0, 1, -0.0, 0, 0, 2};
  const auto block = CellBlock::of_dense(DType::Float64, Shape({2, 3}), std::as_bytes(std::span(dense)));
  EXPECT_EQ(block.numbers(), (std::vector<std::int64_t>{1, 2, 5}));
  EXPECT_EQ(expanded_values(block), dense);
  const auto tile = expanded(Tile::of_cells(std::make_shared<const CellBlock>(block)));
  EXPECT_EQ(std::memcmp(tile.bytes().data(), dense.data(), sizeof(double) * dense.size()), 0);
}

TEST(CellBlock, IsTransposed) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto block = random_block(Shape({40, 9}), 1 + 3 * seed, seed);
    auto trie = block.in_order({1, 0});
    EXPECT_EQ(trie.order, (std::vector<std::size_t>{1, 0}));
    EXPECT_EQ(trie.levels[0].begins.size(), trie.levels[0].coordinates.size() + 1);
    trie.order = {0, 1};
    const CellBlock transposed(DType::Float64, Shape({9, 40}), trie);
    const auto values = expanded_values(block);
    const auto others = expanded_values(transposed);
    for (std::size_t a = 0; a < 40; ++a)
      for (std::size_t c = 0; c < 9; ++c) EXPECT_EQ(values[a * 9 + c], others[c * 40 + a]);
    EXPECT_EQ(CellBlock::of_numbers(DType::Float64, Shape({9, 40}), transposed.numbers(),
                                    {trie.values.begin(), trie.values.end()})
                  .trie()
                  .levels[0]
                  .begins,
              trie.levels[0].begins);
  }
}

// The trie in every order is the one that the permuted numbers make.
TEST(CellBlock, IsInEveryOrder) {
  std::mt19937 random(7);
  for (const std::size_t rank : {1U, 2U, 3U, 4U}) {
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::vector<std::int64_t> extents;
      for (std::size_t d = 0; d < rank; ++d)
        extents.push_back(std::uniform_int_distribution<std::int64_t>(1, 12)(random));
      // Some dimensions have far more indices than there are cells.
      if (seed % 4 == 0) extents[seed / 4 % rank] = 100'000;
      const Shape shape(extents);
      const auto most = std::min<std::int64_t>(80, shape.element_count());
      const auto block = random_block(
          shape, std::uniform_int_distribution<std::size_t>(0, static_cast<std::size_t>(most))(random), seed);
      const auto numbers = block.numbers();
      std::vector<std::size_t> order(rank);
      std::iota(order.begin(), order.end(), std::size_t{0});
      do {
        std::vector<std::int64_t> permuted;
        for (const auto d : order) permuted.push_back(extents[d]);
        const Shape to(permuted);
        std::vector<std::pair<std::int64_t, double>> cells;
        for (std::size_t n = 0; n < numbers.size(); ++n) {
          std::vector<std::int64_t> at(rank);
          auto rest = numbers[n];
          for (auto d = rank; d-- > 0; rest /= extents[d]) at[d] = rest % extents[d];
          std::int64_t number = 0;
          for (const auto d : order) number = number * extents[d] + at[d];
          cells.emplace_back(number, block.trie().values_as<double>()[n]);
        }
        std::sort(cells.begin(), cells.end());
        std::vector<std::int64_t> sorted;
        std::vector<double> values;
        for (const auto& [number, value] : cells) {
          sorted.push_back(number);
          values.push_back(value);
        }
        const auto expected = CellBlock::of_numbers(DType::Float64, to, sorted, bytes_of(values));
        const auto trie = block.in_order(order);
        EXPECT_EQ(trie.order, order);
        EXPECT_EQ(trie.values, expected.trie().values);
        for (std::size_t level = 0; level < rank; ++level) {
          EXPECT_EQ(trie.levels[level].coordinates, expected.trie().levels[level].coordinates);
          EXPECT_EQ(trie.levels[level].begins, expected.trie().levels[level].begins);
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(CellBlock, InAnotherOrderHasTheSameCells) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const Shape shape({7, 1, 11, 5});
    const auto block = random_block(shape, 60, seed);
    const auto values = expanded_values(block);
    const auto trie = block.in_order({2, 0, 3, 1});
    EXPECT_EQ(trie.count(), 60);
    // Of the permuted shape, which is [11, 7, 5, 1].
    CellTrie natural = trie;
    natural.order = {0, 1, 2, 3};
    const CellBlock permuted(DType::Float64, Shape({11, 7, 5, 1}), natural);
    const auto others = expanded_values(permuted);
    for (std::size_t a = 0; a < 7; ++a)
      for (std::size_t c = 0; c < 11; ++c)
        for (std::size_t d = 0; d < 5; ++d) EXPECT_EQ(values[(a * 11 + c) * 5 + d], others[(c * 7 + a) * 5 + d]);
  }
}

TEST(CellBlock, MayHaveMoreCellsThanMemory) {
  const Shape shape({2'000'000'000, 2'000'000'000});
  ASSERT_TRUE(CellBlock::may_have(shape));
  const std::vector<std::int64_t> numbers{5, 2'000'000'001, 3'999'999'999'999'999'999};
  const auto block = CellBlock::of_numbers(DType::Float64, shape, numbers, bytes_of({1, 2, 3}));
  EXPECT_EQ(block.numbers(), numbers);
  EXPECT_EQ(block.in_order({1, 0}).levels[0].coordinates, (std::vector<std::uint32_t>{1, 5, 1'999'999'999}));
  EXPECT_FALSE(CellBlock::may_have(Shape({3'000'000'000})));
  EXPECT_FALSE(CellBlock::may_have(Shape()));
}

TEST(CellBlock, SortsCells) {
  std::vector<std::int64_t> numbers{1'000'000'000'000, 3, 5'000'000, 4};
  auto values = bytes_of({4, 1, 3, 2});
  sort_cells(numbers, values, sizeof(double));
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{3, 4, 5'000'000, 1'000'000'000'000}));
  EXPECT_EQ(values, bytes_of({1, 2, 3, 4}));
}

}  // namespace
}  // namespace eindb
