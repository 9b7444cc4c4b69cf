#include "bench/redistribution_contest.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "common/check.hpp"
#include "common/stopwatch.hpp"
#include "executor/redistribution_run.hpp"

namespace eindb::bench {
namespace {

constexpr int kRuns = 7;

Exchange::Group everyone(const Exchange& exchange) {
  Exchange::Group group(exchange.size());
  std::iota(group.begin(), group.end(), Rank{0});
  return group;
}

// What each rank says, in the order of ranks.
std::vector<double> all_of(Exchange& exchange, double mine) {
  std::vector<double> all(exchange.size());
  exchange.all_gather(everyone(exchange), std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

// Until the slowest rank has ended.
double seconds_of(Exchange& exchange, const std::function<void()>& work) {
  exchange.barrier(everyone(exchange));
  const Stopwatch watch;
  work();
  const auto all = all_of(exchange, watch.seconds());
  return *std::max_element(all.begin(), all.end());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::optional<Tile> block_of(const RedistributionPlan& plan, const BlockPlacement& placement, Rank rank) {
  if (!placement.at[rank]) return std::nullopt;
  auto tile = Tile::uninitialized(DType::Float32, shape_of(block_box(plan.shape, placement, rank)));
  std::fill_n(tile.mutable_data<float>(), tile.shape().element_count(), static_cast<float>(rank));
  return tile;
}

RunFigures run(const RedistributionPlan& plan, Exchange& exchange) {
  auto block = block_of(plan, plan.source, exchange.rank());
  std::int64_t received = 0;
  const auto seconds = seconds_of(exchange, [&] {
    const auto at_start = exchange.counters().bytes_received;
    run_redistribution(plan, DType::Float32, std::move(block), exchange);
    received = exchange.counters().bytes_received - at_start;
  });
  const auto all = all_of(exchange, static_cast<double>(received));
  return {std::accumulate(all.begin(), all.end(), 0.0), seconds};
}

// Runs take turns, so that what else the machine does meets all plans alike.
std::vector<RunFigures> run_in_turns(const std::vector<RedistributionPlan>& plans, Exchange& exchange) {
  std::vector<std::vector<double>> seconds(plans.size());
  std::vector<RunFigures> out(plans.size());
  for (int n = 0; n < kRuns; ++n) {
    for (std::size_t p = 0; p < plans.size(); ++p) {
      out[p] = run(plans[p], exchange);
      seconds[p].push_back(out[p].seconds);
    }
  }
  for (std::size_t p = 0; p < plans.size(); ++p) out[p].seconds = median(std::move(seconds[p]));
  return out;
}

double gather_seconds(Exchange& exchange, const Exchange::Group& group, std::size_t bytes) {
  const bool is_member = std::find(group.begin(), group.end(), exchange.rank()) != group.end();
  const std::vector<std::byte> mine(bytes);
  std::vector<std::byte> all(bytes * group.size());
  std::vector<double> seconds;
  for (int n = 0; n < kRuns; ++n) {
    seconds.push_back(seconds_of(exchange, [&] {
      if (is_member) exchange.all_gather(group, mine, all);
    }));
  }
  return median(std::move(seconds));
}

}  // namespace

CollectiveLatency measured_latency(Exchange& exchange) {
  constexpr std::size_t kElements = std::size_t{1} << 20U;
  const auto ranks = static_cast<double>(exchange.size());
  CHECK(ranks > 2, "latency is measured among two ranks and among more");
  const auto two = gather_seconds(exchange, {0, 1}, 8);
  const auto all = gather_seconds(exchange, everyone(exchange), 8);
  const auto large = gather_seconds(exchange, everyone(exchange), kElements * sizeof(float));
  const auto elements_per_second = ranks * static_cast<double>(kElements) / std::max(1e-9, large - all);
  const auto per_peer = std::max(0.0, (all - two) / (ranks - 2));
  return {std::max(0.0, two - per_peer) * elements_per_second, per_peer * elements_per_second};
}

std::vector<ContestRound> run_contest(const std::vector<testing::RedistributionProblem>& problems,
                                      const CollectiveLatency& latency, Exchange& exchange) {
  std::vector<ContestRound> rounds;
  for (const auto& [source, target] : problems) {
    const auto shape = source.global_shape();
    auto fallback = *gather_then_slice(shape, source.placement(), target.placement(), latency);
    auto quickest = plan_redistribution(source, target, {latency, shape.element_count()});
    const bool is_fallback = quickest == fallback;
    std::vector<RedistributionPlan> plans{std::move(fallback), plan_redistribution(source, target)};
    if (!is_fallback) plans.push_back(std::move(quickest));
    const auto figures = run_in_turns(plans, exchange);
    rounds.push_back({figures[0], figures[1], is_fallback ? figures[0] : figures[2]});
  }
  return rounds;
}

}  // namespace eindb::bench
