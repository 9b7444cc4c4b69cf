#include "optimizer/calibrated_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "optimizer/optimizer.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

EinGraph square_product(std::int64_t extent) {
  GraphBuilder g;
  const auto l = g.labels("ijk", extent);
  const auto a = g.input("X", {extent, extent});
  const auto b = g.input("Y", {extent, extent});
  g.vertex("Z", {{a, {l[0], l[1]}}, {b, {l[1], l[2]}}}, {l[0], l[2]}, testing::product(2));
  return g.graph;
}

OptimizerOptions on_threads(int threads, std::int64_t memory = std::int64_t{1} << 40U) {
  OptimizerOptions options;
  options.parallelism = 4 * threads;
  options.machine = MachineOptions{.figures = built_in_figures(), .threads = threads, .memory_limit = memory};
  return options;
}

TEST(CalibratedChoice, SmallWorkIsNotCut) {
  const auto plan = optimize(square_product(8), on_threads(4));
  EXPECT_EQ(plan.parallelism, 1);
  ASSERT_EQ(plan.parallelism_candidates.size(), 1) << "it takes some microseconds";
  EXPECT_EQ(plan.parallelism_candidates[0].parallelism, 1);
}

TEST(CalibratedChoice, TilesOfNoCellsAreReadAsTheyAreHeld) {
  const TileGrid held(Shape({0, 3}), {1, 2});
  EXPECT_EQ(readable_tiles_of_cells(held, DType::Float64, 1 << 20), held.partition());
}

