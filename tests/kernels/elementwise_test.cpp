#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "executor/kernels/instruction_set.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tests/kernels/instruction_levels.hpp"

namespace eindb {
namespace {

class ElementwiseTest : public testing::TestWithParam<InstructionSet> {
 protected:
  template <class T>
  const ElementTable& table() const {
    return level_table(GetParam()).of(dtype_of<T>);
  }
};

INSTANTIATE_TEST_SUITE_P(AllLevels, ElementwiseTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

// Values at which vector code goes wrong: infinities, NaN, both zeros, denormals, the ends of exp's and log's range,
// ties of rounding; and ordinary ones.
template <class T>
std::vector<T> interesting_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{0, 1, 2, 3, 7, 100, 1000, Limits::max(), Limits::lowest(), Limits::min()};
  if constexpr (std::is_floating_point_v<T>) {
    const std::vector<T> more{-T(0),
                              T(0.5),
                              T(1.5),
                              T(2.5),
                              T(1e-3),
                              T(20),
                              T(87.5),
                              T(88.8),
                              T(103),
                              T(708.5),
                              T(709.9),
                              T(745),
                              Limits::infinity(),
                              Limits::quiet_NaN(),
                              Limits::denorm_min(),
                              Limits::min() / 2,
                              T(9000),
                              Limits::epsilon(),
                              T(0.99999),
                              T(1e10)};
    values.insert(values.end(), more.begin(), more.end());
    std::mt19937 random(1);
    for (int n = 0; n < 200; ++n) values.push_back(std::normal_distribution<T>(0, 5)(random));
  }
  const auto count = values.size();
  for (std::size_t n = 0; n < count; ++n) values.push_back(scalar_subtract(T(0), values[n]));
  return values;
}

template <class T>
std::vector<std::complex<T>> complex_values() {
  const std::vector<T> parts{
      0,      -T(0), 1, T(-0.5), 3, T(-20), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(),
      T(1e-3)};
  std::vector<std::complex<T>> values;
  for (const auto re : parts)
    for (const auto im : parts) values.emplace_back(re, im);
  return values;
}

// `scale` is the size of the values added and cancelled.
template <class T>
bool close(T actual, T expected, T scale) {
  if (std::isnan(expected)) return std::isnan(actual);
  if (actual == expected) return expected != 0 || std::signbit(actual) == std::signbit(expected);
  if (!std::isfinite(expected) || !std::isfinite(actual)) return false;
  return std::abs(actual - expected) <=
         8 * std::numeric_limits<T>::epsilon() * scale + std::numeric_limits<T>::denorm_min();
}

// Sines and cosines near a multiple of pi are small differences of numbers near 1.
template <class T>
bool agrees(ScalarOp op, T actual, T expected, T /*a*/, T /*b*/) {
  if constexpr (std::is_integral_v<T>) return actual == expected;
  else return close(actual, expected, op == ScalarOp::Sin || op == ScalarOp::Cos ? T(1) : std::abs(expected));
}
template <class T>
bool agrees(ScalarOp op, std::complex<T> actual, std::complex<T> expected, std::complex<T> a, std::complex<T> b) {
  auto scale = std::abs(expected);
  if (op == ScalarOp::Multiply) scale = std::abs(a) * std::abs(b);
  const auto part = [&](T x, T y) { return x == y || close(x, y, scale); };
  return part(actual.real(), expected.real()) && part(actual.imag(), expected.imag());
}

template <class T>
void expect_unary(const ElementTable& table, const std::vector<T>& values) {
  std::vector<T> results(values.size());
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::size_t n = 0; n < kScalarOpCount; ++n) {
    const auto op = static_cast<ScalarOp>(n);
    if (table.unary[n] == nullptr) continue;
    table.unary[n](results.data(), values.data(), count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto expected = apply_scalar<T>(op, values[i]);
      EXPECT_TRUE(agrees(op, results[i], expected, values[i], values[i]))
          << info_of(op).name << "(" << values[i] << ") gives " << results[i] << " instead of " << expected;
    }
  }
}

// A value gives one result wherever it stands: in whole vectors, before them and behind them.
template <class T>
void expect_equal_results_of_equal_values(const ElementTable& table) {
  for (std::size_t n = 0; n < kScalarOpCount; ++n) {
    if (table.unary[n] == nullptr) continue;
    std::mt19937 random(2);
    for (int trial = 0; trial < 100; ++trial) {
      const std::vector<T> values(203, std::uniform_real_distribution<T>(-3, 3)(random));
      for (const std::size_t first : {0, 1, 5}) {
        std::vector<T> results(values.size());
        table.unary[n](results.data() + first, values.data() + first, static_cast<std::int64_t>(values.size() - first));
        for (std::size_t i = first; i < values.size(); ++i)
          ASSERT_TRUE(results[i] == results[first] || results[first] != results[first])
              << info_of(static_cast<ScalarOp>(n)).name << "(" << values[i] << ") at " << i;
      }
    }
  }
}

template <class T>
void expect_binary(const ElementTable& table, const std::vector<T>& all) {
  // Few enough values for all pairs; the steps cover one value against many.
  const std::vector<T> values(all.begin(),
                              all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(all.size(), 40)));
  std::vector<T> results(values.size());
  const auto count = static_cast<std::int64_t>(values.size());
  for (std::size_t n = 0; n < kScalarOpCount; ++n) {
    const auto op = static_cast<ScalarOp>(n);
    if (table.binary[n] == nullptr) continue;
    for (std::size_t rotation = 0; rotation < values.size(); ++rotation) {
      auto others = values;
      std::rotate(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(rotation), others.end());
      for (const auto& [step_a, step_b] : {std::pair{1, 1}, {0, 1}, {1, 0}}) {
        table.binary[n](results.data(), {values.data() + (step_a == 0 ? rotation : 0), step_a}, {others.data(), step_b},
                        count);
        for (std::size_t i = 0; i < values.size(); ++i) {
          const auto a = values[step_a == 0 ? rotation : i];
          const auto b = others[step_b == 0 ? 0 : i];
          const auto expected = apply_scalar<T>(op, a, b);
          ASSERT_TRUE(agrees(op, results[i], expected, a, b))
              << a << " " << info_of(op).name << " " << b << " gives " << results[i] << " instead of " << expected;
        }
      }
    }
  }
}

