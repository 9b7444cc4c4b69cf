#include "optimizer/partitions/worker_choice.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/wire_model.hpp"
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
  // What is finer lies in what is coarser; there is none to move to itself.
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
      } catch (const Error&) {  // that strategy is not for this graph
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

// (A B) + (C (D E)), 64 x 64 on 4 workers: as the paper has it, moving results to where the sum wants them.
TEST(WorkerChoice, ChainOfMatrices) {
  GraphBuilder b;
  const auto l = b.labels("ijklm", 64);
  const auto a = b.input("A", {64, 64}, {4, 4});
  const auto bb = b.input("B", {64, 64}, {4, 4});
  const auto c = b.input("C", {64, 64}, {4, 4});
  const auto d = b.input("D", {64, 64}, {4, 4});
  const auto e = b.input("E", {64, 64}, {4, 4});
  const auto ab = b.contraction("AB", {{a, {l[0], l[1]}}, {bb, {l[1], l[2]}}}, {l[0], l[2]});
  const auto de = b.contraction("DE", {{d, {l[3], l[4]}}, {e, {l[4], l[2]}}}, {l[3], l[2]});
  const auto cde = b.contraction("CDE", {{c, {l[0], l[3]}}, {de, {l[3], l[2]}}}, {l[0], l[2]});
  b.vertex("Z", {{ab, {l[0], l[2]}}, {cde, {l[0], l[2]}}}, {l[0], l[2]},
           testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}));
  const DecompositionOptions options{4, false, {}};
  const auto received = [&](const Labelling& labelling) { return place(b.graph, labelling, 4).received; };
  // 7 of the 4096 elements of a matrix for each: less than one gathering of every operand.
  EXPECT_EQ(received(label_for_workers(b.graph, {}, options, 4)), 7 * 4096);
  EXPECT_GT(received(label(b.graph, {}, options)), 7 * 4096);
}

}  // namespace
}  // namespace eindb
