#include "bench/redistribution_contest.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

#include "bench/median.hpp"
#include "common/check.hpp"
#include "executor/block_copy.hpp"
#include "executor/redistribution_run.hpp"

namespace eindb::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The minimum number of runs of each plan; more follow as long as the problem's time, in seconds, is not used up.
constexpr std::size_t kLeastRuns = 5;
constexpr std::size_t kMostRuns = 41;
constexpr double kSecondsPerProblem = 0.5;
constexpr std::int64_t kElementsPerRun = std::int64_t{4} << 20U;

Exchange::Group everyone(const Exchange& exchange) {
  Exchange::Group group(exchange.size());
  std::iota(group.begin(), group.end(), Rank{0});
  return group;
}

// The values of all ranks, in the order of ranks.
std::vector<double> all_of(Exchange& exchange, double mine) {
  std::vector<double> all(exchange.size());
  exchange.all_gather(everyone(exchange), std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

// From the first rank's begin to the slowest rank's end, by the clock of the machine that all ranks share. If they
// share its cores too, some begin after others have ended.
double seconds_of(Exchange& exchange, const std::function<void()>& work) {
  const auto now = [] { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); };
  exchange.barrier(everyone(exchange));
  const auto begin = now();
  work();
  const auto end = now();
  const auto begins = all_of(exchange, begin);
  const auto ends = all_of(exchange, end);
  return *std::max_element(ends.begin(), ends.end()) - *std::min_element(begins.begin(), begins.end());
}

// Whether the plans are equal apart from their predicted costs.
bool is_same(const RedistributionPlan& a, const RedistributionPlan& b) {
  return a.source == b.source && std::ranges::equal(a.steps, b.steps, [](const auto& x, const auto& y) {
           return x.collective == y.collective && x.result == y.result;
         });
}

std::optional<Tile> block_of(const RedistributionPlan& plan, const BlockPlacement& placement, Rank rank) {
  if (!placement.at[rank]) return std::nullopt;
  auto tile = Tile::uninitialized(DType::Float32, shape_of(block_box(plan.shape, placement, rank)));
  std::fill_n(tile.mutable_data<float>(), tile.shape().element_count(), static_cast<float>(rank));
  return tile;
}

// Small tensors are moved several times in a row, so that different starting times of ranks do not matter.
std::int64_t times_of(const RedistributionPlan& plan) {
  return std::clamp<std::int64_t>(kElementsPerRun / plan.shape.element_count(), 1, 64);
}

RunFigures run(const RedistributionPlan& plan, Exchange& exchange) {
  const auto times = times_of(plan);
  std::vector<std::optional<Tile>> blocks;
  for (std::int64_t n = 0; n < times; ++n) blocks.push_back(block_of(plan, plan.source, exchange.rank()));
  std::int64_t received = 0;
  const auto seconds = seconds_of(exchange, [&] {
    const auto at_start = exchange.counters().bytes_received;
    for (auto& block : blocks) run_redistribution(plan, DType::Float32, std::move(block), exchange);
    received = exchange.counters().bytes_received - at_start;
  });
  const auto all = all_of(exchange, static_cast<double>(received));
  const auto count = static_cast<double>(times);
  return {std::accumulate(all.begin(), all.end(), 0.0) / count, seconds / count};
}

// Runs of the plans alternate, so that other load on the machine affects all plans equally. All ranks count the same
// seconds.
std::vector<RunFigures> run_in_turns(const std::vector<RedistributionPlan>& plans, Exchange& exchange) {
  std::vector<std::vector<double>> seconds(plans.size());
  std::vector<RunFigures> out(plans.size());
  double spent = 0;
  for (std::size_t n = 0; n < kMostRuns && (n < kLeastRuns || spent < kSecondsPerProblem); ++n) {
    for (std::size_t p = 0; p < plans.size(); ++p) {
      out[p] = run(plans[p], exchange);
      seconds[p].push_back(out[p].seconds);
      spent += out[p].seconds * static_cast<double>(times_of(plans[p]));
    }
  }
  for (std::size_t p = 0; p < plans.size(); ++p) out[p].seconds = median(std::move(seconds[p]));
  return out;
}

// Operations that all ranks run at the same time, each within its group.
class Trials {
 public:
  explicit Trials(Exchange& exchange) : exchange_(exchange) {}

  // Seconds of consecutive allgathers, each with other groups than the one before if there are any. Each leaves every
  // rank with the given number of elements.
  double gather_seconds(int gathers, std::size_t members, std::size_t elements) {
    auto all = tile_of({elements});
    const auto mine = tile_of({elements / members});
    return median_seconds([&] {
      for (int n = 0; n < gathers; ++n) exchange_.all_gather(group(members, n), mine.bytes(), all.mutable_bytes());
    });
  }

  // Seconds of a small allgather after another one, whose ranks start at different moments.
  double latency(std::size_t members) {
    constexpr std::size_t kElements = std::size_t{4} << 10U;  // of each member
    return (gather_seconds(1 + kChain, members, members * kElements) -
            gather_seconds(1, members, members * kElements)) /
           kChain;
  }

  // Seconds of copying elements in rows that are not adjacent.
  double copy_seconds(std::size_t elements, std::size_t row) {
    const auto rows = static_cast<std::int64_t>(elements / row);
    const IndexBox block{{0, rows}, {0, static_cast<std::int64_t>(2 * row)}};
    const IndexBox piece{{0, rows}, {0, static_cast<std::int64_t>(row)}};
    const auto from = tile_of({elements / row, 2 * row});
    auto to = tile_of({elements});
    return median_seconds([&] {
      copy_part({piece, to.mutable_bytes()}, {block, from.bytes()}, piece, DType::Float32);
    });
  }

 private:
  static constexpr int kChain = 8;

  // The group of this rank in the n-th gather: neighbouring ranks, or ranks as far apart as possible.
  Exchange::Group group(std::size_t members, int n) const {
    const auto groups = exchange_.size() / members;
    Exchange::Group group(members);
    for (std::size_t m = 0; m < members; ++m)
      group[m] = static_cast<Rank>(n % 2 == 0 ? exchange_.rank() / members * members + m
                                              : exchange_.rank() % groups + m * groups);
    return group;
  }

  // A tile whose pages are resident.
  static Tile tile_of(const std::vector<std::size_t>& extents) {
    auto tile = Tile::uninitialized(DType::Float32, Shape({extents.begin(), extents.end()}));
    std::fill_n(tile.mutable_data<float>(), tile.shape().element_count(), 1.0F);
    return tile;
  }

  double median_seconds(const std::function<void()>& operation) {
    constexpr int kRuns = 15;
    std::vector<double> seconds;
    for (int n = 0; n < kRuns; ++n) seconds.push_back(seconds_of(exchange_, operation));
    return median(std::move(seconds));
  }

  Exchange& exchange_;
};

}  // namespace

