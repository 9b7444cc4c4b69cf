#include "executor/thread_home.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace eindb {
namespace {

std::vector<int> allowed() {
  cpu_set_t set;
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<int> processors;
  for (int n = 0; n < CPU_SETSIZE; ++n)
    if (CPU_ISSET(n, &set)) processors.push_back(n);
  return processors;
}

std::vector<int> without(std::vector<int> processors, int one) {
  std::erase(processors, one);
  return processors;
}

TEST(ThreadHome, IsBarredFromTheLastProcessorAlone) {
  std::jthread([] {
    const auto all = allowed();
    ThreadHome home;
    home.keep_off(all.front(), 1);
    EXPECT_EQ(allowed(), all) << "the thread is not known yet";
    home.of_this_thread();
    home.keep_off(-1, 1);
    EXPECT_EQ(allowed(), all);
    home.keep_off(all.front(), all.size());
    EXPECT_EQ(allowed(), all) << "there are as many helpers as processors";
    if (all.size() < 2) GTEST_SKIP() << "there is one processor";
    home.keep_off(all[1], 1);
    EXPECT_EQ(allowed(), without(all, all[1]));
    home.keep_off(all[0], 1);
    EXPECT_EQ(allowed(), without(all, all[0]));
    EXPECT_EQ(::sched_getcpu() == all[0], false);
  }).join();
}

TEST(ThreadHome, TakesWhatOthersHaveSetMeanwhile) {
  std::jthread([] {
    const auto all = allowed();
    if (all.size() < 2) GTEST_SKIP() << "there is one processor";
    ThreadHome home;
    home.of_this_thread();
    home.keep_off(all[0], 1);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(all[0], &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    home.keep_off(all[1], 1);
    EXPECT_EQ(allowed(), std::vector{all[0]}) << "the others were taken from it";
  }).join();
}

}  // namespace
}  // namespace eindb
