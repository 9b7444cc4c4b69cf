// Redistributions: plans for random problems as in section 8 of the array redistribution paper, compared with
// "allgather everything, then dynslice" as one allgather of all dimensions. First, plans are made and verified by the
// simulator, with deterministic figures except for times. Then a few problems are run on eight ranks that are threads
// of this process.
//
// Usage: redistribution [PROBLEMS [MEGABYTES]]: problems per mesh, by default 1000, and the size of the tensors that
// are run, by default 16. Exit status 1 if a deterministic target is missed.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "bench/exchange_contest.hpp"
#include "bench/redistribution_contest.hpp"
#include "common/error.hpp"
#include "executor/in_process_exchange.hpp"
#include "optimizer/redistribution/redistribution_simulator.hpp"

namespace {

using eindb::CollectiveCosts;
using eindb::Exchange;
using eindb::Mesh;
using eindb::RedistributionPlan;
using eindb::bench::ContestRound;
using eindb::testing::RandomRedistributions;
using eindb::testing::RedistributionProblem;

constexpr double kMostPlanningSeconds = 0.010;

bool all_hold = true;

// Records whether the target of a deterministic figure holds.
const char* verdict(bool holds) {
  all_hold = all_hold && holds;
  return holds ? "holds" : "DOES NOT HOLD";
}

// CPU seconds of this thread, which exclude interruptions by others.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Ratios {
  double sum_of_logs = 0;
  int count = 0;
  double most = 0;
  double least = INFINITY;

  void add(double ratio) {
    sum_of_logs += std::log(ratio);
    ++count;
    most = std::max(most, ratio);
    least = std::min(least, ratio);
  }
  double mean() const { return count == 0 ? 1 : std::exp(sum_of_logs / count); }
};

struct PlanningFigures {
  double seconds = 0;
  double most_seconds = 0;
  int proved = 0;
  int within_memory = 0;
  int never_dearer = 0;  // with latency, than the fallback
  Ratios cost;
  Ratios elements;  // received by the busiest rank
};

bool is_proved(const RedistributionPlan& plan, const RedistributionProblem& problem, std::int64_t memory) {
  try {
    return simulate(plan).peak <= memory && plan.target() == problem.target.placement();
  } catch (const eindb::Error& error) {
    std::printf("%s -> %s: %s\n", problem.source.to_string().c_str(), problem.target.to_string().c_str(),
                error.message().c_str());
    return false;
  }
}

void measure(const RedistributionProblem& problem, PlanningFigures& figures) {
  const auto& [source, target] = problem;
  const auto shape = source.global_shape();
  const auto start = cpu_seconds();
  const auto plan = *plan_redistribution(source, target);
  const auto seconds = cpu_seconds() - start;
  figures.seconds += seconds;
  figures.most_seconds = std::max(figures.most_seconds, seconds);

  const auto bound = std::max(source.local_size(), target.local_size());
  figures.within_memory += plan.peak() <= bound ? 1 : 0;
  figures.proved += is_proved(plan, problem, bound) ? 1 : 0;

  const auto fallback = gather_then_slice(shape, source.placement(), target.placement());
  if (plan.cost() > 0) {
    figures.cost.add(fallback->cost() / plan.cost());
    figures.elements.add(static_cast<double>(moved_elements(*fallback).most_received) /
                         static_cast<double>(moved_elements(plan).most_received));
  }
  const CollectiveCosts costs{static_cast<double>(shape.element_count()) / 4, 0};
  const auto quickest = *plan_redistribution(source, target, {costs, shape.element_count()});
  const auto slow_fallback = gather_then_slice(shape, source.placement(), target.placement(), costs);
  figures.never_dearer += quickest.cost() <= slow_fallback->cost() ? 1 : 0;
}

// The targets apply to the paper's problems: meshes of equal axes.
struct MeshCase {
  const char* mesh;
  double target;  // of the geometric mean; 0: none
};

