#include "common/text_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eindb {
namespace {

TEST(TextCache, DropsTheLeastRecentlyUsed) {
  TextCache<int> cache(2, 10);
  cache.keep("a", 1);
  cache.keep("b", 2);
  ASSERT_NE(cache.find("a"), nullptr);
  cache.keep("c", 3);
  EXPECT_EQ(cache.find("b"), nullptr);
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(*cache.find("a"), 1);
  EXPECT_EQ(*cache.find("c"), 3);
  cache.clear();
  EXPECT_EQ(cache.find("a"), nullptr);
}

TEST(TextCache, KeepsTheFirstValueOfATextAndNoLongTexts) {
  TextCache<int> cache(2, 3);
  cache.keep("abc", 1);
  cache.keep("abc", 2);
  cache.keep("abcd", 3);
  EXPECT_EQ(*cache.find("abc"), 1);
  EXPECT_EQ(cache.find("abcd"), nullptr);
}

}  // namespace
}  // namespace eindb
