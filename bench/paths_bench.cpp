// Contraction paths on generated networks: log10 of the flops that each optimizer finds, and its time. Figures are
// deterministic except for times.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/networks.hpp"
#include "common/error.hpp"
#include "common/stopwatch.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/path_optimizer.hpp"

namespace {

using eindb::ContractionProblem;
using eindb::Error;
using eindb::PathObjective;
using eindb::PathOptimizer;
using eindb::PathSearch;
using eindb::Stopwatch;

// log10 of the objective's primary quantity, and the seconds; "-" if the optimizer gives up.
struct Outcome {
  double log_value = NAN;
  double seconds = 0;
};

Outcome run(const ContractionProblem& problem, PathOptimizer optimizer, double seconds,
            const PathObjective& objective) {
  const Stopwatch watch;
  PathSearch search({.optimizer = optimizer, .seconds = seconds, .objective = objective});
  Outcome out;
  try {
    const auto path = search.find(problem);
    const auto value = eindb::value_of(path, objective);
    out.log_value = std::log10(objective.by_size ? value.largest : value.work);
  } catch (const Error&) {
  }
  out.seconds = watch.seconds();
  return out;
}

void print(const Outcome& outcome) {
  if (std::isnan(outcome.log_value)) std::printf("       - %8.3f", outcome.seconds);
  else std::printf("%8.3f %8.3f", outcome.log_value, outcome.seconds);
}

// Returns whether the target holds: auto is never worse than greedy.
bool print_networks(double seconds, const PathObjective& objective) {
  std::printf("%-16s %17s %17s %17s %17s\n", ("log10(" + eindb::name_of(objective) + "), s").c_str(), "greedy", "auto",
              "anneal", "optimal");
  double gain = 0;
  int counted = 0;
  bool worse = false;
  for (const auto& [name, problem, counts] : eindb::bench::benchmark_networks()) {
    const auto greedy = run(problem, PathOptimizer::Greedy, seconds, objective);
    const auto automatic = run(problem, PathOptimizer::Auto, seconds, objective);
    std::printf("%-16s ", name.c_str());
    print(greedy);
    print(automatic);
    print(run(problem, PathOptimizer::Anneal, seconds, objective));
    print(run(problem, PathOptimizer::Optimal, seconds, objective));
    std::printf("\n");
    worse = worse || automatic.log_value > greedy.log_value + 1e-9;
    if (counts) gain += greedy.log_value - automatic.log_value;
    counted += counts ? 1 : 0;
  }
  std::printf("auto below greedy by %.3f on the mean of %d random regular, lattice and hyperedge networks%s\n",
              gain / counted, counted, worse ? "; ABOVE GREEDY somewhere" : ", never above it");
  return !worse;
}

void print_optimal(const PathObjective& objective) {
  double longest = 0;
  for (const auto& network : eindb::bench::networks_of_15())
    longest = std::max(longest, run(network.problem, PathOptimizer::Optimal, 0, objective).seconds);
  std::printf("optimal for 15 operands: %.1f ms at most\n", 1000 * longest);
}

void print_greedy() {
  std::printf("greedy, seconds\n");
  for (const std::size_t operands : {10'000, 30'000, 100'000}) {
    for (const auto& [name, problem, counts] : eindb::bench::networks_at_scale(operands)) {
      const Stopwatch watch;
      const auto steps = eindb::greedy_pairs(problem, {}).size();
      std::printf("%-20s %8zu steps %8.3f\n", name.c_str(), steps, watch.seconds());
    }
  }
}

}  // namespace

// Usage: paths [SECONDS [OBJECTIVE]]: the budget of auto and anneal, by default 1, and their objective.
int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
  const auto objective = eindb::parse_path_objective(argc > 2 ? argv[2] : "flops");
  const bool holds = print_networks(seconds, objective);
  print_optimal(objective);
  print_greedy();
  return holds ? 0 : 1;
}
