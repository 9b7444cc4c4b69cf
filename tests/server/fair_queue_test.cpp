// The queue of heavy statements: their order, and that no memory is promised twice.

#include "server/sessions/fair_queue.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <thread>

#include "common/error.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr double kLong = 10;

class FairQueueTest : public ::testing::Test {
 protected:
  std::unique_ptr<Admission> admit(const std::string& user, Work work) {
    return queue.admit({.name = user, .role = UserRole::ReadWrite, .number = 1}, work, cancellation);
  }
  std::unique_ptr<Admission> heavy(const std::string& user, std::int64_t bytes = kMiB) {
    return admit(user, {.seconds = kLong, .bytes = bytes});
  }
  void wait_until_waiting(int count) const {
    while (queue.counts().waiting != count) std::this_thread::yield();
  }

  WorkerPool threads{2};
  std::shared_ptr<TileCachePool> caches = std::make_shared<TileCachePool>(16 * kMiB, 64 * kMiB);
  FairQueue queue{{.memory = 64 * kMiB,
                   .heavy = 1,
                   .light_seconds = 0.01,
                   .light_bytes = 2 * kMiB,
                   .patience = std::chrono::seconds(1)},
                  caches,
                  threads};
  Cancellation cancellation;
};

TEST_F(FairQueueTest, LightWorkBeginsBesideHeavyWork) {
  const auto running = heavy("ann");
  const auto light = admit("bob", {.seconds = 0.001, .bytes = kMiB});
  EXPECT_EQ(queue.counts().running, 1);
  EXPECT_EQ(queue.counts().light_bytes, kMiB);
  EXPECT_EQ(queue.counts().waiting, 0);
}

TEST_F(FairQueueTest, UsersTakeTurns) {
  auto running = heavy("ann");
  std::mutex mutex;
  std::vector<std::string> order;
  std::vector<std::jthread> clients;
  const auto join = [&](const std::string& user) {
    const int before = queue.counts().waiting;
    clients.emplace_back([&, user] {
      const auto admission = heavy(user);
      const std::lock_guard lock(mutex);
      order.push_back(user);
    });
    wait_until_waiting(before + 1);
  };
  for (int n = 0; n < 4; ++n) join("ann");
  join("bob");
  join("cat");
  join("bob");
  const auto waiting = queue.waiting();
  ASSERT_EQ(waiting.size(), 7U);
  EXPECT_EQ(waiting.front().user.name, "ann");
  running.reset();
  clients.clear();
  EXPECT_EQ(order, (std::vector<std::string>{"ann", "bob", "cat", "ann", "bob", "ann", "ann"}));
  EXPECT_EQ(queue.counts().heavy_bytes, 0);
  EXPECT_EQ(queue.counts().running, 0);
}

TEST_F(FairQueueTest, UrgentWorkWaitsForMemoryAlone) {
  const auto running = heavy("ann");
  const auto urgent = admit("bob", {.seconds = kLong, .bytes = kMiB, .urgent = true});
  EXPECT_EQ(queue.counts().running, 2);
}

TEST_F(FairQueueTest, WaitingEndsByCancellation) {
  const auto running = heavy("ann");
  cancellation.request();
  EXPECT_ERROR(heavy("bob"), ErrorKind::Cancelled, "");
  EXPECT_EQ(queue.counts().waiting, 0);
  cancellation.reset(std::chrono::milliseconds(30));
  EXPECT_ERROR(heavy("bob"), ErrorKind::Cancelled, "statement_timeout");
}

TEST_F(FairQueueTest, ResultsHoldMemoryButNoCores) {
  auto first = heavy("ann", 40 * kMiB);
  EXPECT_EQ(first->bytes(), 40 * kMiB);
  first->has_run(30 * kMiB);
  EXPECT_EQ(queue.counts().heavy_bytes, 30 * kMiB);
  EXPECT_EQ(queue.counts().running, 0);
  const auto second = heavy("bob", 20 * kMiB);
  EXPECT_EQ(queue.counts().heavy_bytes, 50 * kMiB);
}

TEST_F(FairQueueTest, WhatOnlyClientsCouldBringIsNotWaitedFor) {
  auto first = heavy("ann", 40 * kMiB);
  first->has_run(40 * kMiB);
  EXPECT_ERROR(heavy("bob", 20 * kMiB), ErrorKind::MemoryLimit, "not fetched");
  first.reset();
  EXPECT_EQ(heavy("bob", 20 * kMiB)->bytes(), 20 * kMiB);
}

TEST_F(FairQueueTest, NobodyHasMoreThanThereIs) {
  EXPECT_EQ(heavy("ann", std::numeric_limits<std::int64_t>::max())->bytes(), 56 * kMiB);
}

TEST_F(FairQueueTest, LightWorkBeyondItsShareIsHeavy) {
  std::vector<std::unique_ptr<Admission>> light;
  for (int n = 0; n < 5; ++n) light.push_back(admit("ann", {.seconds = 0, .bytes = 2 * kMiB}));
  EXPECT_EQ(queue.counts().light_bytes, 8 * kMiB);
  EXPECT_EQ(queue.counts().running, 1);
}

TEST_F(FairQueueTest, KeepsToItsMemoryWhateverComes) {
  std::atomic<bool> exceeded{false};
  std::atomic<int> done{0};
  {
    std::vector<std::jthread> clients;
    for (int c = 0; c < 6; ++c) {
      clients.emplace_back([&, c] {
        std::mt19937 random(static_cast<unsigned>(c));
        const Cancellation own;
        for (int n = 0; n < 200; ++n) {
          const Work work{.seconds = random() % 2 == 0 ? kLong : 0.0,
                          .bytes = static_cast<std::int64_t>(random() % (60 * kMiB))};
          const ClientUser user{.name = std::to_string(c % 3), .role = UserRole::ReadWrite, .number = c};
          const auto admission = queue.admit(user, work, own);
          const auto counts = queue.counts();
          if (counts.heavy_bytes + counts.light_bytes > 64 * kMiB || counts.running > 1) exceeded = true;
          if (random() % 2 == 0) admission->has_run(admission->bytes() / 100);
          ++done;
        }
      });
    }
  }
  EXPECT_FALSE(exceeded);
  EXPECT_EQ(done, 1200);
  const auto counts = queue.counts();
  EXPECT_EQ(counts.heavy_bytes + counts.light_bytes + counts.running + counts.waiting, 0);
}

}  // namespace
}  // namespace eindb
