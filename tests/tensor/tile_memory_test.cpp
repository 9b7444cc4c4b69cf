#include "tensor/tile_memory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "common/sanitizers.hpp"
#include "tensor/tile.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;

// With sanitizers, blocks come from malloc and none is kept.
bool keeps_blocks() {
  auto& memory = TileMemory::instance();
  const auto block = memory.take(kMiB);
  memory.give_back(block.data, block.mapped);
  return block.mapped > 0;
}

class TileMemoryTest : public testing::Test {
 protected:
  void SetUp() override { memory_.trim(0); }
  TileMemory& memory_ = TileMemory::instance();
};

TEST_F(TileMemoryTest, BlocksOfAllSizesAreAlignedAndTheirOwn) {
  std::vector<std::pair<TileMemory::Block, std::size_t>> blocks;
  for (const std::size_t bytes : {0UL, 1UL, 63UL, 256UL, 4096UL, 100000UL, 131071UL, 131072UL, kMiB, 3 * kMiB + 5}) {
    const auto block = memory_.take(bytes);
    ASSERT_NE(block.data, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % 64, 0U) << bytes;
    if (block.mapped >= 2 * kMiB) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % (2 * kMiB), 0U) << bytes;
    }
    std::memset(block.data, static_cast<int>(blocks.size()), bytes + 64);
    blocks.emplace_back(block, bytes + 64);
  }
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const auto& [block, bytes] = blocks[n];
    EXPECT_TRUE(std::all_of(block.data, block.data + bytes, [&](std::byte b) { return b == std::byte(n); }));
    memory_.give_back(block.data, block.mapped);
  }
}

TEST_F(TileMemoryTest, AFreedLargeBlockIsTheNextOfItsSize) {
  if (!keeps_blocks()) GTEST_SKIP();
  const auto first = memory_.take(3 * kMiB);
  EXPECT_TRUE(first.zero);
  memory_.give_back(first.data, first.mapped);
  const auto again = memory_.take(3 * kMiB - 5000);
  EXPECT_EQ(again.data, first.data);
  EXPECT_FALSE(again.zero);
  const auto much_smaller = memory_.take(kMiB);
  memory_.give_back(again.data, again.mapped);
  EXPECT_NE(memory_.take(kMiB).data, first.data) << "a third of the block would be held for nothing";
  memory_.give_back(much_smaller.data, much_smaller.mapped);
}

TEST_F(TileMemoryTest, WhatIsKeptStaysWithinTheLimitsOfStatements) {
  if (!keeps_blocks()) GTEST_SKIP();
  const auto used_before = memory_.used_bytes();
  const TileMemory::Limit limit(used_before + static_cast<std::int64_t>(8 * kMiB));
  std::vector<TileMemory::Block> blocks;
  for (int n = 0; n < 12; ++n) blocks.push_back(memory_.take(kMiB));
  for (const auto& block : blocks) memory_.give_back(block.data, block.mapped);
  EXPECT_LE(memory_.kept_bytes(), static_cast<std::int64_t>(8 * kMiB));
  EXPECT_GE(memory_.kept_bytes(), static_cast<std::int64_t>(7 * kMiB));
  // Blocks of another size displace the kept ones.
  const auto large = memory_.take(6 * kMiB);
  EXPECT_LE(memory_.kept_bytes() + memory_.used_bytes(), used_before + static_cast<std::int64_t>(8 * kMiB));
  memory_.give_back(large.data, large.mapped);
}

