#include "optimizer/partitions/eindecomp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include "common/error.hpp"
#include "optimizer/fragment_planner.hpp"
#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/partitions/viable.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/brute_force.hpp"
#include "tests/optimizer/graph_builder.hpp"
#include "tests/optimizer/random_graph.hpp"
#include "tests/trial_counts.hpp"

namespace eindb {
namespace {

using testing::BruteForce;
using testing::build_tree;
using testing::GraphBuilder;
using testing::random_dag;
using testing::RandomGraph;
using testing::tree_shapes;

// (A B) + (C (D E)) of section 9.
EinGraph chain(std::int64_t s, bool skewed) {
  GraphBuilder g;
  const auto thin = skewed ? s / 10 : s;
  const auto wide = skewed ? 10 * s : s;
  const auto i = g.label("i", s);
  const auto j = g.label("j", thin);
  const auto k = g.label("k", s);
  const auto l = g.label("l", thin);
  const auto m = g.label("m", wide);
  const auto a = g.input("A", {s, thin});
  const auto b = g.input("B", {thin, s});
  const auto c = g.input("C", {s, thin});
  const auto d = g.input("D", {thin, wide});
  const auto e = g.input("E", {wide, s});
  const auto ab = g.contraction("AB", {{a, {i, j}}, {b, {j, k}}}, {i, k});
  const auto de = g.contraction("DE", {{d, {l, m}}, {e, {m, k}}}, {l, k});
  const auto cde = g.contraction("CDE", {{c, {i, l}}, {de, {l, k}}}, {i, k});
  g.vertex("Z", {{ab, {i, k}}, {cde, {i, k}}}, {i, k}, testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}));
  return g.graph;
}

struct ChainCase {
  bool skewed;
  std::int64_t p;
  double optimum;
  double sqrt_factor;
};

TEST(EinDecomp, ChainsOfSectionNine) {
  for (const auto& c : {ChainCase{false, 16, 4'160'000, 1.35}, ChainCase{false, 64, 6'880'000, 1.65},
                        ChainCase{true, 16, 2'640'000, 3.27}, ChainCase{true, 64, 3'312'000, 5.21}}) {
    const auto graph = chain(400, c.skewed);
    const DecompositionOptions options{c.p, true, {}};
    const auto best = label(graph, {Strategy::Kind::EinDecomp}, options);
    const auto root = label(graph, {Strategy::Kind::Sqrt}, options);
    EXPECT_EQ(best.total_cost, c.optimum);
    EXPECT_NEAR(root.total_cost / best.total_cost, c.sqrt_factor, 0.005);
  }
}

TEST(EinDecomp, SqrtCutsEveryLabel) {
  const auto labelling = label(chain(400, false), {Strategy::Kind::Sqrt}, {64, true, {}});
  EXPECT_EQ(labelling.vertices[5].partition.kernel_calls(), 512);  // p^1.5 for a matrix product
  EXPECT_EQ(labelling.vertices.back().partition.kernel_calls(), 64);
  GraphBuilder g;
  const auto i = g.label("i", 3);
  const auto x = g.input("X", {3});
  g.vertex("Z", {{x, {i}}}, {i}, testing::op(0));
  EXPECT_EQ(label(g.graph, {Strategy::Kind::Sqrt}, {64, false, {}}).vertices[1].partition.parts, Partition{2});
}

TEST(EinDecomp, LeavingAStoredPartitionCosts) {
  GraphBuilder g;
  const auto i = g.label("i", 64);
  const auto j = g.label("j", 64);
  const auto x = g.input("X", {64, 64}, {1, 8});
  const auto z = g.vertex("Z", {{x, {i, j}}}, {i, j}, testing::op(0));
  const auto labelling = decompose(g.graph, {8, false, {}});
  EXPECT_EQ(labelling.vertices[z.index()].partition.parts, (Partition{1, 8}));
  EXPECT_EQ(labelling.total_cost, 64 * 64);
  // With free inputs, the first of equally good vectors cuts whole rows.
  EXPECT_EQ(decompose(g.graph, {8, true, {}}).vertices[z.index()].partition.parts, (Partition{8, 1}));
  // A partition prescribed for the result changes the vertex's vector.
  const auto pulled = decompose(g.graph, {8, true, {Partition{4, 2}}});
  EXPECT_EQ(pulled.vertices[z.index()].partition.parts, (Partition{4, 2}));
  EXPECT_EQ(pulled.cost_output, 0);
}

