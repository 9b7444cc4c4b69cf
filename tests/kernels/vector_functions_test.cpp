// Orders of values against a stable sort, for few values and many, with all that has no order of its own.
#include "executor/kernels/vector_functions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace eindb {
namespace {

template <class T>
std::vector<std::int64_t> stably_sorted(const std::vector<T>& values, bool descending) {
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto x, auto y) {
    const auto a = values[static_cast<std::size_t>(x)];
    const auto b = values[static_cast<std::size_t>(y)];
    if (a != a || b != b) return a == a && b != b;
    return descending ? a > b : a < b;
  });
  return order;
}

template <class T>
class OrderOfValues : public ::testing::Test {};
using OrderedTypes = ::testing::Types<float, double, std::int64_t>;
TYPED_TEST_SUITE(OrderOfValues, OrderedTypes);

TYPED_TEST(OrderOfValues, IsThatOfAStableSort) {
  using T = TypeParam;
  std::mt19937_64 random(17);
  using Limits = std::numeric_limits<T>;
  std::vector<T> special{T{0}, T{1}, Limits::lowest(), Limits::max()};
  if constexpr (std::is_floating_point_v<T>) {
    for (const auto value : {-T{0}, Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(),
                             Limits::denorm_min(), -Limits::denorm_min()})
      special.push_back(value);
  }
  for (const std::size_t size : {1, 2, 100, 1023, 1024, 1500, 5000}) {
    for (const int kind : {0, 1, 2, 3}) {  // any values, few different ones, special ones among others, one value
      std::vector<T> values(size);
      for (auto& value : values) {
        const auto draw = static_cast<std::int64_t>(random());
        value = static_cast<T>(kind == 1 ? draw % 5 : kind == 3 ? 3 : draw % 4'000'000'000);
        if constexpr (std::is_floating_point_v<T>)
          if (kind == 0) value = std::ldexp(value, static_cast<int>(random() % 60) - 30);
        if (kind == 2 && random() % 2 == 0) value = special[random() % special.size()];
      }
      for (const bool descending : {false, true}) {
        const auto expected = stably_sorted(values, descending);
        for (const auto wanted : {size, (size + 1) / 2, (size + 7) / 8, (size + 29) / 30}) {
          SCOPED_TRACE(std::to_string(wanted) + " of " + std::to_string(size) + ", kind " + std::to_string(kind));
          std::vector<std::int64_t> order(wanted);
          order_indices<T>(values, descending, order);
          ASSERT_TRUE(std::equal(order.begin(), order.end(), expected.begin()));
        }
      }
    }
  }
}

}  // namespace
}  // namespace eindb
