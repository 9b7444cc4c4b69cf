#include "optimizer/partitions/worker_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <set>

#include "common/error.hpp"
#include "optimizer/contraction_slicer.hpp"
#include "optimizer/partitions/placement.hpp"
#include "optimizer/partitions/viable.hpp"
#include "optimizer/partitions/wire_model.hpp"
#include "optimizer/rank_planner.hpp"
#include "optimizer/rewrites/chain_fusion.hpp"
#include "plan/tile_moves.hpp"
#include "tensor/tile_placement.hpp"
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
  // Halves and thirds are cut by different axes: a sixth of the rows is what a worker has of both.
  EXPECT_EQ(WireModel(6).repartition({2, 1}, {3, 1}, {12, 12}, 8), 6 * (4 - 2) * 12);
}

bool leaves_workers_idle(const Labelling& labelling, const Labelling& eindecomp, std::int64_t workers) {
  for (std::size_t v = 0; v < labelling.vertices.size(); ++v) {
    const auto& own = labelling.vertices[v].partition;
    const auto& theirs = eindecomp.vertices[v].partition;
    if (own.kernel_calls() < theirs.kernel_calls()) return true;
    if (viable_calls(own.parts, workers) < viable_calls(theirs.parts, workers)) return true;
  }
  return false;
}

