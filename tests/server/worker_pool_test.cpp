// Tests the server's threads: all posted tasks run, and long tasks do not delay short ones.
#include "server/sessions/worker_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace eindb {
namespace {

using namespace std::chrono_literals;

TEST(WorkerPool, RunsAllInTheOrderOfPosts) {
  std::vector<int> seen;
  {
    WorkerPool pool(1);
    for (int n = 0; n < 1000; ++n) pool.post([&seen, n] { seen.push_back(n); });
    pool.join();
  }
  ASSERT_EQ(seen.size(), 1000U);
  for (int n = 0; n < 1000; ++n) EXPECT_EQ(seen[static_cast<std::size_t>(n)], n);
}

TEST(WorkerPool, ManyPostersAndManyThreads) {
  std::atomic<int> count{0};
  WorkerPool pool(8);
  std::vector<std::thread> posters;
  for (int p = 0; p < 4; ++p) {
    posters.emplace_back([&] {
      for (int n = 0; n < 5000; ++n) pool.post([&] { ++count; });
    });
  }
  for (auto& poster : posters) poster.join();
  pool.join();
  EXPECT_EQ(count, 20000);
}

// Repeatedly, so many endless tasks that one thread is left: the short task between them runs.
TEST(WorkerPool, WhatRunsLongKeepsNothingWaiting) {
  constexpr std::size_t kThreads = 4;
  WorkerPool pool(kThreads);
  std::promise<void> end;
  const auto ended = end.get_future().share();
  for (std::size_t n = 0; n + 1 < kThreads; ++n) {
    std::promise<void> began;
    pool.post([&began, ended] {
      began.set_value();
      ended.wait();
    });
    ASSERT_EQ(began.get_future().wait_for(4min), std::future_status::ready);
    std::promise<void> ran;
    pool.post([&ran] { ran.set_value(); });
    ASSERT_EQ(ran.get_future().wait_for(4min), std::future_status::ready);
  }
  end.set_value();
  pool.join();
}

// Short tasks have made the pool assume that one thread suffices; then several long ones arrive at once.
TEST(WorkerPool, LongOnesAfterManyShortOnesRunSideBySide) {
  WorkerPool pool(4);
  std::atomic<int> short_ones{0};
  for (int n = 0; n < 2000; ++n) pool.post([&] { ++short_ones; });
  std::promise<void> end;
  const auto ended = end.get_future().share();
  std::atomic<int> running{0};
  std::promise<void> all;
  for (int n = 0; n < 4; ++n) {
    pool.post([&, ended] {
      if (++running == 4) all.set_value();
      ended.wait();
    });
  }
  EXPECT_EQ(all.get_future().wait_for(4min), std::future_status::ready);
  end.set_value();
  pool.join();
  EXPECT_EQ(short_ones, 2000);
}

TEST(WorkerPool, RunsAllTasksOnAsManyThreadsAsItHas) {
  std::atomic<int> done{0};
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  WorkerPool threads(3);
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

TEST(WorkerPool, TasksThatWaitKeepNobodyAway) {
  std::promise<void> gate;
  const auto opened = gate.get_future().share();
  std::atomic<int> waited{0};
  std::promise<void> other;
  WorkerPool threads(2);
  for (int n = 0; n < 20; ++n) {
    threads.post([&] {
      const WorkerPool::Waiting waiting(threads);
      opened.wait();
      ++waited;
    });
  }
  threads.post([&] { other.set_value(); });
  EXPECT_EQ(other.get_future().wait_for(4min), std::future_status::ready);
  EXPECT_EQ(waited, 0);
  gate.set_value();
  threads.join();
  EXPECT_EQ(waited, 20);
}

TEST(WorkerPool, ThreadsThatWereStartedForThoseThatWaitEnd) {
  WorkerPool threads(1);
  for (int round = 0; round < 200; ++round) {
    std::latch opened(1);
    std::latch done(2);
    threads.post([&] {
      const WorkerPool::Waiting waiting(threads);
      opened.wait();
      done.count_down();
    });
    threads.post([&] {
      opened.count_down();
      done.count_down();
    });
    done.wait();
  }
  threads.join();
}

// ---- Users ---------------------------------------------------------------------------------------------------------

// Tasks that run until the gate opens, with counts of those that have begun.
class Endless {
 public:
  ~Endless() { end(); }
  WorkerPool::Task task() {
    return [this, ended = ended_] {
      ++begun_;
      begun_.notify_all();
      ended.wait();
    };
  }
  void await(int count) {
    for (int seen = begun_; seen < count; seen = begun_) begun_.wait(seen);
  }
  int begun() const { return begun_; }
  void end() {
    if (!std::exchange(over_, true)) end_.set_value();
  }

 private:
  std::promise<void> end_;
  std::shared_future<void> ended_ = end_.get_future().share();
  std::atomic<int> begun_{0};
  bool over_ = false;
};

TEST(WorkerPool, WhatOneUserNeverEndsLocksNobodyOut) {
  WorkerPool pool(4);
  Endless eve;
  Endless bob;
  for (int n = 0; n < 50; ++n) pool.post(eve.task(), "eve");
  eve.await(4);
  for (int n = 0; n < 10; ++n) pool.post(bob.task(), "bob");
  bob.await(2);  // half of the threads are his share
  for (const char* user : {"ada", "", "ada", "ada"}) {
    std::promise<void> ran;
    pool.post([&ran] { ran.set_value(); }, user);
    ASSERT_EQ(ran.get_future().wait_for(4min), std::future_status::ready) << user;
  }
  EXPECT_EQ(eve.begun(), 4);
  EXPECT_EQ(bob.begun(), 2);
  eve.end();
  bob.end();
  pool.join();
  EXPECT_EQ(eve.begun(), 50);
  EXPECT_EQ(bob.begun(), 10);
}

TEST(WorkerPool, EveryUserHasAThreadHoweverManyThereAre) {
  WorkerPool pool(2);
  Endless all;
  for (int user = 0; user < 20; ++user)
    for (int n = 0; n < 3; ++n) pool.post(all.task(), "user" + std::to_string(user));
  all.await(20);
  all.end();
  pool.join();
  EXPECT_EQ(all.begun(), 60);
}

TEST(WorkerPool, UsersTakeTurns) {
  WorkerPool pool(1);
  std::promise<void> gate;
  std::vector<std::string> order;
  std::mutex mutex;
  const auto told = [&](const std::string& user) {
    return [&, user] {
      const std::lock_guard lock(mutex);
      order.push_back(user);
    };
  };
  pool.post([opened = gate.get_future().share()] { opened.wait(); }, "eve");
  for (int n = 0; n < 100; ++n) pool.post(told("eve"), "eve");
  for (const char* user : {"ada", "bob"}) pool.post(told(user), user);
  gate.set_value();
  pool.join();
  ASSERT_EQ(order.size(), 102U);
  EXPECT_LT(std::find(order.begin(), order.end(), "ada") - order.begin(), 3);
  EXPECT_LT(std::find(order.begin(), order.end(), "bob") - order.begin(), 4);
}

// Waiting tasks do not count in any user's share.
TEST(WorkerPool, WaitingTasksAreNoneOfAUsersShare) {
  WorkerPool pool(2);
  Endless waiting;
  for (int n = 0; n < 10; ++n) {
    pool.post(
        [&pool, task = waiting.task()] {
          const WorkerPool::Waiting scope(pool);
          task();
        },
        "eve");
  }
  waiting.await(10);
  std::promise<void> ran;
  pool.post([&ran] { ran.set_value(); }, "eve");
  EXPECT_EQ(ran.get_future().wait_for(4min), std::future_status::ready);
  waiting.end();
  pool.join();
}

}  // namespace
}  // namespace eindb
