// Windows over ranks: each rank receives the indices that its part of the result reads, and no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "executor/piece_streams.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "optimizer/rank_planner.hpp"
#include "optimizer/rewrites/chain_fusion.hpp"
#include "plan/halo.hpp"
#include "plan/tile_moves.hpp"
#include "tensor/tile_placement.hpp"
#include "tests/executor/distributed_fixture.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::index;
using testing::number;
using testing::op;

// The expressions of X[b,r,x] that examples compute. Windows are P[b,y,p,x] = X[b, step * y + apart * p + offset, x],
// which is 0 outside.
enum class HaloExample : std::uint8_t {
  Weighted,   ///< SUM[p](P * W[p])
  Patches,    ///< P
  Stencil,    ///< P for p = 0, minus X at the row before
  Scattered,  ///< SUM[y,p] of X[b,y,p,x] at the rows of P
};

struct HaloStatement {
  HaloExample example = HaloExample::Weighted;
  std::int64_t workers = 2;
  std::int64_t rows = 24;
  std::int64_t count = 24;  // of y
  std::int64_t weights = 3;
  std::int64_t step = 1;
  std::int64_t apart = 1;
  std::int64_t offset = -1;
  std::int64_t tiles = 2;  // of rows
  bool fused = true;
  double absent = 0;  // the share of tiles of zeros, which are not sent

  static constexpr std::int64_t kBatch = 2;
  static constexpr std::int64_t kWidth = 3;

  GraphBuilder builder;
  testing::StoredTensors tensors;
  Labelling labelling;

  Label add(const std::string& name, std::int64_t extent) { return builder.label(name, extent); }

  ScalarPtr row_of(Label y, std::optional<Label> p, std::int64_t first) const {
    std::vector<ScalarPtr> terms{testing::call(ScalarOp::Multiply, {number(step), index(y)}), number(first)};
    if (p) terms.push_back(testing::call(ScalarOp::Multiply, {number(apart), index(*p)}));
    return testing::call(ScalarOp::Add, std::move(terms));
  }
  static ScalarPtr where(Label row, ScalarPtr place) {
    return testing::call(ScalarOp::Case,
                         {testing::call(ScalarOp::Equal, {index(row), std::move(place)}), op(0), number(0)});
  }
  VertexId stored(std::mt19937& random, const std::string& name, std::vector<std::int64_t> extents, Partition parts) {
    const TileGrid grid(Shape(extents), parts);
    const auto values = absent == 0 ? std::pair(1, 6) : std::pair(-3, 3);
    tensors.add(name, testing::random_tensor(random, grid, DType::Float64, absent, values), grid);
    return builder.input(name, extents, std::move(parts));
  }

  void make(std::mt19937& random) {
    const auto b = add("b", kBatch);
    const auto x = add("x", kWidth);
    const auto y = add("y", count);
    const auto p = add("p", weights);
    const auto r = add("r", rows);
    auto cut = y;
    if (example == HaloExample::Scattered) {
      const auto read = stored(random, "X", {kBatch, count, weights, kWidth}, {1, std::min(tiles, count), 1, 1});
      builder.vertex("Z", {{read, {b, y, p, x}}}, {b, r, x}, where(r, row_of(y, p, offset)));
      cut = r;
    } else {
      const auto read = stored(random, "X", {kBatch, rows, kWidth}, {1, std::min(tiles, rows), 1});
      if (example == HaloExample::Stencil) {
        const auto before = add("before", rows);
        const auto here = builder.vertex("H", {{read, {b, r, x}}}, {b, y, x}, where(r, row_of(y, {}, offset)));
        const auto there =
            builder.vertex("T", {{read, {b, before, x}}}, {b, y, x}, where(before, row_of(y, {}, offset - 1)));
        builder.vertex("Z", {{here, {b, y, x}}, {there, {b, y, x}}}, {b, y, x},
                       testing::call(ScalarOp::Subtract, {op(0), op(1)}));
      } else {
        const auto patches = builder.vertex("P", {{read, {b, r, x}}}, {b, y, p, x}, where(r, row_of(y, p, offset)));
        if (example == HaloExample::Weighted)
          builder.contraction("Z", {{patches, {b, y, p, x}}, {stored(random, "W", {weights}, {1}), {p}}}, {b, y, x});
      }
    }
    if (fused) builder.graph = fuse_chains(builder.graph);
    labelling = label(builder.graph, {}, {workers, false, {}});
    for (auto& vertex : labelling.vertices)
      for (std::size_t n = 0; n < vertex.partition.labels.size(); ++n)
        vertex.partition.parts[n] = vertex.partition.labels[n] == cut ? workers : 1;
  }

  std::int64_t shared() const { return kBatch * kWidth * 8; }  // bytes of a row