TEST(EinDecomp, ParallelismIsANumberFromOne) {
  for (const std::int64_t p : {0, -4}) {
    try {
      label(chain(400, false), {}, {p, false, {}});
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Value);
    }
  }
  for (const std::int64_t p : {1, 3, 7, 12}) {
    for (const auto& vertex : label(chain(400, false), {}, {p, false, {}}).vertices) {
      if (vertex.partition.labels.empty()) continue;
      EXPECT_EQ(vertex.partition.kernel_calls(), p);
    }
  }
}

// The dynamic program is exact on trees: every shape of up to five vertices, p from 2 to 16, powers of two and
// others, stored and free inputs, with and without a wanted partition of the result.
TEST(EinDecomp, OptimalOnAllSmallTrees) {
  unsigned seed = 1;
  std::size_t compared = 0;
  for (std::size_t vertices = 1; vertices <= 5; ++vertices) {
    for (const auto& shape : tree_shapes(vertices)) {
      RandomGraph random(seed++);
      std::size_t at = 0;
      build_tree(random, shape, at);
      const auto& graph = random.builder.graph;
      for (const std::int64_t p : {2, 3, 4, 6, 8, 12, 16}) {
        for (const bool free_inputs : {false, true}) {
          DecompositionOptions options{p, free_inputs, {}};
          if (seed % 3 == 0) options.output_partitions = {Partition(graph.vertex(graph.output()).bound.rank(), 2)};
          BruteForce brute(graph, options);
          if (brute.combinations() > 3e4) continue;
          const testing::Trial trial("brute_force");
          EXPECT_DOUBLE_EQ(decompose(graph, options).total_cost, brute.optimum())
              << shape << " seed " << seed << " p " << p;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 3000U);
}

bool has_shared_vertex(const EinGraph& graph) {
  const auto uses = graph.use_counts();
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (!graph.vertex(VertexId(v)).is_input() && uses[v] > 1) return true;
  return false;
}

// Exact search, and descent if exact search gets no work; compared with brute force, and never worse than
// linearisation.
TEST(EinDecomp, OptimalOrCloseOnSmallDags) {
  double excess = 0;
  std::size_t compared = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    auto graph = random_dag(seed);
    DecompositionOptions options{std::array{4, 8, 6}[seed / 4 % 3], seed % 4 < 2, {}};
    if (seed % 3 == 0) {  // two results; one may be read by the other
      graph.set_outputs({VertexId(2), graph.output()});
      options.output_partitions = {Partition(graph.vertex(VertexId(2)).bound.rank(), 2), std::nullopt};
    }
    BruteForce brute(graph, options);
    if (brute.combinations() > 1e6) continue;
    const testing::Trial trial("brute_force");
    const double optimum = brute.optimum();
    const double linearised = decompose_linearised(graph, options).total_cost;
    EXPECT_DOUBLE_EQ(decompose(graph, options).total_cost, optimum) << "seed " << seed;
    options.exact_work = 0;
    const double descended = decompose(graph, options).total_cost;
    EXPECT_LE(descended, linearised * (1 + 1e-12));
    EXPECT_LE(descended, optimum * 1.1);
    excess += descended / optimum - 1;
    ++compared;
  }
  EXPECT_GT(compared, 200U);
  EXPECT_LE(excess, 0.001 * static_cast<double>(compared));
}

// A linearisation partitions the vertices into chains of readers, the longest first.
TEST(EinDecomp, LinearisationCoversEveryVertexOnce) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto graph = random_dag(seed);
    std::vector<int> seen(graph.size(), 0);
    std::size_t longest = graph.size();
    for (const auto& path : linearise(graph)) {
      EXPECT_LE(path.size(), longest);
      longest = path.size();
      for (std::size_t n = 0; n < path.size(); ++n) {
        ++seen[path[n]];
        if (n == 0) continue;
        const auto& inputs = graph.vertex(VertexId(path[n])).inputs;
        EXPECT_NE(std::find(inputs.begin(), inputs.end(), VertexId(path[n - 1])), inputs.end());
      }
    }
    for (std::size_t v = 0; v < graph.size(); ++v) EXPECT_EQ(seen[v], graph.vertex(VertexId(v)).is_input() ? 0 : 1);
  }
}

