// Contraction paths on generated networks: log10 of the flops that each optimizer finds, and the time it takes.
// Figures are deterministic, times are of this machine.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>

#include "common/error.hpp"
#include "optimizer/path_optimizer.hpp"
#include "optimizer/stopwatch.hpp"

namespace {

using eindb::ContractionProblem;
using eindb::Error;
using eindb::PathOptimizer;
using eindb::PathSearch;
using eindb::Stopwatch;
using Random = std::mt19937_64;

struct Network {
  std::string name;
  ContractionProblem problem;
  bool counts = false;  // for the mean of the target: random regular, lattice and hyperedge networks from 50 operands
};

ContractionProblem empty(std::size_t operands) { return {std::vector<std::vector<std::size_t>>(operands), {}, {}}; }

void connect(ContractionProblem& problem, const std::vector<std::size_t>& operands, std::int64_t extent) {
  for (const auto operand : operands) problem.operands[operand].push_back(problem.extents.size());
  problem.extents.push_back(extent);
}

Network chain(std::size_t n) {
  Random random(n);
  auto problem = empty(n);
  const auto extent = [&] { return static_cast<std::int64_t>(2 + random() % 50); };
  for (std::size_t o = 0; o + 1 < n; ++o) connect(problem, {o, o + 1}, extent());
  for (const auto end : {std::size_t{0}, n - 1}) {
    problem.output.push_back(problem.extents.size());
    connect(problem, {end}, extent());
  }
  return {"chain " + std::to_string(n), problem};
}

// Stubs are paired at random until no operand meets itself or another one twice.
Network regular(std::size_t n, std::size_t degree, std::uint64_t seed) {
  Random random(seed);
  for (;;) {
    std::vector<std::size_t> stubs;
    for (std::size_t o = 0; o < n; ++o) stubs.insert(stubs.end(), degree, o);
    std::shuffle(stubs.begin(), stubs.end(), random);
    auto problem = empty(n);
    std::vector<std::pair<std::size_t, std::size_t>> seen;
    for (std::size_t s = 0; s + 1 < stubs.size(); s += 2) {
      connect(problem, {stubs[s], stubs[s + 1]}, 2);
      seen.emplace_back(std::minmax(stubs[s], stubs[s + 1]));
    }
    std::sort(seen.begin(), seen.end());
    const bool simple = std::adjacent_find(seen.begin(), seen.end()) == seen.end() &&
                        std::none_of(seen.begin(), seen.end(), [](auto e) { return e.first == e.second; });
    if (simple) return {std::to_string(degree) + "-regular " + std::to_string(n), problem, n >= 50};
  }
}

Network lattice(std::size_t rows, std::size_t columns, std::int64_t bond) {
  auto problem = empty(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const auto o = r * columns + c;
      if (c + 1 < columns) connect(problem, {o, o + 1}, bond);
      if (r + 1 < rows) connect(problem, {o, o + columns}, bond);
    }
  }
  return {"lattice " + std::to_string(rows) + "x" + std::to_string(columns), problem, rows * columns >= 50};
}

Network tree(std::size_t n) {
  Random random(n);
  auto problem = empty(n);
  for (std::size_t o = 1; o < n; ++o) connect(problem, {o, random() % o}, static_cast<std::int64_t>(2 + random() % 6));
  return {"tree " + std::to_string(n), problem};
}

// <a|b> of two matrix product states of n sites.
Network mps(std::size_t n) {
  auto problem = empty(2 * n);
  for (std::size_t o = 0; o < n; ++o) {
    connect(problem, {o, n + o}, 2);
    if (o + 1 == n) continue;
    connect(problem, {o, o + 1}, 16);
    connect(problem, {n + o, n + o + 1}, 16);
  }
  return {"mps " + std::to_string(n) + " sites", problem};
}

// Labels of two to five operands each, three per operand on the average.
Network hyperedges(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  auto problem = empty(n);
  std::size_t places = 0;
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  while (places < 3 * n) {
    std::vector<std::size_t> holders;
    std::sample(all.begin(), all.end(), std::back_inserter(holders), static_cast<long>(2 + random() % 4), random);
    connect(problem, holders, static_cast<std::int64_t>(2 + random() % 2));
    places += holders.size();
  }
  return {"hyperedges " + std::to_string(n), problem, n >= 50};
}

std::vector<Network> networks() {
  std::vector<Network> out{
      chain(15),  chain(60),   regular(14, 4, 14), regular(26, 3, 26), hyperedges(15, 15), lattice(4, 4, 2),
      chain(100), chain(1000), chain(100000),      tree(50),           tree(300),          mps(20),
      mps(100)};
  for (const std::size_t n : {20, 50, 100, 200, 400}) out.push_back(regular(n, 3, n));
  for (const std::size_t n : {50, 100}) out.push_back(regular(n, 4, n));
  out.push_back(lattice(5, 5, 2));
  out.push_back(lattice(8, 8, 2));
  out.push_back(lattice(12, 12, 2));
  out.push_back(lattice(20, 20, 2));
  for (const std::size_t n : {20, 50, 100, 200}) out.push_back(hyperedges(n, n));
  return out;
}

// log10 of the flops, and the seconds; "-" where the optimizer gives up.
struct Outcome {
  double log_flops = NAN;
  double seconds = 0;
};

Outcome run(const ContractionProblem& problem, PathOptimizer optimizer, double seconds) {
  const Stopwatch watch;
  PathSearch search({optimizer, seconds});
  Outcome out;
  try {
    out.log_flops = std::log10(search.find(problem).flops);
  } catch (const Error&) {
  }
  out.seconds = watch.seconds();
  return out;
}

void print(const Outcome& outcome) {
  if (std::isnan(outcome.log_flops)) std::printf("       - %8.3f", outcome.seconds);
  else std::printf("%8.3f %8.3f", outcome.log_flops, outcome.seconds);
}

}  // namespace

// Usage: paths [SECONDS], the budget of auto and anneal; 1 if not given.
int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1;
  std::printf("%-16s %17s %17s %17s %17s\n", "log10(flops), s", "greedy", "auto", "anneal", "optimal");
  double gain = 0;
  int counted = 0;
  bool worse = false;
  for (const auto& [name, problem, counts] : networks()) {
    const auto greedy = run(problem, PathOptimizer::Greedy, seconds);
    const auto automatic = run(problem, PathOptimizer::Auto, seconds);
    std::printf("%-16s ", name.c_str());
    print(greedy);
    print(automatic);
    print(run(problem, PathOptimizer::Anneal, seconds));
    print(run(problem, PathOptimizer::Optimal, seconds));
    std::printf("\n");
    worse = worse || automatic.log_flops > greedy.log_flops;
    if (counts) gain += greedy.log_flops - automatic.log_flops;
    counted += counts ? 1 : 0;
  }
  std::printf("auto below greedy by %.3f on the mean of %d random regular, lattice and hyperedge networks%s\n",
              gain / counted, counted, worse ? "; ABOVE GREEDY somewhere" : ", never above it");
  return worse ? 1 : 0;
}
