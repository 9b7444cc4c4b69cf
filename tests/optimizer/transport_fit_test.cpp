#include "optimizer/redistribution/transport_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/optimizer/random_redistribution.hpp"

namespace eindb {
namespace {

constexpr double kUnlimited = 1e300;
const TransportCosts kTrue{90e-6, 30e-6, 8e-9, 0.4e-9, 11e-6, 200e-6};

// The exchanges of random redistributions over eight ranks, one tile to a block.
class Exchanges {
 public:
  Exchanges() {
    testing::RandomRedistributions random(Mesh::parse("{x:2, y:2, z:2}"), 11);
    for (const double kilobytes : {16.0, 256.0, 4096.0})
      for (int n = 0; n < 40; ++n) add(random.next(kilobytes * 1024));
  }

  template <class Use>
  void for_each(Use use) const {
    for (const auto& [shape, from, to] : problems_) {
      const TileGrid from_grid(shape, from.parts);
      const TileGrid to_grid(shape, to.parts);
      const BlockExchange exchange{from_grid, from, to_grid, to, DType::Float64};
      const auto both = forecast(exchange, kTrue, kUnlimited);
      use(exchange, false, both.pieces_seconds);
      if (both.sequence) use(exchange, true, both.sequence_seconds);
    }
  }

 private:
  struct Problem {
    Shape shape;
    BlockPlacement from;
    BlockPlacement to;
  };

  void add(const testing::RedistributionProblem& problem) {
    const auto shape = problem.source.global_shape();
    auto from = problem.source.placement();
    auto to = problem.target.placement();
    if (moved_elements(shape, from, to).received == 0) return;
    problems_.push_back({shape, std::move(from), std::move(to)});
  }

  std::vector<Problem> problems_;
};

TEST(TransportFit, CountsTimesCostsAreThePrediction) {
  Exchanges().for_each([](const BlockExchange& exchange, bool by_collectives, double seconds) {
    const auto sample = counted(exchange, by_collectives, kTrue);
    double sum = 0;
    for (std::size_t k = 0; k < kTransportCosts.size(); ++k) sum += sample.counts[k] * kTrue.*kTransportCosts[k].value;
    EXPECT_NEAR(sum, seconds, 1e-6 * seconds);
  });
}

// The prior knows nothing of a transport that is many times slower in some respects; its samples do.
TEST(TransportFit, FindsTheCostsBehindTheSeconds) {
  std::vector<ExchangeSample> samples;
  Exchanges().for_each([&](const BlockExchange& exchange, bool by_collectives, double seconds) {
    samples.push_back(counted(exchange, by_collectives, kTrue));
    samples.back().seconds = seconds;
  });
  ASSERT_GT(samples.size(), 100U);
  const auto fitted = fit_transport(samples, TransportCosts::of_tcp());
  double squares = 0;
  for (const auto& sample : samples) {
    double predicted = 0;
    for (std::size_t k = 0; k < kTransportCosts.size(); ++k)
      predicted += sample.counts[k] * fitted.*kTransportCosts[k].value;
    squares += std::pow(predicted / sample.seconds - 1, 2);
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(samples.size())), 0.1);
  EXPECT_NEAR(fitted.per_byte, kTrue.per_byte, 0.15 * kTrue.per_byte);
}

// Exchanges of one kind cannot tell the costs apart: all of them change by one factor, as far as samples agree.
TEST(TransportFit, KeepsTheRatiosOfThePriorWhereSamplesDoNotTell) {
  ExchangeSample sample;
  for (std::size_t k = 0; k < kTransportCosts.size(); ++k)
    sample.counts[k] = 1 / (TransportCosts::of_tcp().*kTransportCosts[k].value);
  sample.seconds = 3 * 6;
  const std::vector<ExchangeSample> samples(5, sample);
  const auto fitted = fit_transport(samples, TransportCosts::of_tcp());
  for (const auto& cost : kTransportCosts)
    EXPECT_NEAR(fitted.*cost.value, 3 * TransportCosts::of_tcp().*cost.value, 1e-9) << cost.name;
  EXPECT_EQ(fit_transport({}, TransportCosts::of_mpi()), TransportCosts::of_mpi());
}

}  // namespace
}  // namespace eindb
