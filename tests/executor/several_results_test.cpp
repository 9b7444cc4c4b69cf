// Plans with several results, from the optimizer to the sinks.
#include <gtest/gtest.h>

#include <random>

#include "common/error.hpp"
#include "executor/executor.hpp"
#include "executor/scheduler.hpp"
#include "executor/tile_buffer.hpp"
#include "optimizer/optimizer.hpp"
#include "plan/validator.hpp"
#include "tests/executor/random_statement.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;
using testing::RandomStatement;
using testing::StoredTensors;

struct CollectResult final : TileSink {
  void write(std::int64_t tile_id, TilePtr tile) override {
    EXPECT_EQ(tile_id, static_cast<std::int64_t>(tiles.size())) << "tiles of a result come in order";
    tiles.push_back(std::move(tile));
  }
  std::vector<TilePtr> tiles;
};

struct ResultsOutcome {
  std::vector<DenseTensor> results;
  ExecutionProfile profile;
  std::int64_t spilled = 0;
};

ResultsOutcome run(const Fragment& plan, StoredTensors& tensors, int threads,
                   std::int64_t limit = std::int64_t{1} << 40) {
  Scheduler scheduler(threads);
  const Cancellation never;
  ExecutionContext context{.scheduler = scheduler,
                           .cancellation = never,
                           .memory = MemoryBudget::create(limit),
                           .source = tensors,
                           .progress = {}};
  std::vector<CollectResult> collected(plan.result_count());
  std::vector<TileSink*> sinks;
  for (auto& sink : collected) sinks.push_back(&sink);
  ResultsOutcome out{{}, run_fragment(plan, context, sinks), context.memory->written_bytes()};
  for (std::size_t n = 0; n < collected.size(); ++n) {
    EXPECT_EQ(static_cast<std::int64_t>(collected[n].tiles.size()), plan.sink(n).grid.tile_count());
    out.results.push_back(assemble(collected[n].tiles, plan.sink(n).grid, plan.sink(n).dtype));
    collected[n].tiles.clear();
  }
  EXPECT_EQ(context.memory->used(), 0) << "every tile is let go";
  return out;
}

void expect_equal(const std::vector<DenseTensor>& found, const std::vector<DenseTensor>& expected,
                  const EinGraph& graph) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t n = 0; n < found.size(); ++n)
    testing::expect_equal(found[n], expected[n], "result " + graph.vertex(graph.outputs()[n]).name);
}

// With any cutting, slicing, fusion and disabled passes.
TEST(SeveralResults, AgreeWithTheReference) {
  int several = 0;
  int sliced = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::mt19937 random(static_cast<unsigned>(round));
    RandomStatement statement(random, 0.3, {-1, 1}, true);
    statement.want_several();
    const auto& graph = statement.builder.graph;
    OptimizerOptions options;
    options.parallelism = std::int64_t{1} << (round % 4);
    options.memory_limit = round % 3 == 0 ? 512 : 0;
    if (round % 5 == 0) options.disabled_passes = {"common_subexpressions", "common_parts", "elementwise_fusion"};
    for (const auto output : graph.outputs()) {
      options.output_partitions.emplace_back();
      if (random() % 2 == 0) options.output_partitions.back() = graph.vertex(output).bound.extents();
    }
    const auto plan = optimize(graph, options);
    ASSERT_EQ(plan.graph.outputs().size(), graph.outputs().size());
    for (std::size_t n = 0; n < graph.outputs().size(); ++n) {
      EXPECT_EQ(plan.graph.vertex(plan.graph.outputs()[n]).name, graph.vertex(graph.outputs()[n]).name);
      const auto& grid = plan.fragment().sink(n).grid;
      EXPECT_EQ(grid.partition(), options.output_partitions[n].value_or(grid.partition()));
    }
    expect_equal(run(plan.fragment(), statement.tensors, 1 + round % 2).results, statement.expected(), graph);
    several += graph.outputs().size() > 1 ? 1 : 0;
    sliced += plan.graph.sliced().empty() ? 0 : 1;
    if (HasFailure()) return;
  }
  EXPECT_GT(several, 100);
  EXPECT_GT(sliced, 5);
}

