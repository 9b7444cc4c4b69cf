// Threads for statements: as many as said, and more while some of them wait.

#include "server/worker_threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace eindb {
namespace {

TEST(WorkerThreads, RunsAllTasksOnAsManyThreadsAsItHas) {
  std::atomic<int> done{0};
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  WorkerThreads threads(3);
  for (int n = 0; n < 100; ++n) {
    threads.post([&] {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --running;
      ++done;
    });
  }
  threads.join();
  EXPECT_EQ(done, 100);
  EXPECT_LE(most, 3);
}

TEST(WorkerThreads, TasksThatWaitKeepNobodyAway) {
  std::promise<void> gate;
  const auto opened = gate.get_future().share();
  std::atomic<int> waited{0};
  std::promise<void> other;
  WorkerThreads threads(2);
  for (int n = 0; n < 20; ++n) {
    threads.post([&] {
      const WorkerThreads::Waiting waiting(threads);
      opened.wait();
      ++waited;
    });
  }
  threads.post([&] { other.set_value(); });
  EXPECT_EQ(other.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(waited, 0);
  gate.set_value();
  threads.join();
  EXPECT_EQ(waited, 20);
}

TEST(WorkerThreads, ThreadsThatWereStartedForThoseThatWaitEnd) {
  WorkerThreads threads(1);
  for (int round = 0; round < 200; ++round) {
    std::promise<void> gate;
    std::promise<void> done;
    threads.post([&] {
      const WorkerThreads::Waiting waiting(threads);
      gate.get_future().wait();
    });
    threads.post([&] {
      gate.set_value();
      done.set_value();
    });
    ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  }
  threads.join();
}

}  // namespace
}  // namespace eindb
