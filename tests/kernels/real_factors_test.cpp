#include "executor/kernels/real_factors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "executor/kernels/bidiagonal_svd.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/lent_threads.hpp"
#include "executor/kernels/matrix_ref.hpp"
#include "tests/kernels/instruction_levels.hpp"

namespace eindb {
namespace {

constexpr double kUnit = std::numeric_limits<double>::epsilon();

struct Sides {
  std::int64_t rows;
  std::int64_t columns;
};

// Around vectors, strips, blocks and parts of threads.
constexpr Sides kSides[] = {{1, 1},   {1, 7},   {7, 1},    {2, 2},    {3, 2},     {2, 3},     {5, 5},     {16, 16},
                            {17, 16}, {16, 17}, {33, 20},  {40, 31},  {31, 40},   {64, 64},   {65, 65},   {63, 64},
                            {80, 50}, {90, 40}, {130, 66}, {66, 130}, {129, 129}, {200, 150}, {300, 257}, {512, 100}};

class Values {
 public:
  Values(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), values_(static_cast<std::size_t>(rows * columns)) {}

  double& operator()(std::int64_t i, std::int64_t j) { return values_[static_cast<std::size_t>(i * columns_ + j)]; }
  double operator()(std::int64_t i, std::int64_t j) const {
    return values_[static_cast<std::size_t>(i * columns_ + j)];
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  MatrixValues<double> view() const { return {rows_, columns_, values_}; }

 private:
  std::int64_t rows_;
  std::int64_t columns_;
  std::vector<double> values_;
};

Values random_values(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Values values(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) values(i, j) = normal(random);
  return values;
}

struct Kind {
  std::string name;
  std::function<Values(Sides, unsigned seed)> make;
};

std::vector<Kind> kinds() {
  const auto altered = [](auto&& change) {
    return [change](Sides sides, unsigned seed) {
      auto values = random_values(sides.rows, sides.columns, seed);
      for (std::int64_t i = 0; i < sides.rows; ++i)
        for (std::int64_t j = 0; j < sides.columns; ++j) values(i, j) = change(values, i, j);
      return values;
    };
  };
  return {
      {"random", altered([](auto& a, auto i, auto j) { return a(i, j); })},
      {"zero", altered([](auto&, auto, auto) { return 0.0; })},
      {"ones", altered([](auto&, auto, auto) { return 1.0; })},
      {"identity", altered([](auto&, auto i, auto j) { return i == j ? 1.0 : 0.0; })},
      {"equal columns", altered([](auto& a, auto i, auto j) { return a(i, j % 3); })},
      {"zero columns", altered([](auto& a, auto i, auto j) { return j % 2 == 0 ? 0.0 : a(i, j); })},
      {"few equal singular values",
       altered([](auto&, auto i, auto j) { return i == j ? 1.0 + static_cast<double>(i % 3) : 0.0; })},
      {"graded rows", altered([](auto& a, auto i, auto j) { return a(i, j) * std::pow(0.5, static_cast<double>(i)); })},
      {"graded columns",
       altered([](auto& a, auto i, auto j) { return a(i, j) * std::pow(0.25, static_cast<double>(j)); })},
      {"upper bidiagonal", altered([](auto& a, auto i, auto j) { return j == i || j == i + 1 ? a(i, j) : 0.0; })},
      {"tiny", altered([](auto& a, auto i, auto j) { return 1e-300 * a(i, j); })},
      {"huge", altered([](auto& a, auto i, auto j) { return 1e300 * a(i, j); })},
      {"Hilbert's", altered([](auto&, auto i, auto j) { return 1 / static_cast<double>(i + j + 1); })},
  };
}

// The greatest |sum over i of a(i, p) a(i, q) - (p = q)|.
double far_from_orthonormal(const double* a, std::int64_t rows, std::int64_t columns) {
  double far = 0;
  for (std::int64_t p = 0; p < columns; ++p) {
    for (std::int64_t q = 0; q <= p; ++q) {
      double sum = p == q ? -1 : 0;
      for (std::int64_t i = 0; i < rows; ++i) sum += a[i * columns + p] * a[i * columns + q];
      if (!(std::abs(sum) <= far)) far = std::abs(sum);
    }
  }
  return far;
}

// The norm of A, and that of A - L D R^T, both divided by a power of two that keeps squares in bounds.
struct Residual {
  double of_matrix = 0;
  double of_product = 0;
};

Residual residual(const Values& a, const double* l, const double* d, const double* r, std::int64_t k, double unit) {
  Residual squares;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < a.columns(); ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += l[i * k + p] * ((d == nullptr ? 1 : d[p] / unit) * (d == nullptr ? r[j * k + p] / unit : r[j * k + p]));
      const auto value = a(i, j) / unit;
      squares.of_matrix += value * value;
      squares.of_product += (value - sum) * (value - sum);
    }
  }
  return {std::sqrt(squares.of_matrix), std::sqrt(squares.of_product)};
}

double unit_of_values(const Values& a) {
  double largest = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t j = 0; j < a.columns(); ++j) largest = std::max(largest, std::abs(a(i, j)));
  return largest == 0 ? 1 : largest;
}