TEST(WorkerChoice, NoStrategyThatKeepsAllBusyMovesLess) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto graph = testing::random_dag(seed, 5);
    const auto workers = std::array<std::int64_t, 7>{2, 4, 8, 3, 6, 7, 12}[seed % 7];
    const DecompositionOptions options{workers, false, {}};
    const auto chosen = place(graph, label_for_workers(graph, {}, options, workers), workers).received;
    for (const auto& strategy : all_strategies()) {
      try {
        const auto other = label(graph, strategy, options);
        if (leaves_workers_idle(other, label(graph, {}, options), workers)) continue;
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

// The least that workers receive by any vectors of the vertices, each with as many calls as there are workers.
double least_received(const EinGraph& graph, std::int64_t workers) {
  std::vector<std::vector<Partition>> choices;
  for (const auto& vertex : graph.vertices())
    choices.push_back(vertex.is_input() ? std::vector<Partition>{{}}
                                        : viable(graph.labels().extents(vertex.einsum.labels()), workers));
  double least = std::numeric_limits<double>::infinity();
  std::vector<LabelPartition> partitions(graph.size());
  const auto visit = [&](const auto& self, std::size_t v) -> void {
    if (v == graph.size()) {
      least = std::min(least, place(graph, evaluate(graph, partitions, {workers, false, {}}), workers).bytes);
      return;
    }
    for (const auto& parts : choices[v]) {
      if (!graph.vertex(VertexId(v)).is_input()) partitions[v] = {graph.vertex(VertexId(v)).einsum.labels(), parts};
      self(self, v + 1);
    }
  };
  visit(visit, 0);
  return least;
}

// A product and what reads it in columns, on numbers of workers with all kinds of factors.
TEST(WorkerChoice, NoOtherVectorsOfASmallGraphReceiveLess) {
  for (const std::int64_t extent : {60, 64, 35}) {
    GraphBuilder b;
    const auto l = b.labels("ijk", extent);
    const auto x = b.input("X", {extent, extent}, {4, 1});
    const auto y = b.input("Y", {extent, extent}, {3, 2});
    const auto z = b.contraction("Z", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
    const auto e = b.vertex("E", {{z, {l[0], l[2]}}}, {l[0], l[2]}, testing::call(ScalarOp::Exp, {testing::op(0)}));
    b.contraction("R", {{e, {l[0], l[2]}}, {x, {l[0], l[1]}}}, {l[2], l[1]});
    for (const std::int64_t workers : {2, 3, 4, 5, 6, 7, 8, 12}) {
      const auto chosen = label_for_workers(b.graph, {}, {workers, false, {}}, workers);
      EXPECT_EQ(place(b.graph, chosen, workers).bytes, least_received(b.graph, workers))
          << workers << " workers, extent " << extent;
      for (const auto v : {z, e}) EXPECT_EQ(chosen.vertices[v.index()].partition.kernel_calls(), workers);
    }
  }
}

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
  for (const std::int64_t workers : {2, 4, 6, 8, 16}) {
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

// A graph whose tensors lie somewhere, and the bytes that ranks receive by a plan for it.
class PlacedGraph {
 public:
  PlacedGraph(EinGraph graph, InputHolders holders, std::int64_t workers)
      : graph_(std::move(graph)),
        holders_(std::move(holders)),
        inputs_(graph_, holders_, workers),
        options_{workers, false, {}} {}

  double bytes(const Labelling& labelling) const {
    const auto workers = static_cast<std::size_t>(inputs_.workers());
    const ClusterShape cluster{.ranks = workers + 1,
                               .coordinator = static_cast<Rank>(workers),
                               .computing = inputs_.workers(),
                               .redistribution = ExchangeWay::Pieces};
    std::vector<DistributedResult> results;
    for (const auto id : graph_.outputs())
      results.push_back({TileGrid(graph_.vertex(id).bound, Partition(graph_.vertex(id).bound.rank(), 1)), false});
    const auto plan = plan_for_ranks(graph_, labelling, place(graph_, labelling, inputs_), cluster, results);
    std::vector<TileHolders> lists(plan.holder_lists);
    for (const auto& step : plan.steps)
      if (const auto* scan = std::get_if<ScanStep>(&step.op)) lists[scan->holders] = holders_[step.vertex.index()];
    double sum = 0;
    for (std::size_t n = 0; n < plan.steps.size(); ++n)
      for (const auto received : bytes_received(plan, StepId(n), lists)) sum += received;
    return sum;
  }

  Labelling chosen() const {
    return label_for_workers(graph_, {}, options_, inputs_, {.count = [this](const Labelling& l) { return bytes(l); }});
  }
  Labelling by(const Strategy& strategy) const { return label(graph_, strategy, options_); }
  double received_by_model(const Labelling& labelling) const { return place(graph_, labelling, inputs_).bytes; }
  const EinGraph& graph() const { return graph_; }
  std::int64_t workers() const { return inputs_.workers(); }
  PlacedGraph with(EinGraph other) const { return {std::move(other), holders_, inputs_.workers()}; }

 private:
  EinGraph graph_;
  InputHolders holders_;
  InputPlaces inputs_;
  DecompositionOptions options_;
};

// Any holders: as newly written with replicas, all at the coordinator, or each tile at some ranks, or at none.
TileHolders random_holders(const TileGrid& grid, std::size_t workers, std::mt19937& random) {
  const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const auto way = pick(4);
  if (way == 0) return TilePlacement(grid, workers, 1 + pick(workers)).all();
  TileHolders out;
  const auto most = 1 + pick(workers);
  for (std::int64_t tile = 0; tile < grid.tile_count(); ++tile) {
    std::set<Rank> ranks;
    if (way == 1) ranks.insert(static_cast<Rank>(workers));
    else if (way == 2 || pick(4) > 0)
      for (std::size_t n = 0; n < most; ++n) ranks.insert(static_cast<Rank>(pick(workers)));
    out.add(std::vector<Rank>(ranks.begin(), ranks.end()));
  }
  return out;
}

PlacedGraph random_placed_graph(unsigned seed) {
  std::mt19937 random(seed);
  const auto workers = std::array<std::int64_t, 7>{2, 3, 4, 6, 8, 5, 12}[seed % 7];
  auto graph = testing::random_dag(seed, 5);
  InputHolders holders(graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (const auto& stored = graph.vertex(VertexId(v)).stored)
      holders[v] = random_holders(stored->grid, static_cast<std::size_t>(workers), random);
  return {std::move(graph), std::move(holders), workers};
}

TEST(WorkerChoice, NoStrategyReceivesFewerBytesWhereverTilesLie) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const auto placed = random_placed_graph(seed);
    const auto chosen = placed.bytes(placed.chosen());
    const auto eindecomp = placed.by({});
    auto others = all_strategies();
    for (auto& rule : rules_of_labels(placed.graph())) others.push_back(std::move(rule));
    for (const auto& strategy : others) {
      try {
        const auto other = placed.by(strategy);
        if (leaves_workers_idle(other, eindecomp, placed.workers())) continue;
        EXPECT_LE(chosen, placed.bytes(other)) << "seed " << seed << ", " << strategy.to_string();
      } catch (const Error&) {  // the strategy does not apply to this graph
      }
    }
  }
}

// What placement predicts is what a plan counts, but for the way of results to the coordinator, operands that are read
// twice, and outputs that another vertex reads.
TEST(WorkerChoice, PlacementCountsTheBytesThatAPlanReceives) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    GraphBuilder b;
    const auto l = b.labels("ijk", 12);
    const auto x = b.input("X", {12, 12}, {3, 2});
    const auto y = b.input("Y", {12, 12}, {1, 4}, DType::Float32);
    const auto z = b.contraction("Z", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]});
    InputHolders holders(b.graph.size());
    const auto workers = std::array<std::int64_t, 4>{4, 3, 6, 12}[seed % 4];
    for (const auto input : {x, y})
      holders[input.index()] =
          random_holders(b.graph.vertex(input).stored->grid, static_cast<std::size_t>(workers), random);
    const PlacedGraph placed(b.graph, holders, workers);
    const auto chosen = placed.chosen();
    EXPECT_EQ(placed.received_by_model(chosen) + 12 * 12 * 8, placed.bytes(chosen)) << "seed " << seed;
    EXPECT_EQ(chosen.vertices[z.index()].partition.kernel_calls(), workers);
  }
}

