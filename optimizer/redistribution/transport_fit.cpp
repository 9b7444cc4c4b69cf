#include "optimizer/redistribution/transport_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::size_t kCosts = kTransportCosts.size();
using Row = std::array<double, kCosts>;

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t k = 0; k < kCosts; ++k) sum += a[k] * b[k];
  return sum;
}

Row values_of(const TransportCosts& costs) {
  Row values{};
  for (std::size_t k = 0; k < kCosts; ++k) values[k] = costs.*kTransportCosts[k].value;
  return values;
}

double seconds_of(const BlockExchange& exchange, bool by_collectives, const TransportCosts& costs) {
  const auto both = forecast(exchange, costs, std::numeric_limits<double>::max());
  CHECK(!by_collectives || both.sequence, "an exchange by collectives has a sequence of them");
  return by_collectives ? both.sequence_seconds : both.pieces_seconds;
}

}  // namespace

// The prediction is linear in the costs while the same rank is the slowest and the same sequence the quickest.
ExchangeSample counted(const BlockExchange& exchange, bool by_collectives, const TransportCosts& costs) {
  constexpr double kStep = 1e-3;
  const auto seconds = seconds_of(exchange, by_collectives, costs);
  ExchangeSample sample;
  for (std::size_t k = 0; k < kCosts; ++k) {
    auto more = costs;
    auto& value = more.*kTransportCosts[k].value;
    CHECK(value > 0, "every cost of a transport is positive");
    const auto step = kStep * value;
    value += step;
    sample.counts[k] = std::max(0.0, (seconds_of(exchange, by_collectives, more) - seconds) / step);
  }
  return sample;
}

TransportCosts fit_transport(std::span<const ExchangeSample> samples, const TransportCosts& prior) {
  constexpr double kPriorWeight = 0.001;  // of the prior's six costs together, relative to the samples
  constexpr double kLeast = 0.01;         // of the prior times the factor
  constexpr int kSweeps = 2000;
  if (samples.empty()) return prior;
  const auto costs = values_of(prior);
  double log_ratio = 0;
  for (const auto& sample : samples) {
    const auto predicted = dot(sample.counts, costs);
    CHECK(sample.seconds > 0 && predicted > 0, "an exchange takes time");
    log_ratio += std::log(sample.seconds / predicted);
  }
  const auto factor = std::exp(log_ratio / static_cast<double>(samples.size()));

  // Minimises |A x - 1|^2 + w |x - 1|^2, where x is relative to the prior times the factor, coordinate by coordinate.
  std::vector<Row> a;
  for (const auto& sample : samples) {
    auto& row = a.emplace_back();
    for (std::size_t k = 0; k < kCosts; ++k) row[k] = sample.counts[k] * costs[k] * factor / sample.seconds;
  }
  const auto weight = kPriorWeight * static_cast<double>(samples.size()) / kCosts;
  Row x;
  x.fill(1);
  for (int sweep = 0; sweep < kSweeps; ++sweep)
    for (std::size_t k = 0; k < kCosts; ++k) {
      double gradient = weight * (x[k] - 1);
      double curvature = weight;
      for (const auto& row : a) {
        gradient += row[k] * (dot(row, x) - 1);
        curvature += row[k] * row[k];
      }
      x[k] = std::max(kLeast, x[k] - gradient / curvature);
    }
  TransportCosts fitted;
  for (std::size_t k = 0; k < kCosts; ++k) fitted.*kTransportCosts[k].value = x[k] * costs[k] * factor;
  return fitted;
}

}  // namespace eindb