class RealFactorsTest : public ::testing::TestWithParam<InstructionSet> {
 protected:
  const LevelTable& level_ = level_table(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Levels, RealFactorsTest, ::testing::ValuesIn(available_instruction_sets()), name_of_level);

// Errors of Householder QR and of divide and conquer are a few epsilon times a low power of the size.
double bound_of(const Sides& sides) {
  return 20 * kUnit * (3 + std::sqrt(static_cast<double>(std::max(sides.rows, sides.columns))));
}

// Calls check(sides, matrix, the lesser side) for matrices of all kinds and sides.
template <class Check>
void for_each_matrix(const Check& check) {
  unsigned seed = 1;
  for (const auto& kind : kinds()) {
    for (const auto& sides : kSides) {
      SCOPED_TRACE(kind.name + " " + std::to_string(sides.rows) + " x " + std::to_string(sides.columns));
      check(sides, kind.make(sides, ++seed), std::min(sides.rows, sides.columns));
    }
  }
}

TEST_P(RealFactorsTest, QrIsOrthonormalAndMultipliesToTheMatrix) {
  for_each_matrix([&](const Sides& sides, const Values& a, std::int64_t k) {
    std::vector<double> result(static_cast<std::size_t>((sides.rows + sides.columns) * k), -7);
    real_qr(level_, a.view(), result);
    const auto* q = result.data();
    const auto* r = q + sides.rows * k;
    ASSERT_LE(far_from_orthonormal(q, sides.rows, k), bound_of(sides));
    const auto [norm, far] = residual(a, q, nullptr, r, k, unit_of_values(a));
    ASSERT_LE(far, bound_of(sides) * norm);
    for (std::int64_t i = 0; i < k; ++i) {
      ASSERT_GE(r[i * k + i], 0);
      for (auto below = i + 1; below < k; ++below) ASSERT_EQ(r[i * k + below], 0);
    }
  });
}

// Each column by itself, whatever the others are.
TEST_P(RealFactorsTest, QrKeepsThePrecisionOfColumns) {
  const Sides sides{90, 70};
  auto a = random_values(sides.rows, sides.columns, 3);
  const auto factor = [](std::int64_t j) { return std::pow(10.0, static_cast<double>((j * 97) % 600 - 300)); };
  for (std::int64_t i = 0; i < sides.rows; ++i)
    for (std::int64_t j = 0; j < sides.columns; ++j) a(i, j) *= factor(j);
  std::vector<double> result(static_cast<std::size_t>((sides.rows + sides.columns) * sides.columns));
  real_qr(level_, a.view(), result);
  const auto* q = result.data();
  const auto* r = q + sides.rows * sides.columns;
  for (std::int64_t i = 0; i < sides.rows; ++i) {
    for (std::int64_t j = 0; j < sides.columns; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p <= j; ++p) sum += q[i * sides.columns + p] * (r[j * sides.columns + p] / factor(j));
      ASSERT_NEAR(sum, a(i, j) / factor(j), 100 * kUnit * std::sqrt(90.0));
    }
  }
}

TEST_P(RealFactorsTest, QrOfWhatIsNotFiniteIsNotFinite) {
  auto a = random_values(20, 10, 4);
  a(3, 0) = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> result(300);
  real_qr(level_, a.view(), result);
  EXPECT_TRUE(std::isnan(result[200]));
}

TEST_P(RealFactorsTest, SvdIsOrthonormalAndMultipliesToTheMatrix) {
  for_each_matrix([&](const Sides& sides, const Values& a, std::int64_t k) {
    std::vector<double> result(static_cast<std::size_t>((sides.rows + 1 + sides.columns) * k), -7);
    ASSERT_EQ(real_svd(level_, a.view(), result), std::nullopt);
    const auto* u = result.data();
    const auto* s = u + sides.rows * k;
    const auto* v = s + k;
    ASSERT_LE(far_from_orthonormal(u, sides.rows, k), bound_of(sides));
    ASSERT_LE(far_from_orthonormal(v, sides.columns, k), bound_of(sides));
    const auto [norm, far] = residual(a, u, s, v, k, unit_of_values(a));
    ASSERT_LE(far, bound_of(sides) * norm);
    ASSERT_TRUE(std::is_sorted(s, s + k, std::greater<>()));
    ASSERT_GE(s[k - 1], 0);
  });
}

TEST_P(RealFactorsTest, SvdRefusesWhatIsNotFinite) {
  for (const auto value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto a = random_values(6, 4, 5);
    a(5, 1) = value;
    std::vector<double> result(44);
    EXPECT_EQ(real_svd(level_, a.view(), result), "has a value that is not finite");
    std::vector<double> inverse(24);
    EXPECT_EQ(real_pseudo_inverse(level_, a.view(), 1e-15, inverse), "has a value that is not finite");
  }
}

