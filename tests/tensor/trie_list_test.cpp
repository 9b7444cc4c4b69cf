#include "tensor/trie_list.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tensor/cell_block.hpp"
#include "tensor/tile.hpp"

namespace eindb {
namespace {

TEST(TrieList, KeepsAVectorsMemoryAndSharesIt) {
  std::vector<int> made{1, 2, 3};
  const auto* address = made.data();
  auto list = TrieList<int>(std::move(made));
  const auto copy = list;
  list = {};
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(copy.data(), address);
  EXPECT_FALSE(copy.is_borrowed());
  EXPECT_EQ(copy.kept().data(), address);
  EXPECT_EQ(copy, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(copy.back(), 3);
}

TEST(TrieList, ViewsAProgramsMemoryUntilItIsKept) {
  std::vector<int> numbers{4, 5};
  const auto view = TrieList<int>::of_program(numbers);
  const auto kept = view.kept();
  EXPECT_TRUE(view.is_borrowed());
  EXPECT_FALSE(kept.is_borrowed());
  numbers[1] = 6;
  EXPECT_EQ(view.data(), numbers.data());
  EXPECT_EQ(view, (std::vector<int>{4, 6}));
  EXPECT_EQ(kept, (std::vector<int>{4, 5}));
}

TEST(TrieList, ABlockIsBorrowedAsLongAsOneOfItsListsIs) {
  const std::vector<std::uint32_t> columns{1, 2, 0};
  const std::vector<double> values{7, 8, 9};
  const auto bytes = std::as_bytes(std::span(values));
  CellTrie trie{{0, 1}, {}, TrieList<std::byte>::of_program(bytes)};
  trie.levels = {{std::vector<std::uint32_t>{0, 3}, std::vector<std::int64_t>{0, 2, 3}},
                 {TrieList<std::uint32_t>::of_program(columns)}};
  const CellBlock block(DType::Float64, Shape({4, 3}), trie);
  EXPECT_TRUE(block.is_borrowed());
  EXPECT_TRUE(Tile::of_cells(std::make_shared<const CellBlock>(block)).is_borrowed());
  EXPECT_EQ(block.numbers(), (std::vector<std::int64_t>{1, 2, 9}));
  EXPECT_FALSE(CellBlock(DType::Float64, Shape({4, 3}), trie.kept()).is_borrowed());
  EXPECT_TRUE(block.in_order({0, 1}).is_borrowed());
  EXPECT_FALSE(block.in_order({1, 0}).is_borrowed());
}

}  // namespace
}  // namespace eindb