CollectiveCosts measured_costs(Exchange& exchange) {
  constexpr std::size_t kElements = std::size_t{8} << 20U;
  constexpr std::size_t kPackedRow = 64;
  const auto ranks = static_cast<double>(exchange.size());
  CHECK(exchange.size() > 2 && exchange.size() % 2 == 0, "costs are measured among pairs and among more ranks");
  Trials trials(exchange);
  const auto latency_of_two = trials.latency(2);
  const auto latency_of_all = trials.latency(exchange.size());
  const auto packed = trials.copy_seconds(kElements, kPackedRow) / kElements;
  const auto kept = trials.copy_seconds(kElements, kElements) / kElements;
  // An allgather of n elements among g ranks takes latency(g) + n / g * kept + (n - n / g) * received.
  const auto gathered = (trials.gather_seconds(1, exchange.size(), kElements) - latency_of_all) / kElements;
  const auto received = std::max(1e-12, (gathered - kept / ranks) / (1 - 1 / ranks));
  const auto per_peer = std::max(0.0, (latency_of_all - latency_of_two) / (ranks - 2));
  const auto per_collective = std::max(0.0, latency_of_two - per_peer);
  return {per_collective / received, per_peer / received, kept / received, packed / received};
}

std::vector<ContestRound> run_contest(const std::vector<testing::RedistributionProblem>& problems,
                                      const CollectiveCosts& costs, Exchange& exchange) {
  std::vector<ContestRound> rounds;
  for (const auto& [source, target] : problems) {
    const auto shape = source.global_shape();
    std::vector<RedistributionPlan> plans;  // each once: two runs of one differ by chance
    const auto enter = [&](RedistributionPlan plan) {
      const auto known = std::find_if(plans.begin(), plans.end(), [&](const auto& p) { return is_same(p, plan); });
      const auto place = static_cast<std::size_t>(known - plans.begin());
      if (known == plans.end()) plans.push_back(std::move(plan));
      return place;
    };
    const auto fallback = enter(*gather_then_slice(shape, source.placement(), target.placement()));
    const auto plan = enter(*plan_redistribution(source, target));
    const auto quickest = enter(*plan_redistribution(source, target, {costs, shape.element_count()}));
    const auto figures = run_in_turns(plans, exchange);
    rounds.push_back({figures[fallback], figures[plan], figures[quickest]});
  }
  return rounds;
}

}  // namespace eindb::bench
