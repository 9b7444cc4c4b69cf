#include <algorithm>

#include "executor/kernels/levels/element_tables.hpp"
#include "executor/kernels/levels/vectors.hpp"
#include "executor/kernels/reflection.hpp"

namespace eindb::EINDB_LEVEL {
namespace {

constexpr auto kStripVectors = kStripColumns / kLanes<double>;

struct StripRow {
  Vector<double> parts[kStripVectors];

  explicit StripRow(const double* from) {
    for (std::int64_t n = 0; n < kStripVectors; ++n) parts[n] = load(from + n * kLanes<double>);
  }
  void store_to(double* to) const {
    for (std::int64_t n = 0; n < kStripVectors; ++n) store(to + n * kLanes<double>, parts[n]);
  }
  void add(double factor, const StripRow& other) {
    const auto all = broadcast(factor);
    for (std::int64_t n = 0; n < kStripVectors; ++n) parts[n] += all * other.parts[n];
  }
};

// One pass over the strip for each column: it applies the column's reflection to the others, and sums up the products
// of the next column with all, which are what its reflection and the application of that need.
void factor_strip(double* strip, std::int64_t rows, std::int64_t columns, double* taus) {
  constexpr double kNone[kStripColumns]{};
  StripRow sums(kNone);
  for (std::int64_t i = 1; i < rows; ++i) sums.add(strip[i * kStripColumns], StripRow(strip + i * kStripColumns));
  for (std::int64_t j = 0; j < std::min(rows, columns); ++j) {
    auto* pivot = strip + j * kStripColumns;
    double products[kStripColumns];
    sums.store_to(products);
    const auto reflection = reflection_of(pivot[j], products[j]);
    taus[j] = reflection.tau;
    double weights[kStripColumns]{};
    for (auto c = j + 1; c < kStripColumns; ++c) {
      weights[c] = reflection.tau * (pivot[c] + reflection.scale * products[c]);
      pivot[c] -= weights[c];
    }
    pivot[j] = reflection.beta;
    const StripRow subtracted(weights);
    const auto next = std::min(j + 1, kStripColumns - 1);
    sums = StripRow(kNone);
    for (auto i = j + 1; i < rows; ++i) {
      auto* to = strip + i * kStripColumns;
      const auto factor = to[j] * reflection.scale;
      StripRow row(to);
      row.add(-factor, subtracted);
      row.store_to(to);
      to[j] = factor;
      if (i > j + 1) sums.add(to[next], row);
    }
  }
}

// Adds up z[n] / (pole[n] - x) in several lanes, and the derivative.
void add_pole_terms(const double* poles, const double* weights, std::int64_t count, double x, double* sums) {
  const auto at = broadcast(x);
  Vector<double> values{};
  Vector<double> slopes{};
  const auto add = [&](Vector<double> pole, Vector<double> weight) __attribute__((always_inline)) {
    const auto distance = pole - at;
    const auto term = weight / distance;
    values += term;
    slopes += term / distance;
  };
  std::int64_t n = 0;
  for (; n + kLanes<double> <= count; n += kLanes<double>) add(load(poles + n), load(weights + n));
  double value = 0;
  double slope = 0;
  for (std::int64_t lane = 0; lane < kLanes<double>; ++lane) {
    value += values[lane];
    slope += slopes[lane];
  }
  for (; n < count; ++n) {
    const auto distance = poles[n] - x;
    const auto term = weights[n] / distance;
    value += term;
    slope += term / distance;
  }
  sums[0] = value;
  sums[1] = slope;
}

}  // namespace

FactorTable factor_table() { return {.factor_strip = factor_strip, .add_pole_terms = add_pole_terms}; }

}  // namespace eindb::EINDB_LEVEL