TEST(CalibratedChoice, LargeWorkIsCutForAllThreads) {
  const auto plan = optimize(square_product(4096), on_threads(4));
  EXPECT_GE(plan.parallelism, 4);
  const auto fastest = std::min_element(plan.parallelism_candidates.begin(), plan.parallelism_candidates.end(),
                                        [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  EXPECT_EQ(fastest->parallelism, plan.parallelism);
}

// A chain of products of 2 x 2 matrices: nearly all of its predicted time is that of starting calls.
EinGraph long_chain(std::size_t length, std::int64_t extent) {
  GraphBuilder g;
  auto last = g.input("X0", {extent, extent});
  auto row = g.label("i", extent);
  const auto first = row;
  auto column = g.label("j", extent);
  for (std::size_t n = 1; n < length; ++n) {
    const auto next = g.label("k", extent);
    const auto factor = g.input("X" + std::to_string(n), {extent, extent});
    last = g.vertex("Z" + std::to_string(n), {{last, {first, column}}, {factor, {column, next}}}, {first, next},
                    testing::product(2));
    column = next;
  }
  return g.graph;
}

// Deciding takes time in proportion to what the statement is predicted to take.
TEST(CalibratedChoice, WhatWouldTakeLongerToDecideThanToGainIsNotTried) {
  EXPECT_GT(optimize(long_chain(10, 256), on_threads(4)).parallelism_candidates.size(), 2);
  const auto plan = optimize(long_chain(2000, 8), on_threads(4));
  EXPECT_EQ(plan.parallelism, 1);
  EXPECT_LE(plan.parallelism_candidates.size(), 2);
}

// Several calls only gain by several threads, and the executor asks no other one for so little.
TEST(CalibratedChoice, WhatOneThreadComputesIsNotCut) {
  const auto plan = optimize(long_chain(10, 4), on_threads(4));
  EXPECT_EQ(plan.parallelism, 1);
  EXPECT_EQ(plan.parallelism_candidates.size(), 1);
}

// Six labels have too many vectors of 1,024 calls to compare them all, but the tiles that there are make as many.
TEST(CalibratedChoice, ManyStoredTilesMayBeReadAsTheyLie) {
  GraphBuilder g;
  const auto l = g.labels("abcdef", 32);
  const auto x = g.input("X", {32, 32, 32, 32, 32, 32}, {8, 1, 8, 4, 2, 2});
  const auto y = g.input("Y", {32, 32});
  g.vertex("Z", {{x, l}, {y, {l[5], l[3]}}}, {l[0], l[1], l[2], l[4]}, testing::product(2));
  const auto plan = optimize(g.graph, on_threads(1));
  EXPECT_EQ(plan.parallelism, 1024);
  EXPECT_EQ(plan.labelling.vertices.back().partition.parts, (Partition{8, 1, 8, 4, 2, 2}));
}

TEST(CalibratedChoice, AParallelismThatIsGivenStays) {
  auto options = on_threads(4);
  options.machine->choose_parallelism = false;
  options.parallelism = 32;
  const auto plan = optimize(square_product(8), options);
  EXPECT_EQ(plan.parallelism, 32);
  EXPECT_EQ(plan.parallelism_candidates.size(), 1);
}

// Z[i,j] = X[i,j] * X[j,i]: if uncut, X is read as stored, otherwise in two further partitions.
EinGraph symmetric_product() {
  GraphBuilder g;
  const auto l = g.labels("ij", 1024);
  const auto x = g.input("X", {1024, 1024});
  g.vertex("Z", {{x, {l[0], l[1]}}, {x, {l[1], l[0]}}}, l, testing::product(2), Aggregate::None);
  return g.graph;
}

// The fastest plan that fits; if none does, the smallest.
TEST(CalibratedChoice, TheMemoryLimitIsAConstraint) {
  const auto free = optimize(symmetric_product(), on_threads(4));
  double least = free.parallelism_candidates[0].peak_bytes;
  double most = least;
  for (const auto& candidate : free.parallelism_candidates) {
    least = std::min(least, candidate.peak_bytes);
    most = std::max(most, candidate.peak_bytes);
  }
  ASSERT_LT(least, most);
  const auto limited = optimize(symmetric_product(), on_threads(4, static_cast<std::int64_t>(least)));
  for (const auto& candidate : limited.parallelism_candidates) {
    EXPECT_TRUE(candidate.fits || candidate.parallelism != limited.parallelism);
    EXPECT_EQ(candidate.fits, candidate.peak_bytes <= least);
  }
  const auto impossible = optimize(symmetric_product(), on_threads(4, 1000));
  for (const auto& candidate : impossible.parallelism_candidates)
    EXPECT_TRUE(candidate.peak_bytes == least || candidate.parallelism != impossible.parallelism);
}

TEST(CalibratedChoice, PlanningIsBounded) {
  GraphBuilder g;
  const auto l = g.labels("abcdefgh", 64);
  auto last = g.input("X", std::vector<std::int64_t>(8, 64));
  for (int n = 0; n < 4; ++n) last = g.vertex("V" + std::to_string(n), {{last, l}}, l, testing::op(0), Aggregate::None);
  auto options = on_threads(64);
  options.parallelism = 2;
  options.disabled_passes = {"elementwise_fusion", "repeated_joins", "inlining"};
  for (const auto& candidate : optimize(g.graph, options).parallelism_candidates)
    EXPECT_LE(candidate.parallelism, 32);  // 8 labels have 792 vectors of 32 calls, and 1716 of 64
}

TEST(StorableTiles, HaveHalfAMebibyteToFour) {
  const Shape square({4096, 4096});
  EXPECT_EQ(storable_tiles(square, DType::Float32, {64, 1}), (Partition{64, 1}));
  EXPECT_EQ(storable_tiles(square, DType::Float32, {1, 1}), (Partition{4, 4}));
  EXPECT_EQ(storable_tiles(square, DType::Float32, {1024, 1}), (Partition{128, 1}));
  EXPECT_EQ(storable_tiles(Shape({10, 10}), DType::Float64, {8, 2}), (Partition{1, 1}));
  EXPECT_EQ(storable_tiles(Shape({0, 10}), DType::Float64, {1, 2}), (Partition{1, 1}));
  EXPECT_EQ(storable_tiles(Shape(std::vector<std::int64_t>{}), DType::Float64, {}), Partition{});
  // The extent ends the doubling.
  EXPECT_EQ(storable_tiles(Shape({3, 4 << 20}), DType::Float64, {1, 1}), (Partition{1, 32}));
}

TEST(StorableTiles, CountWhatIsStored) {
  const Shape square({4096, 4096});
  EXPECT_EQ(storable_tiles(square, with_encoding(Encoding::BFloat16), {128, 1}), (Partition{64, 1}));
  EXPECT_EQ(storable_tiles(square, with_encoding(Encoding::Int8), {256, 1}), (Partition{64, 1}));
  EXPECT_EQ(storable_tiles(square, with_encoding(Encoding::Int32), {256, 1}), (Partition{128, 1}));
}

TEST(CalibratedChoice, ResultsInBlocksWithScalesAreCutBetweenThem) {
  auto options = on_threads(4);
  const auto between = default_partition(Shape({2048, 2048}), with_encoding(Encoding::Q80), 1 << 20);
  options.machine->stored_partitions = {between};
  options.machine->stored_encoding = Encoding::Q80;
  const auto plan = optimize(square_product(2048), options);
  EXPECT_EQ(plan.fragment().sink(0).grid.partition(), between);
}

// Rows of X, which would take some 6 ms to read, and its repartition 20.
TEST(CalibratedChoice, AGatherTakesTheTimeOfItsRows) {
  for (const Partition& parts : {Partition{64, 2}, Partition{64, 1}}) {
    GraphBuilder g;
    const auto s = g.label("s", 2048);
    const auto d = g.label("d", 1024);
    const auto a = g.label("a", 32000);
    const auto x = g.input("X", {32000, 1024}, parts, DType::Float32);
    const auto i = g.input("I", {2048}, {1}, DType::Int64);
    const auto condition = testing::call(ScalarOp::Equal, {testing::index(a), testing::op(1)});
    g.vertex("Z", {{x, {a, d}}, {i, {s}}}, {s, d},
             testing::call(ScalarOp::Case, {condition, testing::op(0), testing::number(0)}));
    const auto plan = optimize(g.graph, on_threads(2));
    const auto fastest = std::min_element(plan.parallelism_candidates.begin(), plan.parallelism_candidates.end(),
                                          [](const auto& l, const auto& r) { return l.seconds < r.seconds; });
    EXPECT_LT(fastest->seconds, 1.5e-3);
    EXPECT_GT(fastest->seconds, 2e-4);
    EXPECT_GE(plan.fragment().sink(0).grid.tile_count(), 2) << "each thread makes a part";
    EXPECT_EQ(plan.fragment().node(NodeId(0)).grid.partition(), parts) << "and reads X as it lies";
  }
}

// Images of 7 x 7 with 512 channels, and weights in 16 tiles: each call has some of the channels of the result, and
// reads the patches of small images where these lie.
TEST(CalibratedChoice, AConvolutionOfManyChannelsIsCutByThoseOfItsResult) {
  GraphBuilder g;
  const auto b = g.label("b", 4);
  const auto c = g.label("c", 512);
  const auto u = g.label("u", 7);
  const auto v = g.label("v", 7);
  const auto p = g.label("p", 3);
  const auto q = g.label("q", 3);
  const auto y = g.label("y", 7);
  const auto x = g.label("x", 7);
  const auto o = g.label("o", 512);
  const auto image = g.input("X", {4, 512, 7, 7}, {1, 1, 1, 1}, DType::Float32);
  const auto weights = g.input("Y", {512, 512, 3, 3}, {4, 4, 1, 1}, DType::Float32);
  const auto equation = [](Label read, Label of_result, Label of_weights) {
    const auto place =
        testing::call(ScalarOp::Add, {testing::index(of_result), testing::index(of_weights), testing::number(-1)});
    return testing::call(ScalarOp::Equal, {testing::index(read), place});
  };
  const auto patches =
      g.vertex("P", {{image, {b, c, u, v}}}, {b, c, p, q, y, x},
               testing::call(ScalarOp::Case, {testing::call(ScalarOp::And, {equation(u, y, p), equation(v, x, q)}),
                                              testing::op(0), testing::number(0)}));
  g.contraction("Z", {{patches, {b, c, p, q, y, x}}, {weights, {o, c, p, q}}}, {b, o, y, x});
  const auto plan = optimize(g.graph, on_threads(2));
  const JoinNode* fused = nullptr;
  for (const auto& node : plan.fragment().nodes)
    if (const auto* join = std::get_if<JoinNode>(&node.op); join != nullptr && !join->steps.empty()) fused = join;
  ASSERT_NE(fused, nullptr) << "the patches are not stored";
  EXPECT_GE(fused->partition.of(o), 2);
  EXPECT_EQ(fused->partition.of(c), 1);
}

TEST(CalibratedChoice, StoredTilesFollowTheLastVertex) {
  auto options = on_threads(4);
  options.machine->stored_partitions = {Partition{64, 64}};
  const auto plan = optimize(square_product(2048), options);
  const auto& grid = plan.fragment().sink(0).grid;
  double bytes = 8;
  for (std::size_t d = 0; d < 2; ++d) bytes *= static_cast<double>(largest_part(2048, grid.partition()[d]));
  EXPECT_GE(bytes, 1 << 19);
  EXPECT_LE(bytes, 4 << 20);
  EXPECT_NE(grid.partition(), (Partition{64, 64}));
}

TEST(CalibratedChoice, EachStoredResultHasTilesOfItsOwn) {
  auto options = on_threads(4);
  testing::GraphBuilder g;
  const auto l = g.labels("ijk", 2048);
  const auto x = g.input("X", {2048, 2048}, {4, 4});
  const auto z = g.contraction("Z", {{x, {l[0], l[1]}}, {x, {l[1], l[2]}}}, {l[0], l[2]});
  const auto s = g.vertex("S", {{z, {l[0], l[2]}}}, {l[0]}, testing::op(0));
  const auto w = g.vertex("W", {{z, {l[0], l[2]}}}, {l[2], l[0]}, testing::op(0));
  g.graph.set_outputs({s, w, z});
  options.machine->stored_partitions = {Partition{64}, Partition{64, 64}, Partition{64, 64}};
  options.output_partitions = {std::nullopt, std::nullopt, Partition{3, 5}};
  const auto plan = optimize(g.graph, options);
  EXPECT_EQ(plan.fragment().sink(0).grid.partition(), Partition{1}) << "16 KiB";
  EXPECT_NE(plan.fragment().sink(1).grid.partition(), (Partition{64, 64}));
  EXPECT_EQ(plan.fragment().sink(2).grid.partition(), (Partition{3, 5})) << "as it is asked for";
}

}  // namespace
}  // namespace eindb