TEST_F(TileMemoryTest, WhatWasUsedLastIsKept) {
  if (!keeps_blocks()) GTEST_SKIP();
  memory_.trim(0);
  const TileMemory::Limit limit(memory_.used_bytes() + static_cast<std::int64_t>(8 * kMiB));
  std::vector<TileMemory::Block> old;
  for (int n = 0; n < 7; ++n) old.push_back(memory_.take(kMiB));
  for (const auto& block : old) memory_.give_back(block.data, block.mapped);
  // A different statement, run twice.
  const auto first = memory_.take(4 * kMiB);
  memory_.give_back(first.data, first.mapped);
  const auto second = memory_.take(3 * kMiB);
  memory_.give_back(second.data, second.mapped);
  const auto again = memory_.take(4 * kMiB);
  EXPECT_EQ(again.data, first.data);
  EXPECT_FALSE(again.zero);
  memory_.give_back(again.data, again.mapped);
}

// Fresh memory is expensive: a statement that fills its limit reuses memory for tiles of several sizes.
TEST_F(TileMemoryTest, WhereThereIsNoRoomBlocksAreCutOutOfKeptOnesOfOtherSizes) {
  if (!keeps_blocks()) GTEST_SKIP();
  memory_.trim(0);
  const auto used_before = memory_.used_bytes();
  const auto bytes = static_cast<std::int64_t>(200 * kMiB);
  const TileMemory::Limit limit(used_before + bytes);
  std::vector<TileMemory::Block> blocks;
  while (memory_.used_bytes() < used_before + bytes - static_cast<std::int64_t>(4 * kMiB))
    blocks.push_back(memory_.take(700 << 10U));
  for (const auto& block : blocks) memory_.give_back(block.data, block.mapped);
  blocks.clear();
  int fresh = 0;
  for (int n = 0; n < 100; ++n) {
    blocks.push_back(memory_.take(kMiB));
    if (blocks.back().zero) ++fresh;
  }
  EXPECT_LT(fresh, 10);
  EXPECT_LE(memory_.kept_bytes() + memory_.used_bytes(), used_before + bytes);
  for (const auto& block : blocks) memory_.give_back(block.data, block.mapped);
}

TEST_F(TileMemoryTest, ZerosAreZeroInUsedMemory) {
  for (int n = 0; n < 3; ++n) {
    auto tile = Tile::zeros(DType::Int64, Shape({100, 1000}));
    EXPECT_TRUE(tile.is_all_zero());
    std::memset(tile.mutable_bytes().data(), 255, tile.byte_size());
  }
}

TEST_F(TileMemoryTest, ManyThreads) {
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed) {
    threads.emplace_back([seed] {
      auto& memory = TileMemory::instance();
      std::minstd_rand random(seed);
      std::vector<TileMemory::Block> held;
      for (int n = 0; n < 2000; ++n) {
        if (held.size() < 4 || random() % 2 == 0) {
          held.push_back(memory.take(random() % (4 * TileMemory::kLargeBytes) + sizeof seed));
          std::memcpy(held.back().data, &seed, sizeof seed);
        } else {
          std::swap(held[random() % held.size()], held.back());
          EXPECT_EQ(std::memcmp(held.back().data, &seed, sizeof seed), 0);
          memory.give_back(held.back().data, held.back().mapped);
          held.pop_back();
        }
      }
      for (const auto& block : held) memory.give_back(block.data, block.mapped);
    });
  }
  for (auto& thread : threads) thread.join();
}

// A child that waits for a lock of a thread that it does not have is ended by its alarm.
TEST_F(TileMemoryTest, AForkedChildTakesBlocksWhileThreadsOfItsParentDo) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int n = 0; n < 2; ++n) {
    threads.emplace_back([this, &stop] {
      while (!stop) {
        const auto block = memory_.take(TileMemory::kLargeBytes);
        memory_.give_back(block.data, block.mapped);
      }
    });
  }
  int failed = 0;
  for (int n = 0; n < 200 && !kSanitized; ++n) {
    const auto child = ::fork();
    if (child == 0) {
      ::alarm(20);
      const auto block = memory_.take(TileMemory::kLargeBytes);
      ::_exit(block.data == nullptr ? 1 : 0);
    }
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    failed += status != 0 ? 1 : 0;
    if (failed > 0) break;
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace eindb
