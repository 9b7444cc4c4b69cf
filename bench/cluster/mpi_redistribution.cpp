// mpirun -n 8 build/bench/cluster/mpi_redistribution [MEGABYTES [PROBLEMS]]: random redistributions over {x:2, y:2,
// z:2} by MPI, against "allgather everything, then dynslice"; bytes that ranks receive and times. 64 megabytes per
// tensor, 40 problems in which something moves.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bench/cluster/mpi_ranks.hpp"
#include "bench/redistribution_contest.hpp"

namespace eindb::bench {

namespace {

std::vector<testing::RedistributionProblem> problems_of(double megabytes, std::size_t count) {
  testing::RandomRedistributions random(Mesh::parse("{x:2, y:2, z:2}"), 2023);
  std::vector<testing::RedistributionProblem> problems;
  while (problems.size() < count) {
    auto problem = random.next(megabytes * 1e6);
    if (plan_redistribution(problem.source, problem.target).cost() > 0) problems.push_back(std::move(problem));
  }
  return problems;
}

/// The geometric mean of a ratio over the rounds, and the least.
template <class F>
void print_ratio(const char* name, const std::vector<ContestRound>& rounds, F ratio_of) {
  double sum_of_logs = 0;
  double least = INFINITY;
  for (const auto& round : rounds) {
    const double ratio = ratio_of(round);
    sum_of_logs += std::log(ratio);
    least = std::min(least, ratio);
  }
  std::printf("  %-40s %6.2f, at least %.2f\n", name, std::exp(sum_of_logs / static_cast<double>(rounds.size())),
              least);
}

void print(const std::vector<ContestRound>& rounds) {
  print_ratio("fallback over plan: bytes", rounds, [](auto& r) { return r.fallback.bytes / r.plan.bytes; });
  print_ratio("fallback over plan: time", rounds, [](auto& r) { return r.fallback.seconds / r.plan.seconds; });
  print_ratio("fallback over plan by latency: time", rounds,
              [](auto& r) { return r.fallback.seconds / r.quickest.seconds; });
}

/// Where the plan by latency, which has the fallback to choose from, does worst.
void print_worst(const std::vector<testing::RedistributionProblem>& problems, const std::vector<ContestRound>& rounds) {
  const auto ratio = [](const ContestRound& round) { return round.fallback.seconds / round.quickest.seconds; };
  const auto worst = std::ranges::min_element(rounds, {}, ratio);
  const auto& problem = problems[static_cast<std::size_t>(worst - rounds.begin())];
  std::printf("  worst: %s -> %s in %.2f ms, fallback %.2f ms\n", problem.source.to_string().c_str(),
              problem.target.to_string().c_str(), worst->quickest.seconds * 1e3, worst->fallback.seconds * 1e3);
}

}  // namespace

}  // namespace eindb::bench

int main(int argc, char** argv) {
  using namespace eindb::bench;
  const double megabytes = argc > 1 ? std::atof(argv[1]) : 64;
  const auto problems = problems_of(megabytes, argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 40);
  MpiRanks ranks;
  ranks.run([&](eindb::Exchange& exchange) {
    const auto latency = measured_latency(exchange);
    const auto rounds = run_contest(problems, latency, exchange);
    if (exchange.rank() != 0) return;
    std::printf("%zu ranks, %zu problems of %.0f MB; latency %.0f elements and %.0f per peer\n", ranks.size(),
                problems.size(), megabytes, latency.per_collective, latency.per_peer);
    print(rounds);
    print_worst(problems, rounds);
  });
  return 0;
}
