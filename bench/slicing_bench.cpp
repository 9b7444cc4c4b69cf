// Slicing on generated networks: the flops relative to the unsliced contraction if, beside the operands, at most the
// largest intermediate result divided by 2, 4, ..., 1024 is held at once. Figures are deterministic except for times.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>

#include "common/stopwatch.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "optimizer/paths/sliced_path.hpp"
#include "optimizer/paths/slicing.hpp"

namespace {

using eindb::ContractionPath;
using eindb::ContractionProblem;
using eindb::PathOptimizer;
using eindb::PathOptions;
using eindb::PathSearch;
using eindb::Stopwatch;

void connect(ContractionProblem& problem, std::size_t a, std::size_t b, std::int64_t extent) {
  for (const auto operand : {a, b}) problem.operands[operand].push_back(problem.extents.size());
  problem.extents.push_back(extent);
}

ContractionProblem lattice(std::size_t side, std::int64_t bond) {
  ContractionProblem problem{std::vector<std::vector<std::size_t>>(side * side), {}, {}};
  for (std::size_t o = 0; o < side * side; ++o) {
    if ((o + 1) % side != 0) connect(problem, o, o + 1, bond);
    if (o + side < side * side) connect(problem, o, o + side, bond);
  }
  return problem;
}

// Stubs are paired at random until no operand is connected with itself.
ContractionProblem regular(std::size_t operands, std::size_t degree, std::int64_t bond) {
  std::mt19937_64 random(operands);
  for (;;) {
    std::vector<std::size_t> stubs;
    for (std::size_t n = 0; n < operands; ++n) stubs.insert(stubs.end(), degree, n);
    std::shuffle(stubs.begin(), stubs.end(), random);
    ContractionProblem problem{std::vector<std::vector<std::size_t>>(operands), {}, {}};
    bool simple = true;
    for (std::size_t s = 0; s + 1 < stubs.size(); s += 2) {
      simple = simple && stubs[s] != stubs[s + 1];
      connect(problem, stubs[s], stubs[s + 1], bond);
    }
    if (simple) return problem;
  }
}

double elements_of_operands(const ContractionProblem& problem) {
  double sum = 0;
  for (const auto& operand : problem.operands) {
    double elements = 1;
    for (const auto label : operand) elements *= static_cast<double>(problem.extents[label]);
    sum += elements;
  }
  return sum;
}

void measure(const std::string& name, const ContractionProblem& problem) {
  const auto find = [](const ContractionProblem& p) {
    return PathSearch(PathOptions{PathOptimizer::Auto, 1.0}).find(p);
  };
  const auto path = find(problem);
  std::printf("%s: %.3g flops, largest intermediate %.3g elements\n", name.c_str(), path.flops,
              path.largest_intermediate);
  std::printf("%8s %12s %10s %9s %12s %10s %9s\n", "memory", "slices", "flops x", "seconds", "slices", "flops x",
              "seconds");
  for (int k = 1; k <= 10; ++k) {
    const double limit = 8 * (elements_of_operands(problem) + path.largest_intermediate / (1 << k));
    std::printf("%8s", ("1/" + std::to_string(1 << k)).c_str());
    const auto print = [&](const ContractionPath& p, const Stopwatch& watch) {
      const auto slicing = find_slicing(slicing_problem(problem, p), limit);
      const double seconds = watch.seconds();
      if (slicing.bytes > limit) std::printf(" %12s %10s %9.3f", "-", "-", seconds);
      else std::printf(" %12.0f %10.3f %9.3f", slicing.slices, slicing.flops / path.flops, seconds);
    };
    Stopwatch same;
    print(path, same);
    Stopwatch again;
    print(path_for_limit(problem, path, limit, find), again);
    std::printf("\n");
  }
}

}  // namespace

int main() {
  std::printf("first for the path as found, then with paths for one slice tried\n");
  measure("lattice 8x8, bond 4", lattice(8, 4));
  measure("3-regular 50, bond 4", regular(50, 3, 4));
}
