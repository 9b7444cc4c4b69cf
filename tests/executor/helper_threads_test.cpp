// Helper threads: each part of a call runs at most once, parts that have not begun are withdrawn, and callers do not
// wait for each other.
#include "executor/helper_threads.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

namespace eindb {
namespace {

TEST(HelperThreads, AllHelpWhereAllAreNeeded) {
  HelperThreads helpers;
  constexpr std::size_t kThreads = 4;
  std::latch all_are_here(kThreads);
  std::vector<std::atomic<int>> calls(kThreads);
  helpers.run(kThreads, [&](std::size_t n) {
    ++calls[n];
    all_are_here.arrive_and_wait();
  });
  for (const auto& number : calls) EXPECT_EQ(number, 1);
  EXPECT_EQ(helpers.size(), kThreads - 1);
}

TEST(HelperThreads, NoPartIsMadeTwice) {
  HelperThreads helpers;
  for (int round = 0; round < 500; ++round) {
    std::vector<std::atomic<int>> calls(5);
    helpers.run(calls.size(), [&](std::size_t n) { ++calls[n]; });
    EXPECT_EQ(calls[0], 1);
    for (const auto& number : calls) EXPECT_LE(number, 1);
  }
}

TEST(HelperThreads, ACallerDoesNotWaitForOthers) {
  HelperThreads helpers;
  std::latch both_are_busy(2);
  std::latch the_other_is_done(1);
  std::jthread other([&] {
    helpers.run(2, [&](std::size_t) {
      both_are_busy.arrive_and_wait();
      the_other_is_done.wait();
    });
  });
  both_are_busy.wait();
  int calls = 0;
  helpers.run(1, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 1);
  the_other_is_done.count_down();
}

TEST(HelperThreads, WhatTheCallerThrowsComesAfterTheOthersHaveEnded) {
  HelperThreads helpers;
  std::latch both_have_begun(2);
  std::atomic<bool> ended = false;
  const auto run = [&] {
    helpers.run(2, [&](std::size_t n) {
      both_have_begun.arrive_and_wait();
      if (n == 0) throw std::runtime_error("the caller's part");
      ended = true;
    });
  };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_TRUE(ended);
}

TEST(HelperThreads, AForkedProcessEndsWithoutThem) {
  HelperThreads helpers;
  std::latch both_are_here(2);
  helpers.run(2, [&](std::size_t) { both_are_here.arrive_and_wait(); });
  const auto child = ::fork();
  if (child == 0) {
    helpers.~HelperThreads();
    ::_exit(7);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(HelperThreads, HelpersAskForHelpThemselves) {
  HelperThreads helpers;
  std::atomic<int> calls = 0;
  helpers.run(3, [&](std::size_t) { helpers.run(3, [&](std::size_t) { ++calls; }); });
  EXPECT_GE(calls, 1);
}

}  // namespace
}  // namespace eindb