void plan_problems(const MeshCase& c, int problems) {
  RandomRedistributions random(Mesh::parse(c.mesh), 2021);
  PlanningFigures figures;
  for (int n = 0; n < problems; ++n) measure(random.next(), figures);
  std::printf("%s: %d problems, in %d of them something moves\n", c.mesh, problems, figures.cost.count);
  std::printf("  planning: %.2f ms on average, %.2f ms at most (target 10: %s)\n", 1e3 * figures.seconds / problems,
              1e3 * figures.most_seconds, figures.most_seconds < kMostPlanningSeconds ? "met" : "NOT MET");
  std::printf("  within memory %d, proved by simulation %d: %s\n", figures.within_memory, figures.proved,
              verdict(figures.within_memory == problems && figures.proved == problems));
  std::printf("  cost of the fallback over the plan's: geometric mean %.2f, at most %.1f", figures.cost.mean(),
              figures.cost.most);
  if (c.target > 0) std::printf(" (target %.1f: %s)", c.target, verdict(figures.cost.mean() >= c.target));
  std::printf("\n  elements that the busiest rank receives: %.2f, at most %.1f\n", figures.elements.mean(),
              figures.elements.most);
  std::printf("  with latency, and memory for it, never dearer than the fallback: %s\n",
              verdict(figures.never_dearer == problems));
}

// Uneven extents: the bound holds all the same; occasionally it leaves no collectives.
void plan_uneven_problems(const char* mesh, int problems) {
  RandomRedistributions random(Mesh::parse(mesh), 2022);
  int proved = 0;
  int without = 0;
  for (int n = 0; n < problems; ++n) {
    const auto problem = random.next_uneven();
    const auto plan = plan_redistribution(problem.source, problem.target);
    if (!plan) ++without;
    else
      proved += is_proved(*plan, problem, std::max(problem.source.local_size(), problem.target.local_size())) ? 1 : 0;
  }
  std::printf("%s, uneven extents: proved within memory %d of %d, without collectives %d: %s\n", mesh, proved, problems,
              without, verdict(proved + without == problems));
}

void run_problems(double megabytes) {
  constexpr int kProblems = 40;
  RandomRedistributions random(Mesh::parse("{x:2, y:2, z:2}"), 2023);
  std::vector<RedistributionProblem> problems;
  while (problems.size() < kProblems) {
    auto problem = random.next(megabytes * 1e6);
    if (plan_redistribution(problem.source, problem.target)->cost() > 0) problems.push_back(std::move(problem));
  }
  auto exchanges = eindb::in_process_exchanges(8);
  std::vector<ContestRound> rounds;
  CollectiveCosts costs;
  const auto contest = [&](Exchange& exchange) {
    const auto measured = eindb::bench::measured_costs(exchange);
    auto out = eindb::bench::run_contest(problems, measured, exchange);
    if (exchange.rank() != 0) return;
    costs = measured;
    rounds = std::move(out);
  };
  {
    std::vector<std::jthread> ranks;
    for (auto& exchange : exchanges) ranks.emplace_back([&contest, &exchange] { contest(*exchange); });
  }
  Ratios bytes;
  Ratios seconds;
  Ratios quickest;
  for (const auto& round : rounds) {
    bytes.add(round.fallback.bytes / round.plan.bytes);
    seconds.add(round.fallback.seconds / round.plan.seconds);
    quickest.add(round.fallback.seconds / round.quickest.seconds);
  }
  std::printf("run on 8 threads, %d problems of %.0f MB; a collective costs %.0f elements and %.0f per peer\n",
              kProblems, megabytes, costs.per_collective, costs.per_peer);
  std::printf("  fallback over plan: bytes %.2f (target 3.0: %s), time %.2f\n", bytes.mean(),
              verdict(bytes.mean() >= 3), seconds.mean());
  std::printf("  fallback over plan by measured costs: time %.2f, at least %.2f\n", quickest.mean(), quickest.least);
}

// Steps of statements, in pieces and by collectives.
void run_as_statements(int problems) {
  auto exchanges = eindb::in_process_exchanges(8);
  std::vector<std::jthread> ranks;
  for (auto& exchange : exchanges)
    ranks.emplace_back(
        [&exchange, problems] { eindb::bench::print_exchange_contest(static_cast<std::size_t>(problems), *exchange); });
}

}  // namespace

int main(int argc, char** argv) {
  const int problems = argc > 1 ? std::atoi(argv[1]) : 1000;
  const double megabytes = argc > 2 ? std::atof(argv[2]) : 16;
  for (const auto& c : {MeshCase{"{x:2, y:2, z:2}", 3.0}, MeshCase{"{x:4, y:4, z:4}", 15.0},
                        MeshCase{"{x:2, y:4, z:8}", 0}, MeshCase{"{x:2, y:3, z:4}", 0}, MeshCase{"{x:6, y:4}", 0}})
    plan_problems(c, problems);
  for (const auto* mesh : {"{x:2, y:2, z:2}", "{x:2, y:3, z:4}"}) plan_uneven_problems(mesh, problems);
  run_problems(megabytes);
  run_as_statements(problems);
  return all_hold ? 0 : 1;
}
