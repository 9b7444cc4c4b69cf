#include "common/divisors.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(Divisors, PrimeFactorsAscend) {
  EXPECT_EQ(prime_factors(1), Numbers{});
  EXPECT_EQ(prime_factors(360), (Numbers{2, 2, 2, 3, 3, 5}));
  EXPECT_EQ(prime_factors(65521), (Numbers{65521}));
}

TEST(Divisors, AgreeWithTrials) {
  for (std::int64_t number = 1; number < 400; ++number) {
    Numbers tried;
    for (std::int64_t d = 1; d <= number; ++d)
      if (number % d == 0) tried.push_back(d);
    EXPECT_EQ(divisors(number), tried);
    for (std::int64_t most = 0; most <= number + 1; ++most) {
      std::int64_t largest = 1;
      for (const auto d : tried)
        if (d <= most) largest = d;
      EXPECT_EQ(largest_divisor(number, most), largest) << "of " << number << " at most " << most;
    }
  }
}

}  // namespace
}  // namespace eindb
