#include "bench/networks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace eindb::bench {
namespace {

using Random = std::mt19937_64;

constexpr std::size_t kFewestThatCount = 50;

ContractionProblem empty(std::size_t operands) { return {std::vector<std::vector<std::size_t>>(operands), {}, {}}; }

void connect(ContractionProblem& problem, const std::vector<std::size_t>& operands, std::int64_t extent) {
  for (const auto operand : operands) problem.operands[operand].push_back(problem.extents.size());
  problem.extents.push_back(extent);
}

// The results of the standard library's shuffle and sample depend on the implementation; these are the same everywhere.
template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t n = values.size(); n > 1; --n) std::swap(values[n - 1], values[random() % n]);
}

std::vector<std::size_t> distinct(std::size_t count, std::size_t below, Random& random) {
  std::set<std::size_t> out;
  while (out.size() < count) out.insert(random() % below);
  return {out.begin(), out.end()};
}

using Edge = std::pair<std::size_t, std::size_t>;

// Stubs are paired at random. A pair that would connect an operand with itself, or two operands twice, swaps ends with
// a random pair.
std::vector<Edge> regular_edges(std::size_t n, std::size_t degree, Random& random) {
  std::vector<std::size_t> stubs;
  for (std::size_t o = 0; o < n; ++o) stubs.insert(stubs.end(), degree, o);
  shuffle(stubs, random);
  for (;;) {
    std::set<Edge> seen;
    bool simple = true;
    for (std::size_t s = 0; s + 1 < stubs.size(); s += 2) {
      if (stubs[s] != stubs[s + 1] && seen.insert(std::minmax(stubs[s], stubs[s + 1])).second) continue;
      std::swap(stubs[s], stubs[random() % stubs.size()]);
      simple = false;
    }
    if (simple) return {seen.begin(), seen.end()};
  }
}

}  // namespace

NamedNetwork chain(std::size_t n) {
  Random random(n);
  auto problem = empty(n);
  const auto extent = [&] { return static_cast<std::int64_t>(2 + random() % 50); };
  for (std::size_t o = 0; o + 1 < n; ++o) connect(problem, {o, o + 1}, extent());
  for (const auto end : {std::size_t{0}, n - 1}) {
    problem.output.push_back(problem.extents.size());
    connect(problem, {end}, extent());
  }
  return {"chain " + std::to_string(n), std::move(problem)};
}

NamedNetwork random_regular(std::size_t n, std::size_t degree, std::uint64_t seed) {
  Random random(seed);
  auto problem = empty(n);
  for (const auto& [a, b] : regular_edges(n, degree, random)) connect(problem, {a, b}, 2);
  return {std::to_string(degree) + "-regular " + std::to_string(n), std::move(problem), n >= kFewestThatCount};
}

NamedNetwork lattice(std::size_t rows, std::size_t columns, std::int64_t bond) {
  auto problem = empty(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const auto o = r * columns + c;
      if (c + 1 < columns) connect(problem, {o, o + 1}, bond);
      if (r + 1 < rows) connect(problem, {o, o + columns}, bond);
    }
  }
  return {"lattice " + std::to_string(rows) + "x" + std::to_string(columns), std::move(problem),
          rows * columns >= kFewestThatCount};
}

NamedNetwork tree(std::size_t n) {
  Random random(n);
  auto problem = empty(n);
  for (std::size_t o = 1; o < n; ++o) connect(problem, {o, random() % o}, static_cast<std::int64_t>(2 + random() % 6));
  return {"tree " + std::to_string(n), std::move(problem)};
}

NamedNetwork mps_inner_product(std::size_t sites) {
  auto problem = empty(2 * sites);
  for (std::size_t o = 0; o < sites; ++o) {
    connect(problem, {o, sites + o}, 2);
    if (o + 1 == sites) continue;
    connect(problem, {o, o + 1}, 16);
    connect(problem, {sites + o, sites + o + 1}, 16);
  }
  return {"mps " + std::to_string(sites) + " sites", std::move(problem)};
}

NamedNetwork hyperedges(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  auto problem = empty(n);
  for (std::size_t places = 0; places < 3 * n;) {
    const auto holders = distinct(2 + random() % 4, n, random);
    connect(problem, holders, static_cast<std::int64_t>(2 + random() % 2));
    places += holders.size();
  }
  return {"hyperedges " + std::to_string(n), std::move(problem), n >= kFewestThatCount};
}

NamedNetwork complete(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  auto problem = empty(n);
  for (std::size_t b = 1; b < n; ++b)
    for (std::size_t a = 0; a < b; ++a) connect(problem, {a, b}, static_cast<std::int64_t>(2 + random() % 3));
  return {"complete " + std::to_string(n), std::move(problem)};
}

std::vector<NamedNetwork> benchmark_networks() {
  std::vector<NamedNetwork> out{chain(15),
                                chain(60),
                                random_regular(14, 4, 14),
                                random_regular(26, 3, 26),
                                hyperedges(15, 15),
                                lattice(4, 4, 2),
                                chain(100),
                                chain(1000),
                                chain(100000),
                                tree(50),
                                tree(300),
                                mps_inner_product(20),
                                mps_inner_product(100)};
  for (const std::size_t n : {20, 50, 100, 200, 400, 1000}) out.push_back(random_regular(n, 3, n));
  for (const std::size_t n : {50, 100}) out.push_back(random_regular(n, 4, n));
  for (const std::size_t n : {5, 8, 12, 20, 32}) out.push_back(lattice(n, n, 2));
  for (const std::size_t n : {20, 50, 100, 200, 1000}) out.push_back(hyperedges(n, n));
  return out;
}

std::vector<NamedNetwork> networks_of_15() {
  std::vector<NamedNetwork> out{chain(15), tree(15), lattice(3, 5, 2)};
  for (const std::uint64_t seed : {1, 2, 3}) {
    out.push_back(random_regular(15, 4, seed));
    out.push_back(random_regular(15, 6, seed));
    out.push_back(hyperedges(15, seed));
    out.push_back(complete(15, seed));
  }
  return out;
}

std::vector<NamedNetwork> networks_at_scale(std::size_t n) {
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  return {
      chain(n), tree(n), random_regular(n, 3, n), lattice(side, side, 2), hyperedges(n, n), mps_inner_product(n / 2)};
}

}  // namespace eindb::bench