  // Runs the statement on ranks, compares the result, and returns the bytes received for it.
  double run(std::int64_t calls, bool& has_halos) {
    const auto& graph = builder.graph;
    const ClusterShape cluster{.ranks = static_cast<std::size_t>(workers) + 1,
                               .coordinator = static_cast<Rank>(workers),
                               .computing = workers,
                               .calls_per_rank = calls,
                               .most_tile_bytes = 1048576.0,
                               .most_call_bytes = 1048576.0};
    const auto& bound = graph.vertex(graph.outputs().front()).bound;
    const std::vector<DistributedResult> results{{TileGrid(bound, Partition(bound.rank(), 1)), false}};
    const auto plan = plan_for_ranks(graph, labelling, place(graph, labelling, workers), cluster, results);
    std::vector<TileHolders> lists;
    for (const auto& scan : scanned_inputs(graph))
      if (scan.list == lists.size())
        lists.push_back(
            TilePlacement(graph.vertex(scan.vertex).stored->grid, static_cast<std::size_t>(workers), 1).all());
    const auto outcome = testing::run_distributed(
        plan, lists, [&](Rank rank) { return std::make_unique<testing::RankSource>(tensors, plan, lists, rank); });
    const auto expected = testing::evaluate_graph(graph, [&](const Vertex& vertex) {
      const auto& dense = tensors.dense(vertex.stored->name);
      auto copy = Tile::uninitialized(dense.dtype(), dense.shape());
      std::copy(dense.bytes().begin(), dense.bytes().end(), copy.mutable_bytes().begin());
      return copy;
    });
    testing::expect_equal(testing::assemble(outcome, plan, lists), expected, "Z");
    double bytes = 0;
    has_halos = false;
    for (std::size_t n = 0; n + 1 < plan.steps.size(); ++n) {
      has_halos = has_halos || plan.steps[n].grid.overlaps();
      const auto foreseen = bytes_received(plan, StepId(n), lists);
      for (std::size_t rank = 0; rank < plan.ranks; ++rank) {
        const auto& step = outcome.profiles[rank].steps[n];
        const auto headers = step.messages_received * static_cast<std::int64_t>(PiecesHeader::kStepBytes) +
                             step.pieces_received * static_cast<std::int64_t>(PiecesHeader::kPieceBytes);
        const auto received = static_cast<double>(step.bytes_received - headers);
        EXPECT_LE(received, foreseen[rank]) << "step " << n;
        if (absent == 0) {
          EXPECT_EQ(received, foreseen[rank]) << "step " << n;
        }
        bytes += foreseen[rank];
      }
    }
    return bytes;
  }
};

TEST(Halos, ResultsAreThoseOfWholeOperands) {
  int with_halos = 0;
  for (unsigned round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(round);
    const auto any = [&](std::int64_t least, std::int64_t most) {
      return std::uniform_int_distribution<std::int64_t>(least, most)(random);
    };
    HaloStatement statement;
    statement.example = static_cast<HaloExample>(round % 4);
    statement.workers = any(2, 4);
    statement.rows = any(9, 40);
    statement.count = any(6, 30);
    statement.weights = any(1, 4);
    do statement.step = any(-3, 3);
    while (statement.step == 0);
    statement.apart = any(-2, 3);
    statement.offset = statement.step < 0 ? any(statement.rows / 2, statement.rows + 3) : any(-4, 5);
    statement.tiles = any(1, 6);
    statement.fused = any(0, 3) > 0;
    statement.absent = round % 2 == 0 ? 0 : 0.3;
    statement.make(random);
    bool has_halos = false;
    statement.run(any(1, 6), has_halos);
    with_halos += has_halos ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GT(with_halos, 150);
}

TEST(Halos, ARankReceivesTheRowsBesideItsOwn) {
  for (const std::int64_t workers : {2, 3, 4}) {
    for (const auto example : {HaloExample::Weighted, HaloExample::Patches, HaloExample::Stencil}) {
      std::mt19937 random(7);
      HaloStatement statement;
      statement.example = example;
      statement.workers = statement.tiles = workers;
      statement.rows = statement.count = 24;
      statement.make(random);
      bool has_halos = false;
      const auto bytes = statement.run(4, has_halos);
      EXPECT_TRUE(has_halos);
      // Two rows of halo between neighbours: one of each, or two of one.
      const auto weights = example == HaloExample::Weighted ? workers * 3 * 8 : 0;
      EXPECT_LE(bytes, static_cast<double>(2 * (workers - 1) * statement.shared() + weights)) << workers;
      EXPECT_GE(bytes, static_cast<double>(2 * (workers - 1) * statement.shared())) << workers;
    }
  }
}

TEST(Halos, AGradientReceivesThePatchesBesideItsOwn) {
  for (const std::int64_t workers : {2, 3, 4}) {
    std::mt19937 random(7);
    HaloStatement statement;
    statement.example = HaloExample::Scattered;
    statement.workers = statement.tiles = workers;
    statement.make(random);
    bool has_halos = false;
    const auto bytes = statement.run(4, has_halos);
    EXPECT_TRUE(has_halos);
    EXPECT_EQ(bytes, static_cast<double>(2 * (workers - 1) * 3 * statement.shared())) << workers;
  }
}

TEST(Halos, AreOfLabelsThatFollowFromOneThatIsCut) {
  GraphBuilder b;
  const auto r = b.label("r", 40);
  const auto y = b.label("y", 40);
  const auto p = b.label("p", 3);
  const auto place = testing::call(ScalarOp::Add, {index(y), index(p), number(-1)});
  const EinSum window{.inputs = {{r}},
                      .output = {y, p},
                      .aggregated = {r},
                      .expression = HaloStatement::where(r, place),
                      .aggregate = Aggregate::Sum};
  const HaloFinder finder({{0, {r}}}, window.output, {&window});
  const auto halos = finder.halos({window.labels(), {1, 4, 1}}, b.graph.labels());
  ASSERT_EQ(window.labels(), (Labels{r, y, p}));
  ASSERT_EQ(halos.size(), 1);
  EXPECT_EQ(halos.front(), (Halo{r, y, {.extent = 40, .step = 1, .least = -1, .most = 1, .divisor = 1}}));
  EXPECT_TRUE(finder.halos({window.labels(), {1, 1, 1}}, b.graph.labels()).empty()) << "nothing is cut";
  EXPECT_TRUE(finder.halos({window.labels(), {2, 4, 1}}, b.graph.labels()).empty()) << "the label is cut itself";
  EXPECT_TRUE(finder.halos({window.labels(), {1, 2, 3}}, b.graph.labels()).empty()) << "of two that are cut";
}

}  // namespace
}  // namespace eindb
