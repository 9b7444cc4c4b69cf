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

// The processors of a thread that is barred from one: all, if there is no other.
std::vector<int> barred(std::vector<int> processors, int one) {
  if (processors.size() > 1) std::erase(processors, one);
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
    home.keep_off(all.back(), 1);
    EXPECT_EQ(allowed(), barred(all, all.back()));
    home.keep_off(all.front(), 1);
    EXPECT_EQ(allowed(), barred(all, all.front()));
    EXPECT_TRUE(all.size() == 1 || ::sched_getcpu() != all.front());
  }).join();
}

TEST(ThreadHome, IsBarredFromNoneWhereHelpersAreAsManyAsProcessors) {
  std::jthread([] {
    const auto all = allowed();
    ThreadHome home;
    home.of_this_thread();
    home.keep_off(all.front(), all.size());
    EXPECT_EQ(allowed(), all);
    home.keep_off(all.front(), 1);
    EXPECT_EQ(allowed(), barred(all, all.front())) << "there are fewer now";
    home.keep_off(all.front(), all.size());
    EXPECT_EQ(allowed(), all) << "and more again";
  }).join();
}

TEST(ThreadHome, TakesWhatOthersHaveSetMeanwhile) {
  std::jthread([] {
    const auto all = allowed();
    ThreadHome home;
    home.of_this_thread();
    home.keep_off(all.front(), 1);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(all.front(), &one);
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    home.keep_off(all.back(), 1);
    EXPECT_EQ(allowed(), std::vector{all.front()}) << "the others were taken from it";
  }).join();
}

}  // namespace
}  // namespace eindb
