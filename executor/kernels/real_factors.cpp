#include "executor/kernels/real_factors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "executor/kernels/bidiagonal_form.hpp"
#include "executor/kernels/bidiagonal_svd.hpp"
#include "executor/kernels/blocked_qr.hpp"
#include "executor/kernels/matrix_failures.hpp"
#include "executor/kernels/matrix_product.hpp"

namespace eindb {
namespace {

// Values within these bounds have squares that can be added up.
constexpr double kLeastUnscaled = 1e-100;
constexpr double kGreatestUnscaled = 1e100;
// A matrix with more rows than that many times its columns becomes bidiagonal by way of its QR factor: as LAPACK, which
// has 11/6, as measured.
constexpr double kTallForSvd = 1.6;

// The power of two by which values up to `largest` are scaled down.
int exponent_of(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return 0;
  if (largest >= kLeastUnscaled && largest <= kGreatestUnscaled) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);
  return exponent;
}

MatrixRef view_of(const MatrixValues<double>& matrix) {
  return row_major(const_cast<double*>(matrix.values.data()), matrix.rows, matrix.columns);
}

std::vector<double> copy_of(const MatrixRef& matrix) {
  std::vector<double> values(static_cast<std::size_t>(matrix.rows * matrix.columns));
  copy(row_major(values.data(), matrix.rows, matrix.columns), matrix);
  return values;
}

// The columns of a matrix scaled by powers of two.
std::vector<int> scale_columns(const MatrixRef& a) {
  std::vector<double> largest(static_cast<std::size_t>(a.columns), 0);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.columns; ++j) {
      auto& most = largest[static_cast<std::size_t>(j)];
      most = std::max(most, std::abs(a(i, j)));
    }
  std::vector<int> exponents;
  for (const auto most : largest) exponents.push_back(exponent_of(most));
  for (std::int64_t j = 0; j < a.columns; ++j) {
    const auto exponent = exponents[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; exponent != 0 && i < a.rows; ++i) a(i, j) = std::ldexp(a(i, j), -exponent);
  }
  return exponents;
}

// Of a matrix that is not wide. U, V: m x n and n x n, or without elements if they are not wanted.
void decompose(const LevelTable& level, const MatrixRef& a, const MatrixRef& u, double* s, const MatrixRef& v) {
  const bool has_vectors = u.data != nullptr;
  const auto n = a.columns;
  const bool is_tall = static_cast<double>(a.rows) > kTallForSvd * static_cast<double>(n);
  std::optional<BlockedQr> qr;
  std::vector<double> factor;
  if (is_tall) {
    qr.emplace(level, a);
    factor.resize(static_cast<std::size_t>(n * n));
    for (std::int64_t i = 0; i < n; ++i)
      for (auto j = i; j < n; ++j) factor[static_cast<std::size_t>(i * n + j)] = qr->r(i, j);
  }
  const auto square = is_tall ? row_major(factor.data(), n, n) : a;
  const BidiagonalForm form(level, square);
  const BidiagonalSvd svd(level, form.diagonal(), form.beside(), has_vectors);
  const auto values = svd.values();
  std::copy(values.begin(), values.end(), s);
  if (!has_vectors) return;
  svd.copy_left(u.block(0, 0, n, n));
  fill(u.block(n, 0, u.rows - n, n), 0);
  form.apply_left(u.block(0, 0, square.rows, n));
  if (is_tall) qr->apply(u);
  svd.copy_right(v);
  form.apply_right(v);
}

// The panels of the largest product, a strip, the rooms of an application, and those of a block of a bidiagonal form.
std::size_t bytes_of_thread(const LevelTable& level, BlockOp op, std::size_t rows, std::size_t columns) {
  const auto least = std::min(rows, columns);
  const auto reflectors = std::min<std::size_t>(kReflectorColumns, least);
  const bool is_qr = op == BlockOp::Qr;
  const auto high = is_qr ? rows : std::max(rows, columns);
  const auto wide = is_qr ? columns : least;
  const auto product = [&](std::size_t m, std::size_t n, std::size_t k) {
    const MatrixLabels labels{.batch = {}, .m = {0}, .n = {1}, .k = {2}};
    const std::array sizes{static_cast<std::int64_t>(m), static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
    return product_workspace_bytes(level, DType::Float64, labels, sizes);
  };
  auto panels = std::max(product(reflectors, wide, high), product(high, wide, reflectors));
  auto cells = kStripColumns * high + 2 * reflectors * (std::min<std::size_t>(kAppliedColumns, wide) + reflectors);
  if (!is_qr) {
    const auto reduced = std::min(high, static_cast<std::size_t>(kTallForSvd * static_cast<double>(least)) + 1);
    panels = std::max(panels, product(least, least, least));
    cells += 2 * reflectors * (reduced + least + reflectors) + 8 * least;
  }
  if (op == BlockOp::PseudoInverse) panels = std::max(panels, product(columns, rows, least));
  return panels + cells * sizeof(double);
}

}  // namespace

