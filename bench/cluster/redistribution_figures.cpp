#include "bench/cluster/redistribution_figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "bench/redistribution_contest.hpp"

namespace eindb::bench {

namespace {

constexpr std::uint64_t kSeed = 2023;
constexpr double kMostOverFallback = 1.1;

std::vector<testing::RedistributionProblem> problems_of(const RedistributionContest& contest) {
  testing::RandomRedistributions random(Mesh::parse("{x:2, y:2, z:2}"), kSeed);
  std::vector<testing::RedistributionProblem> problems;
  while (problems.size() < contest.problems) {
    auto problem = random.next(contest.megabytes * 1e6);
    if (plan_redistribution(problem.source, problem.target)->cost() > 0) problems.push_back(std::move(problem));
  }
  return problems;
}

template <class F>
double geometric_mean(const std::vector<ContestRound>& rounds, F ratio_of) {
  double sum_of_logs = 0;
  for (const auto& round : rounds) sum_of_logs += std::log(ratio_of(round));
  return std::exp(sum_of_logs / static_cast<double>(rounds.size()));
}

double gain_by_costs(const ContestRound& round) { return round.fallback.seconds / round.quickest.seconds; }

nlohmann::ordered_json figures_of(const std::vector<testing::RedistributionProblem>& problems,
                                  const std::vector<ContestRound>& rounds) {
  const auto worst = std::ranges::min_element(rounds, {}, gain_by_costs);
  const auto& problem = problems[static_cast<std::size_t>(worst - rounds.begin())];
  return {{"bytes", geometric_mean(rounds, [](auto& r) { return r.fallback.bytes / r.plan.bytes; })},
          {"time", geometric_mean(rounds, [](auto& r) { return r.fallback.seconds / r.plan.seconds; })},
          {"time_by_costs", geometric_mean(rounds, gain_by_costs)},
          {"least_time_by_costs", gain_by_costs(*worst)},
          {"slower", std::ranges::count_if(rounds, [](auto& r) { return gain_by_costs(r) < 1 / kMostOverFallback; })},
          {"worst", problem.source.to_string() + " -> " + problem.target.to_string()},
          {"worst_seconds", worst->quickest.seconds},
          {"worst_fallback_seconds", worst->fallback.seconds}};
}

}  // namespace

RedistributionContest RedistributionContest::of(int argc, char** argv) {
  RedistributionContest contest;
  if (argc > 1) contest.megabytes = std::atof(argv[1]);
  if (argc > 2) contest.problems = static_cast<std::size_t>(std::atoi(argv[2]));
  return contest;
}

void print_redistribution_figures(const RedistributionContest& contest, Exchange& exchange) {
  const auto problems = problems_of(contest);
  const auto costs = measured_costs(exchange);
  const auto rounds = run_contest(problems, costs, exchange);
  if (exchange.rank() != 0) return;
  auto figures = figures_of(problems, rounds);
  figures["costs"] = {{"collective", costs.per_collective},
                      {"peer", costs.per_peer},
                      {"kept element", costs.per_kept_element},
                      {"packed element", costs.per_packed_element}};
  std::printf("%s\n", figures.dump().c_str());
}

}  // namespace eindb::bench