// A row-wise softmax with its intermediate results, which would otherwise be fused into one chain.
struct Softmax : ::testing::Test {
  Softmax() {
    std::mt19937 random(7);
    const TileGrid grid(Shape({kRows, kColumns}), {4, 1});
    tensors.add("X", testing::random_tensor(random, grid, DType::Float64, 0), grid);
    const auto i = builder.label("i", kRows);
    const auto j = builder.label("j", kColumns);
    const auto x = builder.input("X", {kRows, kColumns}, {4, 1});
    most = builder.vertex("M", {{x, {i, j}}}, {i}, op(0), Aggregate::Max);
    shifted = builder.vertex("E", {{x, {i, j}}, {most, {i}}}, {i, j}, call(ScalarOp::Subtract, {op(0), op(1)}));
    sum = builder.vertex("T", {{shifted, {i, j}}}, {i}, op(0));
    last = builder.vertex("Z", {{shifted, {i, j}}, {sum, {i}}}, {i, j}, call(ScalarOp::Add, {op(0), op(1)}));
  }

  std::vector<DenseTensor> expected() const {
    return testing::evaluate_outputs(builder.graph, [&](const Vertex& vertex) {
      const auto& whole = tensors.dense(vertex.stored->name);
      auto copy = Tile::uninitialized(whole.dtype(), whole.shape());
      std::copy(whole.bytes().begin(), whole.bytes().end(), copy.mutable_bytes().begin());
      return copy;
    });
  }

  static constexpr std::int64_t kRows = 512;
  static constexpr std::int64_t kColumns = 256;
  StoredTensors tensors;
  GraphBuilder builder;
  VertexId most, shifted, sum, last;
};

TEST_F(Softmax, WhatIsWantedOnTheWayIsNotFusedAway) {
  OptimizerOptions options;
  options.parallelism = 4;
  EXPECT_FALSE(optimize(builder.graph, options).graph.chains().empty());
  builder.graph.set_outputs({sum, last, shifted});
  const auto plan = optimize(builder.graph, options);
  EXPECT_EQ(testing::texts(plan.graph).size(), 4U);
  const auto found = run(plan.fragment(), tensors, 2).results;
  expect_equal(found, expected(), builder.graph);
}

// A result that is also read goes to the scratch file and is restored for both uses.
TEST_F(Softmax, SpillsWhatDoesNotFit) {
  builder.graph.set_outputs({last, shifted});
  OptimizerOptions options;
  options.parallelism = 16;
  const auto plan = optimize(builder.graph, options);
  constexpr std::int64_t kLimit = 3 << 18;  // 1 MiB for each of X, E and Z
  Scheduler scheduler(2);
  const Cancellation never;
  const auto memory = MemoryBudget::create(kLimit);
  ExecutionContext context{
      .scheduler = scheduler, .cancellation = never, .memory = memory, .source = tensors, .progress = {}};
  // A sink that keeps tiles as a session does, counted in the statement's memory.
  struct Keep final : TileSink {
    Keep(const std::shared_ptr<MemoryBudget>& memory, const TileGrid& tiles_of)
        : grid(tiles_of), tiles(memory, tiles_of.tile_count()) {}
    void write(std::int64_t tile_id, TilePtr tile) override { tiles.put(tile_id, std::move(tile)); }
    TileGrid grid;
    BufferedTiles tiles;
  };
  Keep kept_last(memory, plan.fragment().sink(0).grid);
  Keep kept_shifted(memory, plan.fragment().sink(1).grid);
  TileSink* const sinks[] = {&kept_last, &kept_shifted};
  run_fragment(plan.fragment(), context, sinks);
  EXPECT_GT(memory->written_bytes(), 0);
  const auto values = expected();
  Keep* const kept[] = {&kept_last, &kept_shifted};
  for (std::size_t n = 0; n < 2; ++n) {
    const auto wanted = split(values[n], kept[n]->grid);
    for (std::int64_t id = 0; id < kept[n]->grid.tile_count(); ++id)
      testing::expect_equal(*kept[n]->tiles.get(id), *wanted[static_cast<std::size_t>(id)], "a tile");
  }
}

TEST_F(Softmax, AnErrorOfOneSinkEndsAll) {
  builder.graph.set_outputs({sum, last});
  const auto plan = optimize(builder.graph, {});
  struct Refuse final : TileSink {
    void write(std::int64_t, TilePtr) override { throw Error(ErrorKind::Value, "no room"); }
  } refuse;
  CollectResult collect;
  Scheduler scheduler(2);
  const Cancellation never;
  ExecutionContext context{.scheduler = scheduler,
                           .cancellation = never,
                           .memory = MemoryBudget::create(1 << 30),
                           .source = tensors,
                           .progress = {}};
  TileSink* const sinks[] = {&collect, &refuse};
  EXPECT_THROW(run_fragment(plan.fragment(), context, sinks), Error);
}

}  // namespace
}  // namespace eindb
