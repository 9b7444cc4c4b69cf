// Transforms of all short lengths beside the sums that define them, of long ones by what is known of them.
#include "executor/kernels/fourier_transform.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace eindb {
namespace {

template <class T>
std::vector<std::complex<T>> random_line(std::mt19937& random, std::size_t length) {
  std::uniform_real_distribution<T> between(-1, 1);
  std::vector<std::complex<T>> line;
  for (std::size_t n = 0; n < length; ++n) line.emplace_back(between(random), between(random));
  return line;
}

using LongComplex = std::complex<long double>;

template <class T>
std::vector<LongComplex> summed(const std::vector<std::complex<T>>& line) {
  const auto n = line.size();
  std::vector<LongComplex> roots;
  for (std::size_t k = 0; k < n; ++k) {
    const auto angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    roots.emplace_back(std::cos(angle), std::sin(angle));
  }
  std::vector<LongComplex> sums(n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j) sums[k] += LongComplex(line[j]) * roots[j * k % n];
  return sums;
}

// The norm of the difference beside that of the expected values.
template <class T, class Expected>
double relative_error(const std::vector<std::complex<T>>& found, const std::vector<Expected>& expected) {
  long double error = 0;
  long double norm = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    error += std::norm(LongComplex(found[k]) - LongComplex(expected[k]));
    norm += std::norm(LongComplex(expected[k]));
  }
  return norm == 0 ? 0.0 : static_cast<double>(std::sqrt(error / norm));
}

// Each pass rounds a few times, and a chirp takes three transforms of a longer line.
template <class T>
double tolerance(std::size_t length) {
  return std::numeric_limits<T>::epsilon() * (2 + std::log2(static_cast<double>(length) + 1));
}

template <class T>
void check_length(std::mt19937& random, std::size_t length) {
  SCOPED_TRACE(std::to_string(length) + " values of " + std::to_string(sizeof(T)) + " bytes");
  const auto line = random_line<T>(random, length);
  FourierTransform<T> forward(length, false);
  FourierTransform<T> backward(length, true);
  std::vector<std::complex<T>> found(length);
  forward.run(line, found);
  EXPECT_LE(relative_error(found, summed(line)), tolerance<T>(length));
  auto in_place = line;
  forward.run(in_place, in_place);
  EXPECT_EQ(in_place, found) << "in place, with a transform that was used before";
  backward.run(found, found);
  EXPECT_LE(relative_error(found, line), 2 * tolerance<T>(length));
}

TEST(FourierTransform, AgreesWithTheSums) {
  std::mt19937 random(5);
  for (std::size_t length = 0; length <= 200; ++length) {
    check_length<float>(random, length);
    check_length<double>(random, length);
  }
  for (const std::size_t length : {512, 899, 961, 1000, 1009, 1024, 1155, 1536, 2048}) {
    check_length<float>(random, length);
    check_length<double>(random, length);
  }
}

TEST(FourierTransform, KeepsTheNormOfLongLines) {
  std::mt19937 random(6);
  for (const std::size_t length : {std::size_t{1} << 18, std::size_t{100000}, std::size_t{65537}}) {
    const auto line = random_line<double>(random, length);
    std::vector<std::complex<double>> found(length);
    FourierTransform<double>(length, false).run(line, found);
    long double before = 0;
    long double after = 0;
    for (std::size_t k = 0; k < length; ++k) {
      before += std::norm(LongComplex(line[k]));
      after += std::norm(LongComplex(found[k]));
    }
    EXPECT_NEAR(static_cast<double>(after / before / static_cast<long double>(length)), 1, 1e-14) << length;
    FourierTransform<double>(length, true).run(found, found);
    EXPECT_LE(relative_error(found, line), 2 * tolerance<double>(length)) << length;
  }
}

TEST(FourierTransform, OfOneValueIsThatValue) {
  const std::vector<std::complex<float>> line{{3, -1}};
  std::vector<std::complex<float>> found(1);
  FourierTransform<float>(1, true).run(line, found);
  EXPECT_EQ(found, line);
}

}  // namespace
}  // namespace eindb