TEST(EinDecomp, LabelsOfDagsAreViableAndCostedExactly) {
  std::size_t shared = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto graph = random_dag(seed);
    shared += has_shared_vertex(graph) ? 1 : 0;
    DecompositionOptions options{8, seed % 2 == 0, {}};
    const auto labelling = decompose(graph, options);
    double total = 0;
    std::vector<LabelPartition> partitions;
    for (std::size_t v = 0; v < graph.size(); ++v) {
      const auto& vertex = graph.vertex(VertexId(v));
      const auto& partition = labelling.vertices[v].partition;
      partitions.push_back(partition);
      total += labelling.vertices[v].cost();
      if (vertex.is_input()) continue;
      const auto vectors = viable(graph.labels().extents(partition.labels), 8);
      EXPECT_NE(std::find(vectors.begin(), vectors.end(), partition.parts), vectors.end());
    }
    EXPECT_DOUBLE_EQ(labelling.total_cost, total);
    EXPECT_DOUBLE_EQ(labelling.total_cost, evaluate(graph, partitions, options).total_cost);
    options.parallelism = 4;
    BruteForce brute(graph, options);
    if (brute.combinations() < 1e5) {
      const testing::Trial trial("brute_force");
      EXPECT_GE(decompose(graph, options).total_cost, brute.optimum() * (1 - 1e-12));
    }
    EXPECT_NO_THROW(validate(plan_fragment(graph, labelling)));
  }
  EXPECT_GT(shared, 100U);
}

// Residual connections: the path V1 - V2 - V3 must not count the edge V1 - V3 as a step of its own.
TEST(EinDecomp, SkipEdgesAreIgnoredWhileChoosingAndCostedAfterwards) {
  GraphBuilder g;
  const auto i = g.label("i", 16);
  const auto j = g.label("j", 16);
  const auto x = g.input("X", {16, 16}, {4, 1});
  const auto a = g.vertex("A", {{x, {i, j}}}, {i, j}, testing::op(0));
  const auto b = g.vertex("B", {{a, {i, j}}}, {i, j}, testing::op(0));
  const auto c = g.vertex("C", {{a, {i, j}}, {b, {i, j}}}, {i, j}, testing::product(2));
  EXPECT_EQ(linearise(g.graph), (std::vector<std::vector<std::size_t>>{{a.index(), b.index(), c.index()}}));
  const auto labelling = decompose(g.graph, {4, false, {}});
  EXPECT_EQ(labelling.total_cost, 4 * 256);
}

// 3003 vectors per vertex over tensors of rank six: the bound of section 8.1 is in effect.
TEST(EinDecomp, ManyVectorsPerVertex) {
  GraphBuilder g;
  const auto labels = g.labels("abcdef", 1024);
  std::vector<std::int64_t> extents(6, 1024);
  auto last = g.input("X", extents, {32, 1, 1, 1, 1, 32});
  for (int n = 0; n < 2; ++n) {
    auto read = labels;
    std::rotate(read.begin(), read.begin() + n, read.end());
    last = g.vertex("V" + std::to_string(n), {{last, read}}, labels, testing::op(0));
  }
  const auto labelling = decompose(g.graph, {1024, false, {}});
  // Every vertex permutes; each can be cut like its input.
  for (const auto& vertex : labelling.vertices) EXPECT_EQ(vertex.cost_repart, 0);
}

}  // namespace
}  // namespace eindb
