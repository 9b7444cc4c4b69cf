#include "optimizer/partitions/calibrated_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "optimizer/fragment_planner.hpp"
#include "optimizer/partitions/prediction.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// Figures that make manual calculation easy.
MachineFigures round_figures() {
  MachineFigures m;
  m.threads = 4;
  m.compute_scaling = 2;  // so that four threads are each half as fast
  m.start_seconds = 1000;
  m.operator_seconds = 100;
  m.call_seconds = 10;
  m.piece_seconds = 2;
  m.load = {8, 32};
  m.store = {4, 16};
  m.repartition = {1, 4};
  m.read = {16, 64};
  m.read_tile_seconds = 3;
  m.write = 2;
  m.write_tile_seconds = 5;
  for (auto& rates : m.kernels) {
    rates.matrix_product = {1, 2, 4, 8, 16, 32, 64, 128, 256};  // by sides 4, 8, ..., 1024
    rates.matrix_vector = 0.5;
    rates.operations.fill(0.25);
    rates.operations[0] = 1;
    rates.fold = 2;
    rates.product_fold = 4;
    rates.crosswise = 0.5;
  }
  return m;
}

// Z[i,k] = SUM(X[i,j] * Y[j,k]) in FLOAT64.
struct Product {
  explicit Product(std::int64_t i, std::int64_t j, std::int64_t k) {
    const Labels l{g.label("i", i), g.label("j", j), g.label("k", k)};
    const auto x = g.input("X", {i, j});
    const auto y = g.input("Y", {j, k});
    const auto z = g.vertex("Z", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, {l[0], l[2]}, testing::product(2));
    shape = shape_of(g.graph, g.graph.vertex(z));
  }
  GraphBuilder g;
  VertexShape shape;
};

TEST(CalibratedModel, AMatrixProductOnOneThread) {
  const CalibratedModel model(round_figures(), 1);
  // One call: 2 * 8^3 flops at the rate of side 8, twice 64 elements of 8 bytes loaded at 8 bytes per second, and 64
  // stored at 4.
  EXPECT_DOUBLE_EQ(model.join(Product(8, 8, 8).shape, {1, 1, 1}), 100 + 10 + 1024 / 2.0 + 1024 / 8.0 + 512 / 4.0);
  // Two calls of 4 x 8 x 8: the harmonic mean of the sides is 6, log2(6 / 4) of the way from rate 1 to 2.
  const double rate = 1 + std::log2(1.5);
  EXPECT_DOUBLE_EQ(model.join(Product(8, 8, 8).shape, {2, 1, 1}), 100 + 2 * (10 + 512 / rate + 768 / 8.0) + 512 / 4.0);
}

TEST(CalibratedModel, CallsRunInWaves) {
  const CalibratedModel model(round_figures(), 4);
  // Four calls of 4 x 16 x 4 at once, each at half speed: harmonic mean 16 / 3; all four threads load and store.
  const double side = 3 / (1 / 4.0 + 1 / 16.0 + 1 / 4.0);
  const double flops = 2 * 4 * 16 * 4;
  const double rate = 1 + std::log2(side / 4);
  const double wave = flops / rate * 2 + 4 * (64 + 64) * 8 / 32.0 + 512 / 16.0;
  // The last of them takes a little longer.
  EXPECT_DOUBLE_EQ(model.join(Product(8, 16, 8).shape, {2, 1, 2}), 110 + 1.03 * wave);
  // Eight calls take two waves.
  EXPECT_DOUBLE_EQ(model.join(Product(8, 16, 16).shape, {2, 1, 4}), 120 + 1.015 * 2 * wave);
}

TEST(CalibratedModel, MatrixTimesVectorHasItsOwnRate) {
  const CalibratedModel model(round_figures(), 1);
  EXPECT_DOUBLE_EQ(model.join(Product(32, 32, 1).shape, {1, 1, 1}), 110 + 2 * 32 * 32 / 0.5 + 32 * 8 / 4.0);
}

TEST(CalibratedModel, ThinStripsGoThroughLoops) {
  const CalibratedModel model(round_figures(), 1);
  // 2 x 8 x 2: the product is folded. Y is read contiguously by the loops; X lacks their last label.
  const auto shape = Product(2, 8, 2).shape;
  EXPECT_DOUBLE_EQ(model.join(shape, {1, 1, 1}) - shape.work.crosswise * 32 / 0.5,
                   110 + 32 / 4.0 + (16 + 16) * 8 / 8.0 + 4 * 8 / 4.0);
}

TEST(CalibratedModel, LoopsCountTheirOperations) {
  GraphBuilder g;
  const auto i = g.label("i", 10);
  const auto x = g.input("X", {10}, {}, DType::Float32);
  const auto e = testing::call(ScalarOp::Exp, {testing::op(0)});
  // EXP(X) + EXP(X) * 2: the exponential is computed once.
  const auto twice = testing::call(ScalarOp::Multiply, {e, testing::number(2)});
  const auto z = g.vertex("Z", {{x, {i}}}, {i}, testing::call(ScalarOp::Add, {e, twice}), Aggregate::None);
  const auto shape = shape_of(g.graph, g.graph.vertex(z));
  const CalibratedModel model(round_figures(), 1);
  EXPECT_DOUBLE_EQ(model.join(shape, {1}), 110 + 10 * (1 / 0.25 + 2 / 1.0) + 40 / 8.0 + 40 / 4.0);
}

TEST(CalibratedModel, AnEpilogueCostsItsOperationsOnTheResult) {
  auto shape = Product(8, 8, 8).shape;
  const CalibratedModel model(round_figures(), 1);
  const double without = model.join(shape, {1, 2, 1});
  shape.work.epilogue = {{Operation::Exp, 1}};
  EXPECT_DOUBLE_EQ(model.join(shape, {1, 2, 1}) - without, 64 / 0.25);
}

