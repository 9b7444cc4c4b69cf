#include "common/fixed_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

namespace eindb {
namespace {

template <class T>
bool lies_in(const T& element, const auto& object) {
  const auto* at = reinterpret_cast<const std::byte*>(&element);
  const auto* begin = reinterpret_cast<const std::byte*>(&object);
  return std::less_equal<>()(begin, at) && std::less<>()(at, begin + sizeof object);
}

TEST(FixedArray, HasAsManyElementsAsWereAskedFor) {
  for (const std::size_t size : {0U, 1U, 2U, 3U, 100U}) {
    FixedArray<int, 2> numbers(size);
    EXPECT_EQ(numbers.size(), size);
    EXPECT_EQ(numbers.empty(), size == 0);
    EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 0), static_cast<std::ptrdiff_t>(size))
        << "they begin as zeros";
    for (std::size_t n = 0; n < size; ++n) numbers[n] = static_cast<int>(n);
    const auto& read = numbers;
    for (std::size_t n = 0; n < size; ++n) EXPECT_EQ(read[n], static_cast<int>(n));
    EXPECT_EQ(static_cast<std::size_t>(read.end() - read.begin()), size);
  }
}

TEST(FixedArray, FewElementsLieInTheObject) {
  FixedArray<std::atomic<bool>, 1> one(1);
  EXPECT_TRUE(lies_in(one[0], one));
  FixedArray<std::atomic<bool>, 1> two(2);
  EXPECT_FALSE(lies_in(two[0], two));
}

TEST(FixedArray, ElementsEndWithIt) {
  const auto counted = std::make_shared<int>(1);
  for (const std::size_t size : {1U, 5U}) {
    FixedArray<std::shared_ptr<int>, 1> owners(size);
    std::fill(owners.begin(), owners.end(), counted);
    EXPECT_EQ(counted.use_count(), static_cast<long>(size) + 1);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace eindb