// The product of activations that are cut by rows with weights of which every worker has a copy moves nothing.
TEST(WorkerChoice, CopiesAreReadWhereTheyLie) {
  GraphBuilder b;
  const auto l = b.labels("ijk", 64);
  const auto x = b.input("X", {64, 64}, {4, 1});
  const auto w = b.input("W", {64, 64}, {2, 2});
  b.contraction("Z", {{x, {l[0], l[1]}}, {w, {l[1], l[2]}}}, {l[0], l[2]});
  const auto received = [&](std::size_t replicas) {
    const InputHolders holders{TilePlacement(b.graph.vertex(x).stored->grid, 4, 1).all(),
                               TilePlacement(b.graph.vertex(w).stored->grid, 4, replicas).all(),
                               {}};
    const PlacedGraph placed(b.graph, holders, 4);
    return placed.bytes(placed.chosen()) - 64 * 64 * 8;  // the result's way to the coordinator
  };
  EXPECT_EQ(received(4), 0);
  EXPECT_GT(received(1), 0);
}

// Two products read W in other tiles, as the operands beside it are cut otherwise; it is gathered once.
TEST(WorkerChoice, WhatWasBroughtIsNotReceivedAgainForOtherTiles) {
  for (const std::int64_t workers : {3, 4}) {
    GraphBuilder b;
    const auto l = b.labels("ijkl", 96);
    const auto x = b.input("X", {96, 96}, {workers, 4});
    const auto w = b.input("W", {96, 96}, {6, 4});
    const auto xw = b.contraction("XW", {{x, {l[0], l[1]}}, {w, {l[1], l[2]}}}, {l[0], l[2]});
    b.contraction("Z", {{xw, {l[0], l[2]}}, {w, {l[2], l[3]}}}, {l[0], l[3]});
    InputHolders holders(b.graph.size());
    holders[x.index()] = TilePlacement(b.graph.vertex(x).stored->grid, static_cast<std::size_t>(workers), 1).all();
    holders[w.index()] = TilePlacement(b.graph.vertex(w).stored->grid, static_cast<std::size_t>(workers), 1).all();
    const PlacedGraph placed(b.graph, holders, workers);
    const auto matrix = 96.0 * 96 * 8;
    // Each gets what others have of W, and the coordinator the result.
    EXPECT_EQ(placed.bytes(placed.chosen()), (static_cast<double>(workers) - 1) * matrix + matrix) << workers;
  }
}

// Names at random, those of the strategies among them. If `several`, labels of different vertices may have one in
// common.
EinGraph renamed(EinGraph graph, std::mt19937& random, bool several) {
  const std::vector<std::string> names{"b", "s", "h", "i", "row", "f"};
  const std::size_t numbers = several ? 3 : 100;
  LabelTable table;
  std::vector<std::string> given(graph.labels().size());
  for (std::size_t label = 0; label < given.size(); ++label) {
    std::set<std::string> beside;
    for (const auto& vertex : graph.vertices()) {
      if (vertex.is_input() || !contains(vertex.einsum.labels(), Label(label))) continue;
      for (const auto other : vertex.einsum.labels()) beside.insert(given[other.index()]);
    }
    if (!several) beside.insert(given.begin(), given.end());
    do given[label] = names[random() % names.size()] + (random() % 3 == 0 ? std::to_string(random() % numbers) : "");
    while (beside.contains(given[label]));
    table.add(given[label], graph.labels().extent(Label(label)));
  }
  graph.labels() = std::move(table);
  return graph;
}

TEST(WorkerChoice, CountedChoicesAreInvariantUnderRandomRenaming) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto placed = random_placed_graph(seed);
    std::set<double> received;
    for (int n = 0; n < 4; ++n) {
      const auto named = placed.with(renamed(placed.graph(), random, false));
      received.insert(named.bytes(named.chosen()));
    }
    EXPECT_EQ(received.size(), 1U) << "seed " << seed << ": from " << *received.begin() << " to " << *received.rbegin();
  }
}

// A name that labels of several vertices have is one more rule, if a strategy cuts it, so that less may be received.
TEST(WorkerChoice, ChoicesAreInvariantUnderRandomRenaming) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto graph = testing::random_dag(seed, 6);
    const auto workers = std::array<std::int64_t, 8>{2, 4, 8, 16, 3, 6, 7, 12}[seed % 8];
    const auto received = [&](const EinGraph& named) {
      return place(named, label_for_workers(named, {}, {workers, false, {}}, workers), workers).bytes;
    };
    const auto expected = received(graph);
    for (int n = 0; n < 3; ++n) {
      EXPECT_EQ(received(renamed(graph, random, false)), expected) << "seed " << seed << ", " << workers << " workers";
      EXPECT_LE(received(renamed(graph, random, true)), expected) << "seed " << seed << ", " << workers << " workers";
    }
  }
}

}  // namespace
}  // namespace eindb