TEST(CalibratedModel, AggregationReadsAndWritesTheTileAgain) {
  const CalibratedModel model(round_figures(), 1);
  const auto shape = Product(8, 8, 8).shape;
  EXPECT_EQ(model.aggregation(shape, {2, 1, 2}), 0);
  // Four groups of two calls: one more pass over each tile of 16 elements, which is still in the caches.
  EXPECT_DOUBLE_EQ(model.aggregation(shape, {2, 2, 2}), 4 * 2 * 16 * 8 / 8.0 / 4);
}

TEST(CalibratedModel, RepartitionCostsBytesAndPieces) {
  const CalibratedModel model(round_figures(), 2);
  const double speed = 2;  // of two threads, between 1 of one and 4 of four
  EXPECT_EQ(model.repartition({2, 4}, {2, 4}, {8, 8}, 8), 0);
  // Runs of two elements take nanoseconds, which is negligible beside these figures.
  EXPECT_NEAR(model.repartition({2, 4}, {4, 1}, {8, 8}, 8), 100 + 512 / speed + 16 * 2 / 2.0, 1e-6);
  // A single tile is made by one thread.
  EXPECT_NEAR(model.repartition({4}, {1}, {8}, 4), 100 + 32 / 1.0 + 4 * 2, 1e-6);
  EXPECT_EQ(model.repartition({1, 1}, {1, 2}, {0, 4}, 8), 0);
  // Tiles of 8 MB come from memory, not from a cache.
  EXPECT_NEAR(model.repartition({4}, {1}, {1 << 20}, 8), 108 + (8 << 20) * (1 / 1.0 + 1 / 8.0), 1e-6);
  // Cuts along the last label shorten the runs of the copies, the more so the finer they are.
  const auto runs = [&](std::int64_t parts) { return model.repartition({4, 1}, {1, parts}, {1024, 1024}, 4); };
  EXPECT_GT(runs(512) - runs(256), 256 * 4 * 2 / 2.0);
}

// Planning asks for it many thousand times. Its cost is found without a look at every tile or piece, of which there are
// so many here that a look at each would take days.
TEST(CalibratedModel, RepartitionIsCheap) {
  const CalibratedModel model(round_figures(), 4);
  constexpr std::int64_t kParts = std::int64_t{1} << 15;
  const std::vector<std::int64_t> extents{kParts, kParts, kParts};
  for (int n = 0; n < 1000; ++n) EXPECT_GT(model.repartition({kParts, kParts, 1}, {1, kParts, kParts}, extents, 8), 0);
}

TEST(CalibratedModel, StorageCostsTilesAndBytes) {
  const CalibratedModel model(round_figures(), 4);
  EXPECT_DOUBLE_EQ(model.read(8, 640), 8 * 3 / 4.0 + 640 / 64.0);
  EXPECT_DOUBLE_EQ(model.read(1, 640), 3 + 640 / 16.0);
  EXPECT_DOUBLE_EQ(model.write(8, 640), 8 * 5 + 640 / 2.0);
}

TEST(CalibratedModel, BuiltInFiguresAreComplete) {
  const auto m = built_in_figures();
  for (const auto& rates : m.kernels) {
    for (const auto rate : rates.matrix_product) EXPECT_GT(rate, 0);
    for (const auto rate : rates.operations) EXPECT_GT(rate, 0);
    EXPECT_GT(std::min({rates.matrix_vector, rates.fold, rates.product_fold, rates.crosswise}), 0);
  }
  EXPECT_GT(std::min({m.load.all, m.store.all, m.repartition.all, m.read.all, m.write, m.call_seconds}), 0);
}

TEST(CalibratedModel, OneCallWakesNoThread) {
  const CalibratedModel model(round_figures(), 4);
  EXPECT_EQ(model.start(1), 0);
  EXPECT_EQ(model.start(2), round_figures().start_seconds);
  EXPECT_EQ(CalibratedModel(round_figures(), 1).start(2), 0);
}

// ---- Predictions of both models for a plan ---------------------------------------------------------------------

TEST(Prediction, ARepartitionIsOfItsFirstReader) {
  GraphBuilder g;
  const auto l = g.labels("ij", 8);
  const auto x = g.input("X", {8, 8}, {1, 8});
  const auto a = g.vertex("A", {{x, {l[0], l[1]}}}, {l[0], l[1]}, testing::op(0), Aggregate::None);
  const auto z =
      g.vertex("Z", {{x, {l[0], l[1]}}, {a, {l[0], l[1]}}}, {l[0], l[1]}, testing::product(2), Aggregate::None);
  std::vector<LabelPartition> vectors(g.graph.size());
  for (const auto v : {a, z}) vectors[v.index()] = {{l[0], l[1]}, {8, 1}};
  const auto plan = plan_fragment(g.graph, evaluate(g.graph, vectors, {}));
  EXPECT_EQ(vertices_served(plan), (std::vector<VertexId>{a, a, a, z, z}));  // scan, repartition, join, join, sink

  const CalibratedModel model(round_figures(), 1);
  const auto prediction = predict(g.graph, plan, model);
  EXPECT_EQ(prediction.nodes[1].elements, cost_repart({1, 8}, {8, 1}, {8, 8}));
  EXPECT_DOUBLE_EQ(prediction.nodes[1].seconds, model.repartition({1, 8}, {8, 1}, {8, 8}, 8) + model.read(8, 512));
  double sum = model.start(8);
  for (const auto& node : prediction.nodes) sum += node.seconds;
  EXPECT_DOUBLE_EQ(prediction.seconds, sum);
}

}  // namespace
}  // namespace eindb