TEST_P(ElementwiseTest, UnaryOperationsAgreeOnFloats) { expect_unary(table<float>(), interesting_values<float>()); }
TEST_P(ElementwiseTest, UnaryOperationsAgreeOnDoubles) { expect_unary(table<double>(), interesting_values<double>()); }
TEST_P(ElementwiseTest, UnaryOperationsAgreeOnIntegers) {
  expect_unary(table<std::int64_t>(), interesting_values<std::int64_t>());
}
TEST_P(ElementwiseTest, UnaryOperationsAgreeOnComplexNumbers) {
  expect_unary(table<std::complex<float>>(), complex_values<float>());
  expect_unary(table<std::complex<double>>(), complex_values<double>());
}
TEST_P(ElementwiseTest, EqualElementsGiveEqualResults) {
  expect_equal_results_of_equal_values<float>(table<float>());
  expect_equal_results_of_equal_values<double>(table<double>());
}
TEST_P(ElementwiseTest, BinaryOperationsAgreeOnFloats) { expect_binary(table<float>(), interesting_values<float>()); }
TEST_P(ElementwiseTest, BinaryOperationsAgreeOnDoubles) {
  expect_binary(table<double>(), interesting_values<double>());
}
TEST_P(ElementwiseTest, BinaryOperationsAgreeOnIntegers) {
  expect_binary(table<std::int64_t>(), interesting_values<std::int64_t>());
}
TEST_P(ElementwiseTest, BinaryOperationsAgreeOnComplexNumbers) {
  expect_binary(table<std::complex<float>>(), complex_values<float>());
  expect_binary(table<std::complex<double>>(), complex_values<double>());
}

}  // namespace
}  // namespace eindb
