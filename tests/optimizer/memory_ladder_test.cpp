#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "optimizer/optimizer.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

constexpr double kMebibyte = 1 << 20;

OptimizedPlan plan_in(const EinGraph& graph, double bytes, int threads) {
  OptimizerOptions options;
  options.memory_limit = static_cast<std::int64_t>(bytes);
  options.spills = true;
  options.parallelism = 4 * threads;
  options.machine = MachineOptions{.figures = built_in_figures(),
                                   .threads = threads,
                                   .memory_limit = options.memory_limit,
                                   .choose_parallelism = true,
                                   .spills = true};
  return optimize(graph, options);
}

// Starting at half a mebibyte, more memory never breaks or slows a plan, and a refused plan runs in the memory it asks
// for.
void climb(const EinGraph& graph, double most) {
  for (const int threads : {1, 2, 8}) {
    double before = std::numeric_limits<double>::infinity();
    for (double bytes = kMebibyte / 2; bytes <= most; bytes *= std::sqrt(2)) {
      SCOPED_TRACE(std::to_string(bytes / kMebibyte) + " MiB, " + std::to_string(threads) + " threads");
      const auto plan = plan_in(graph, bytes, threads);
      if (plan.shortfall) {
        EXPECT_TRUE(std::isinf(before)) << "with less memory it ran";
        EXPECT_GT(plan.shortfall->bytes, bytes);
        EXPECT_FALSE(plan_in(graph, plan.shortfall->bytes, threads).shortfall) << plan.shortfall->bytes;
        continue;
      }
      EXPECT_LE(plan.seconds, before * (1 + 1e-9));
      EXPECT_LE(plan.least_bytes, bytes);
      before = plan.seconds;
    }
    EXPECT_FALSE(std::isinf(before));
  }
}

// MAX(R[i,j] - R[j,i]) of a matrix in strips of rows.
TEST(MemoryLadder, AMatrixAndItsTransposeInStrips) {
  GraphBuilder g;
  const auto l = g.labels("ij", 2048);
  const auto r = g.input("R", {2048, 2048}, {32, 1});
  g.vertex("Z", {{r, {l[0], l[1]}}, {r, {l[1], l[0]}}}, {},
           testing::call(ScalarOp::Subtract, {testing::op(0), testing::op(1)}), Aggregate::Max);
  climb(g.graph, 256 * kMebibyte);
}

// A (A D): A is 64 times as large as D.
TEST(MemoryLadder, ALargeMatrixTimesItselfTimesANarrowOne) {
  GraphBuilder g;
  const auto i = g.label("i", 8192);
  const auto j = g.label("j", 8192);
  const auto k = g.label("k", 8192);
  const auto c = g.label("c", 128);
  const auto a = g.input("A", {8192, 8192}, {8, 8});
  const auto d = g.input("D", {8192, 128}, {2, 1});
  const auto ad = g.contraction("P", {{a, {j, k}}, {d, {k, c}}}, {j, c});
  g.contraction("Z", {{a, {i, j}}, {ad, {j, c}}}, {i, c});
  climb(g.graph, 2048 * kMebibyte);
}

TEST(MemoryLadder, RandomChainsOfMatrices) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    std::mt19937 random(seed);
    const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    GraphBuilder g;
    const auto labels = g.labels("abcdef", 256 << any(4));
    const auto extent = g.graph.labels().extent(labels[0]);
    const auto input = [&](const std::string& name) {
      return g.input(name, {extent, extent}, {std::int64_t{1} << any(5), std::int64_t{1} << any(5)});
    };
    auto previous = input("X");
    for (int v = 0; v < 1 + any(3); ++v) {
      const auto name = std::to_string(v);
      const auto other = any(2) == 0 ? previous : input("Y" + name);
      const Labels from{labels[0], labels[static_cast<std::size_t>(v) + 1]};
      const Labels to{from[1], labels[static_cast<std::size_t>(v) + 2]};
      const Labels result{labels[0], to[1]};
      if (any(2) == 0) {
        previous = g.contraction("P" + name, {{previous, from}, {other, to}}, result);
      } else {
        previous = g.vertex("T" + name, {{previous, {from[0], to[1]}}, {other, {to[1], from[0]}}}, result,
                            testing::product(2), Aggregate::None);
      }
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    climb(g.graph, 1024 * kMebibyte);
  }
}

}  // namespace
}  // namespace eindb