void real_qr(const LevelTable& level, const MatrixValues<double>& matrix, std::span<double> result) {
  const auto m = matrix.rows;
  const auto n = matrix.columns;
  const auto k = std::min(m, n);
  const bool has_q = !std::cmp_equal(result.size(), n * k);
  CHECK(!has_q || std::cmp_equal(result.size(), (m + n) * k), "a QR has the elements of Q and R");
  auto values = copy_of(view_of(matrix));
  const auto a = row_major(values.data(), m, n);
  const auto exponents = scale_columns(a);
  const BlockedQr factors(level, a);
  const auto q = row_major(result.data(), has_q ? m : 0, k);
  if (has_q) factors.form_q(q);
  std::vector<double> signs;
  for (std::int64_t i = 0; i < k; ++i) signs.push_back(factors.r(i, i) < 0 ? -1 : 1);
  for (std::int64_t i = 0; i < q.rows; ++i)
    for (std::int64_t j = 0; j < k; ++j) q(i, j) *= signs[static_cast<std::size_t>(j)];
  const auto r = row_major(result.data() + q.rows * k, n, k);
  for (std::int64_t j = 0; j < n; ++j) {
    const auto exponent = exponents[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < k; ++i) {
      const auto value = i > j ? 0 : signs[static_cast<std::size_t>(i)] * factors.r(i, j);
      r(j, i) = exponent == 0 ? value : std::ldexp(value, exponent);
    }
  }
}

std::optional<std::string> real_svd(const LevelTable& level, const MatrixValues<double>& matrix,
                                    std::span<double> result) {
  const auto m = matrix.rows;
  const auto n = matrix.columns;
  const auto k = std::min(m, n);
  const bool has_vectors = !std::cmp_equal(result.size(), k);
  CHECK(!has_vectors || std::cmp_equal(result.size(), (m + 1 + n) * k), "an SVD has the elements of U, s and V");
  double largest = 0;
  for (const auto value : matrix.values) {
    if (!std::isfinite(value)) return kNotFinite;
    largest = std::max(largest, std::abs(value));
  }
  const bool is_wide = m < n;
  auto values = copy_of(is_wide ? view_of(matrix).transposed() : view_of(matrix));
  const auto exponent = exponent_of(largest);
  if (exponent != 0)
    for (auto& value : values) value = std::ldexp(value, -exponent);
  const auto u = has_vectors ? row_major(result.data(), m, k) : MatrixRef{};
  auto* s = result.data() + (has_vectors ? m * k : 0);
  const auto v = has_vectors ? row_major(s + k, n, k) : MatrixRef{};
  decompose(level, row_major(values.data(), std::max(m, n), k), is_wide ? v : u, s, is_wide ? u : v);
  for (std::int64_t i = 0; exponent != 0 && i < k; ++i) s[i] = std::ldexp(s[i], exponent);
  return std::nullopt;
}

std::optional<std::string> real_pseudo_inverse(const LevelTable& level, const MatrixValues<double>& matrix,
                                               double smallest, std::span<double> result) {
  const auto m = matrix.rows;
  const auto n = matrix.columns;
  const auto k = std::min(m, n);
  std::vector<double> factors(static_cast<std::size_t>((m + 1 + n) * k));
  if (auto failure = real_svd(level, matrix, factors)) return failure;
  const auto u = row_major(factors.data(), m, k);
  const auto* s = factors.data() + m * k;
  const auto v = row_major(factors.data() + m * k + k, n, k);
  const auto least = k > 0 ? smallest * s[0] : 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < k; ++j) v(i, j) *= s[j] > least ? 1 / s[j] : 0;
  multiply(level, 1, v, u.transposed(), row_major(result.data(), n, m), true);
  return std::nullopt;
}

std::size_t real_factors_bytes(const LevelTable& level, BlockOp op, std::size_t rows, std::size_t columns,
                               std::size_t results) {
  const auto least = std::min(rows, columns);
  // A copy, and what the blocks have beside it.
  auto cells = rows * columns + 2 * kReflectorColumns * least;
  // The factor R, vectors of both sides, and two rooms as large as they are.
  const bool has_vectors = op == BlockOp::PseudoInverse || results > least;
  if (op != BlockOp::Qr) cells += (has_vectors ? 5 : 2) * (least + 1) * (least + 1) + 4 * least;
  if (op == BlockOp::PseudoInverse) cells += (rows + 1 + columns) * least;
  return cells * sizeof(double) + bytes_of_thread(level, op, rows, columns);
}

std::size_t lent_factors_bytes(const LevelTable& level, BlockOp op, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kFewCells = 128 * 128;
  return rows * columns < kFewCells || std::min(rows, columns) < 2 ? 0 : bytes_of_thread(level, op, rows, columns);
}

}  // namespace eindb
