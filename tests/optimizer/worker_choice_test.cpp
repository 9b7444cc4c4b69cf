#include "optimizer/partitions/worker_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "common/error.hpp"
#include "optimizer/contraction_slicer.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/wire_model.hpp"
#include "optimizer/rewrites/chain_fusion.hpp"
#include "tests/optimizer/graph_builder.hpp"
#include "tests/optimizer/random_graph.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

TEST(WireModel, CountsWhatIsNotThereYet) {
  const WireModel wire(4);
  const auto moved = [&](const Partition& from, const Partition& to) { return wire.repartition(from, to, {8, 8}, 8); };
  EXPECT_EQ(moved({4, 1}, {1, 4}), 48);
  EXPECT_EQ(moved({4, 1}, {2, 2}), 4 * (16 - 8));
  EXPECT_EQ(moved({4, 1}, {1, 1}), 4 * 48);
  // Finer parts lie within coarser ones, and equal partitions move nothing.
  EXPECT_EQ(moved({4, 1}, {8, 1}), 0);
  EXPECT_EQ(moved({2, 2}, {2, 2}), 0);
}

bool leaves_workers_idle(const Labelling& labelling, const Labelling& eindecomp) {
  for (std::size_t v = 0; v < labelling.vertices.size(); ++v)
    if (labelling.vertices[v].partition.kernel_calls() < eindecomp.vertices[v].partition.kernel_calls()) return true;
  return false;
}

TEST(WorkerChoice, NoStrategyThatKeepsAllBusyMovesLess) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto graph = testing::random_dag(seed, 5);
    const std::int64_t workers = std::int64_t{2} << (seed % 3);
    const DecompositionOptions options{workers, false, {}};
    const auto chosen = place(graph, label_for_workers(graph, {}, options, workers), workers).received;
    for (const auto& strategy : all_strategies()) {
      try {
        const auto other = label(graph, strategy, options);
        if (leaves_workers_idle(other, label(graph, {}, options))) continue;
        EXPECT_LE(chosen, place(graph, other, workers).received) << "seed " << seed << ", " << strategy.to_string();
      } catch (const Error&) {  // the strategy does not apply to this graph
      }
    }
  }
}

// sqrt(2) rounds down to 1: a strategy that leaves everything to one worker moves nothing, and is not taken.
TEST(WorkerChoice, AllWorkersComputeWhereExtentsAllowIt) {
  GraphBuilder b;
  const auto l = b.labels("ijk", 64);
  const auto x = b.input("X", {64, 64}, {1, 1});
  const auto z = b.contraction("Z", {{x, {l[0], l[1]}}, {x, {l[1], l[2]}}}, {l[0], l[2]});
  const auto labelling = label_for_workers(b.graph, {}, {2, false, {}}, 2);
  EXPECT_EQ(labelling.vertices[z.index()].partition.kernel_calls(), 2);
}

struct ChainOfMatrices : GraphBuilder {
  ChainOfMatrices() {
    const auto l = labels("ijklm", 64);
    const auto matrix = [&](const std::string& name) { return input(name, {64, 64}, {4, 4}); };
    const auto ab = contraction("AB", {{matrix("A"), {l[0], l[1]}}, {matrix("B"), {l[1], l[2]}}}, {l[0], l[2]});
    const auto de = contraction("DE", {{matrix("D"), {l[3], l[4]}}, {matrix("E"), {l[4], l[2]}}}, {l[3], l[2]});
    const auto cde = contraction("CDE", {{matrix("C"), {l[0], l[3]}}, {de, {l[3], l[2]}}}, {l[0], l[2]});
    vertex("Z", {{ab, {l[0], l[2]}}, {cde, {l[0], l[2]}}}, {l[0], l[2]},
           testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}));
  }
};

// (A B) + (C (D E)), 64 x 64 on 4 workers: as in the paper, results move to where the sum reads them.
TEST(WorkerChoice, ChainOfMatrices) {
  const auto graph = ChainOfMatrices().graph;
  const DecompositionOptions options{4, false, {}};
  const auto received = [&](const Labelling& labelling) { return place(graph, labelling, 4).received; };
  // 7 of the 4096 elements of a matrix for each: less than one gathering of every operand.
  EXPECT_EQ(received(label_for_workers(graph, {}, options, 4)), 7 * 4096);
  EXPECT_GT(received(label(graph, {}, options)), 7 * 4096);
}

// In multiples of their slices. With EinDecomp's first vectors, workers receive 72,192.
TEST(WorkerChoice, SlicedVerticesAreImprovedToo) {
  const auto graph = slice_contractions(ChainOfMatrices().graph, 70'000).graph;
  ASSERT_FALSE(graph.sliced().empty());
  const auto labelling = label_for_workers(graph, {}, {16, false, {}}, 16);
  EXPECT_EQ(place(graph, labelling, 16).received, 70'656);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto slices = graph.slices_of(VertexId(v));
    const auto& parts = labelling.vertices[v].partition.parts;
    for (std::size_t n = 0; n < parts.size(); ++n) EXPECT_EQ(parts[n] % slices[n], 0) << "vertex " << v;
  }
}

// Attention, and the sum of the squares of its result, with labels of these names.
EinGraph attention(const std::string& names) {
  GraphBuilder g;
  const auto name = [&](std::size_t n) { return names.substr(n, 1); };
  const auto s = g.label(name(0), 512);
  const auto t = g.label(name(1), 512);
  const auto h = g.label(name(2), 16);
  const auto d = g.label(name(3), 64);
  const auto e = g.label(name(4), 64);
  const auto input = [&](const std::string& tensor) { return g.input(tensor, {512, 16, 64}); };
  const auto scores = g.contraction("S", {{input("Q"), {s, h, d}}, {input("K"), {t, h, d}}}, {s, h, t});
  const auto exps = g.vertex("E", {{scores, {s, h, t}}}, {s, h, t}, testing::call(ScalarOp::Exp, {testing::op(0)}));
  const auto sums = g.vertex("T", {{exps, {s, h, t}}}, {s, h}, testing::op(0));
  const auto shares = g.vertex("P", {{exps, {s, h, t}}, {sums, {s, h}}}, {s, h, t},
                               testing::call(ScalarOp::Divide, {testing::op(0), testing::op(1)}));
  const auto read = g.contraction("R", {{shares, {s, h, t}}, {input("V"), {t, h, e}}}, {s, h, e});
  g.vertex("Z", {{read, {s, h, e}}}, {}, testing::call(ScalarOp::Multiply, {testing::op(0), testing::op(0)}));
  return fuse_chains(g.graph);
}

// h is what the strategy "attention" cuts, s and b are those of two others.
TEST(WorkerChoice, NamesOfLabelsDecideNothing) {
  std::mt19937 random(25);
  for (const std::int64_t workers : {2, 4, 8, 16}) {
    std::set<double> received;
    std::string names = "stbhdexyz";
    for (int n = 0; n < 12; ++n) {
      const auto graph = attention(names);
      received.insert(place(graph, label_for_workers(graph, {}, {workers, false, {}}, workers), workers).received);
      std::shuffle(names.begin(), names.end(), random);
    }
    EXPECT_EQ(received.size(), 1U) << workers << " workers: from " << *received.begin() << " to " << *received.rbegin();
  }
}

}  // namespace
}  // namespace eindb
