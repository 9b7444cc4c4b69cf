#include "tensor/page_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace eindb {
namespace {

constexpr std::size_t kPage = PageChunks::kPage;

bool is_zero(const std::byte* data, std::size_t bytes) {
  return std::all_of(data, data + bytes, [](std::byte b) { return b == std::byte{0}; });
}

// Blocks of ten pages each, side by side, with non-zero content.
std::array<std::byte*, 3> three_blocks(PageChunks& chunks) {
  std::array<std::byte*, 3> blocks{};
  for (auto*& block : blocks) {
    block = chunks.take(10 * kPage);
    std::memset(block, 1, 10 * kPage);
  }
  return blocks;
}

TEST(PageChunks, BlocksLieSideBySide) {
  PageChunks chunks;
  auto* first = chunks.take(300 * kPage);
  auto* second = chunks.take(300 * kPage);
  EXPECT_EQ(second, first + 300 * kPage);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % (2 << 20), 0U);
  EXPECT_TRUE(chunks.owns(first));
  EXPECT_TRUE(chunks.owns(second + 299 * kPage));
  std::byte other{};
  EXPECT_FALSE(chunks.owns(&other));
}

TEST(PageChunks, WhatCameBackIsZeroAndWholeAgain) {
  PageChunks chunks;
  const auto [a, b, c] = three_blocks(chunks);
  chunks.give_back(a, 10 * kPage);
  chunks.give_back(b, 10 * kPage);
  EXPECT_EQ(chunks.used_bytes(), 20 * kPage);
  chunks.refresh(20 * kPage);
  EXPECT_EQ(chunks.used_bytes(), 0U);
  auto* both = chunks.take(20 * kPage);
  EXPECT_EQ(both, a);
  EXPECT_TRUE(is_zero(both, 20 * kPage));
  EXPECT_EQ(c[0], std::byte{1});
}

TEST(PageChunks, OtherBlocksAreCutOutOfUsedOnes) {
  PageChunks chunks;
  const auto [a, b, c] = three_blocks(chunks);
  EXPECT_EQ(chunks.take_used(kPage), nullptr);
  chunks.give_back(a, 10 * kPage);
  EXPECT_EQ(chunks.take_used(11 * kPage), nullptr);
  chunks.give_back(b, 10 * kPage);
  EXPECT_EQ(chunks.take_used(15 * kPage), a);
  EXPECT_EQ(a[15 * kPage - 1], std::byte{1});
  EXPECT_EQ(chunks.used_bytes(), 5 * kPage);
  chunks.give_back(c, 10 * kPage);
  EXPECT_EQ(chunks.take_used(15 * kPage), a + 15 * kPage);
}

TEST(PageChunks, ABlockMayBeAChunk) {
  PageChunks chunks;
  auto* small = chunks.take(kPage);
  auto* whole = chunks.take(PageChunks::kChunk);
  EXPECT_NE(small, whole);
  chunks.give_back(whole, PageChunks::kChunk);
  EXPECT_EQ(chunks.take_used(PageChunks::kChunk), whole);
  chunks.give_back(whole, PageChunks::kChunk);
  chunks.refresh(PageChunks::kChunk);
  EXPECT_FALSE(chunks.owns(whole));
  EXPECT_TRUE(chunks.owns(small));
}

TEST(PageChunks, NoTwoBlocksOverlap) {
  struct Block {
    std::byte* data;
    std::size_t bytes;
    std::byte mark;
  };
  PageChunks chunks;
  std::minstd_rand random(1);
  std::vector<Block> blocks;
  for (int n = 0; n < 3000; ++n) {
    if (blocks.size() < 50 || (random() % 2 == 0 && blocks.size() < 200)) {
      Block block{nullptr, (1 + random() % 500) * kPage, std::byte(1 + n % 255)};
      block.data = chunks.take_used(block.bytes);
      if (block.data == nullptr) {
        block.data = chunks.take(block.bytes);
        ASSERT_NE(block.data, nullptr);
        EXPECT_TRUE(is_zero(block.data, 64) && is_zero(block.data + block.bytes - 64, 64));
      }
      block.data[0] = block.data[block.bytes - 1] = block.mark;
      blocks.push_back(block);
    } else {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      const auto block = blocks.back();
      EXPECT_TRUE(block.data[0] == block.mark && block.data[block.bytes - 1] == block.mark);
      chunks.give_back(block.data, block.bytes);
      blocks.pop_back();
      if (random() % 4 == 0) chunks.refresh((random() % 500) * kPage);
    }
  }
}

}  // namespace
}  // namespace eindb
