#include "tensor/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace eindb {
namespace {

// Known answer of Philox 4x32-10 for key 0 and counter 0: 6627e8d5 e169c58d bc57ac4c 9b00dbd8.
TEST(Random, IsPhilox) {
  const auto bits = (0x6627e8d5ULL << 32U | 0xe169c58dULL) >> 11U;
  EXPECT_EQ(random_uniform(0, 0), static_cast<double>(bits) * 0x1.0p-53);
}

TEST(Random, HasTheMomentsOfItsDistribution) {
  const int n = 200000;
  double sum = 0;
  double normal_sum = 0;
  double normal_squares = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random_uniform(7, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    const double z = random_normal(7, static_cast<std::uint64_t>(i));
    normal_sum += z;
    normal_squares += z * z;
  }
  EXPECT_NEAR(sum / n, 0.5, 0.003);
  EXPECT_NEAR(normal_sum / n, 0.0, 0.01);
  EXPECT_NEAR(normal_squares / n, 1.0, 0.02);
}

TEST(Random, DependsOnSeedAndCounter) {
  EXPECT_NE(random_uniform(1, 5), random_uniform(2, 5));
  EXPECT_NE(random_uniform(1, 5), random_uniform(1, 5 + (std::uint64_t{1} << 32U)));
}

}  // namespace
}  // namespace eindb