TEST_P(RealFactorsTest, FactorsOfEmptyMatricesAreEmpty) {
  for (const auto& sides : {Sides{0, 0}, Sides{5, 0}, Sides{0, 5}}) {
    const Values a(sides.rows, sides.columns);
    std::vector<double> none;
    real_qr(level_, a.view(), none);
    EXPECT_EQ(real_svd(level_, a.view(), none), std::nullopt);
    EXPECT_EQ(real_pseudo_inverse(level_, a.view(), 1e-15, none), std::nullopt);
  }
}

TEST_P(RealFactorsTest, RAloneIsThatBesideQ) {
  for (const auto& sides : kSides) {
    const auto a = random_values(sides.rows, sides.columns, 11);
    const auto k = std::min(sides.rows, sides.columns);
    std::vector<double> both(static_cast<std::size_t>((sides.rows + sides.columns) * k));
    std::vector<double> alone(static_cast<std::size_t>(sides.columns * k));
    real_qr(level_, a.view(), both);
    real_qr(level_, a.view(), alone);
    ASSERT_TRUE(std::equal(alone.begin(), alone.end(), both.begin() + sides.rows * k));
  }
}

TEST_P(RealFactorsTest, SingularValuesAloneAreThoseBesideVectors) {
  for_each_matrix([&](const Sides& sides, const Values& a, std::int64_t k) {
    std::vector<double> all(static_cast<std::size_t>((sides.rows + 1 + sides.columns) * k));
    std::vector<double> alone(static_cast<std::size_t>(k));
    ASSERT_EQ(real_svd(level_, a.view(), all), std::nullopt);
    ASSERT_EQ(real_svd(level_, a.view(), alone), std::nullopt);
    const auto* s = all.data() + sides.rows * k;
    for (std::int64_t n = 0; n < k; ++n)
      ASSERT_LE(std::abs(alone[static_cast<std::size_t>(n)] - s[n]), bound_of(sides) * s[0]);
  });
}

TEST_P(RealFactorsTest, SingularValuesOfBidiagonalMatricesAreThoseBesideVectors) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (const std::size_t size : {1, 2, 3, 4, 5, 8, 30, 100, 257}) {
    for (const int kind : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(size) + " of kind " + std::to_string(kind));
      std::vector<double> diagonal(size);
      std::vector<double> beside(size - 1);
      for (auto& d : diagonal) d = kind == 1 ? 1 : normal(random);
      for (auto& e : beside) e = kind == 2 && random() % 3 == 0 ? 0 : normal(random);
      const auto with = BidiagonalSvd(level_, diagonal, beside, true).values();
      const auto alone = BidiagonalSvd(level_, diagonal, beside, false).values();
      for (std::size_t n = 0; n < size; ++n) ASSERT_NEAR(with[n], alone[n], 50 * kUnit * with[0]);
    }
  }
}

// Parts of the work in reverse order, as other threads might take them.
class BackToFront : public LentThreads {
 public:
  void for_each(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    for (auto n = count; n-- > 0;) task(n);
    parts_ += count;
  }
  std::int64_t parts() const { return parts_; }

 private:
  std::int64_t parts_ = 0;
};

TEST_P(RealFactorsTest, ResultsAreTheSameOnAnyThreads) {
  const auto a = random_values(500, 400, 8);
  std::vector<double> alone(900 * 400 + 401 * 400);
  const std::span<double> qr(alone.data(), 900 * 400);
  const std::span<double> svd(alone.data(), 901 * 400);
  std::vector<double> once;
  for (const bool is_lent : {false, true}) {
    BackToFront threads;
    const LentThreads::Scope scope(is_lent ? &threads : nullptr);
    std::vector<double> both;
    real_qr(level_, a.view(), qr);
    both.insert(both.end(), qr.begin(), qr.end());
    ASSERT_EQ(real_svd(level_, a.view(), svd), std::nullopt);
    both.insert(both.end(), svd.begin(), svd.end());
    if (is_lent) {
      EXPECT_GT(threads.parts(), 100);
      EXPECT_EQ(both, once);
    }
    once = both;
  }
}

TEST_P(RealFactorsTest, PseudoInverseIsThatOfMoorePenrose) {
  for (const auto& sides : {Sides{9, 5}, Sides{5, 9}, Sides{70, 66}}) {
    auto a = random_values(sides.rows, sides.columns, 9);
    for (std::int64_t i = 0; i < sides.rows; ++i) a(i, 1) = a(i, 0);  // of lower rank
    std::vector<double> p(static_cast<std::size_t>(sides.rows * sides.columns));
    ASSERT_EQ(real_pseudo_inverse(level_, a.view(), 1e-13, p), std::nullopt);
    // A P A = A
    for (std::int64_t i = 0; i < sides.rows; ++i) {
      for (std::int64_t j = 0; j < sides.columns; ++j) {
        double sum = 0;
        for (std::int64_t x = 0; x < sides.columns; ++x)
          for (std::int64_t y = 0; y < sides.rows; ++y)
            sum += a(i, x) * p[static_cast<std::size_t>(x * sides.rows + y)] * a(y, j);
        ASSERT_NEAR(sum, a(i, j), 1e-10);
      }
    }
  }
}

}  // namespace
}  // namespace eindb
