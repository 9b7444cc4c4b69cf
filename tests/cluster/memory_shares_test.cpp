// Sharing of a worker's memory among concurrent statements.

#include "cluster/memory_shares.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eindb {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20U;

TEST(MemoryShares, EachTakesHalfOfWhatIsLeft) {
  MemoryShares memory(64 * kMiB);
  const auto first = memory.take(0);
  auto second = memory.take(0);
  EXPECT_EQ(first->bytes(), 32 * kMiB);
  EXPECT_EQ(second->bytes(), 16 * kMiB);
  second.reset();
  EXPECT_EQ(memory.take(0)->bytes(), 16 * kMiB);
  EXPECT_EQ(memory.take(kMiB * 8)->bytes(), 8 * kMiB);
}

// Plans are made for the share that a statement will get.
TEST(MemoryShares, OneAloneGetsWhatPlansExpect) {
  for (const auto limit : {1 * kMiB, 5 * kMiB, 64 * kMiB})
    EXPECT_EQ(MemoryShares(limit).take(0)->bytes(), MemoryShares::share_of_one(limit));
}

TEST(MemoryShares, NobodyIsRefusedForWhatOthersHave) {
  MemoryShares memory(64 * kMiB);
  std::vector<std::shared_ptr<MemoryShares::Share>> shares;
  for (int n = 0; n < 20; ++n) shares.push_back(memory.take(0));
  for (const auto& share : shares) EXPECT_GE(share->bytes(), MemoryShares::kLeast);
  shares.clear();
  EXPECT_EQ(memory.take(0)->bytes(), 32 * kMiB);
}

TEST(MemoryShares, ProcessesHaveEqualParts) {
  MemoryShares memory(64 * kMiB);
  const auto before = memory.take(0);
  memory.share_among(4);
  EXPECT_EQ(memory.limit(), 16 * kMiB);
  EXPECT_EQ(memory.take(0)->bytes(), MemoryShares::kLeast) << "more than its part is taken";
  memory.share_among(100);
  EXPECT_EQ(memory.limit(), MemoryShares::kLeast);
  memory.share_among(1);
  EXPECT_EQ(memory.limit(), 64 * kMiB);
}

}  // namespace
}  // namespace eindb
