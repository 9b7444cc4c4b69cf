// Plans that compute a window of label space.
#include <gtest/gtest.h>

#include <random>

#include "executor/executor.hpp"
#include "plan/validator.hpp"
#include "tests/executor/stored_tensors.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// A plan for the graph's last vertex, whose inputs are stored in the partitions that it reads.
Fragment plan_of(const EinGraph& graph, const LabelPartition& partition) {
  const auto& vertex = graph.vertex(graph.output());
  Fragment plan{graph.labels(), {}};
  JoinNode join{{}, vertex.einsum, partition, vertex.compute_dtype};
  for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
    const auto& input = graph.vertex(vertex.inputs[n]);
    auto tensor = *input.stored;
    tensor.grid = TileGrid(input.bound, partition.project(vertex.einsum.inputs[n]));
    plan.nodes.push_back({ScanNode{tensor}, vertex.inputs[n], tensor.dtype, tensor.grid});
    join.inputs.emplace_back(n);
  }
  const TileGrid grid(vertex.bound, partition.project(vertex.einsum.output));
  const auto aggregated = partition.project(vertex.einsum.aggregated);
  const auto add = [&](auto op) { plan.nodes.push_back({std::move(op), graph.output(), vertex.dtype, grid}); };
  add(std::move(join));
  if (std::any_of(aggregated.begin(), aggregated.end(), [](auto parts) { return parts > 1; }))
    add(GroupByNode{NodeId(plan.nodes.size() - 1)});
  add(SinkNode{NodeId(plan.nodes.size() - 1)});
  return plan;
}

struct CollectTiles final : TileSink {
  explicit CollectTiles(std::int64_t count) : tiles(static_cast<std::size_t>(count)) {}
  void write(std::int64_t tile_id, TilePtr tile) override {
    EXPECT_GT(tile_id, last) << "tiles come in order";
    last = tile_id;
    ++written;
    tiles.at(static_cast<std::size_t>(tile_id)) = std::move(tile);
  }
  std::vector<TilePtr> tiles;
  std::int64_t last = -1;
  std::int64_t written = 0;
};

struct WindowTest : ::testing::Test {
  ExecutionProfile run(const Fragment& plan, TileSink& sink, int threads = 1,
                       std::int64_t limit = std::int64_t{1} << 30) {
    validate(plan);
    Scheduler scheduler(threads);
    ExecutionContext context{.scheduler = scheduler,
                             .cancellation = cancellation,
                             .memory = MemoryBudget::create(limit),
                             .source = tensors,
                             .progress = {}};
    return run_fragment(plan, context, sink);
  }

  testing::StoredTensors tensors;
  Cancellation cancellation;
};

// All windows of vertices of all kinds, with label values and absent tiles: windows over the result's labels add up to
// the whole result, and no call is repeated.
TEST_F(WindowTest, WindowsOfTheResultMakeUpTheWhole) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    GraphBuilder builder;
    Labels all;
    LabelPartition cuts;
    for (int l = 0; l < 4; ++l) {
      all.push_back(builder.label("l" + std::to_string(l), static_cast<std::int64_t>(4 + random() % 6)));
      cuts.labels.push_back(all.back());
      cuts.parts.push_back(std::int64_t{1} << random() % 3);
    }
    std::vector<GraphBuilder::Read> reads;
    for (std::size_t n = 0; n < 1 + random() % 3; ++n) {
      Labels labels;
      for (const auto label : all)
        if (random() % 2 == 0) labels.push_back(label);
      const auto name = "X" + std::to_string(round) + "_" + std::to_string(n);
      const auto extents = builder.graph.labels().extents(labels);
      const TileGrid grid(Shape(extents), cuts.project(labels));
      tensors.add(name, testing::random_tensor(random, grid, DType::Float64, 0.3), grid);
      reads.push_back({builder.input(name, extents, grid.partition()), labels});
    }
    Labels output;
    for (const auto label : all)
      if (random() % 2 == 0) output.push_back(label);
    const auto factors = testing::product(reads.size());
    const auto expression =
        round % 3 == 0 ? testing::call(ScalarOp::Add, {factors, testing::index(all[random() % 4])}) : factors;
    builder.vertex("Z", reads, output, expression, round % 4 == 0 ? Aggregate::Max : Aggregate::Sum);
    const auto& einsum = builder.graph.vertex(builder.graph.output()).einsum;
    LabelPartition partition{einsum.labels(), {}};
    partition.parts = cuts.project(partition.labels);
    auto plan = plan_of(builder.graph, partition);
    const auto& grid = plan.nodes.back().grid;
    CollectTiles whole(grid.tile_count());
    const auto expected = run(plan, whole);
    CollectTiles parts(grid.tile_count());
    const auto join =
        plan.nodes.size() - (std::holds_alternative<GroupByNode>(plan.nodes[plan.nodes.size() - 2].op) ? 3 : 2);
    std::int64_t calls = 0;
    std::int64_t elements = 0;
    const TileGrid blocks(Shape(builder.graph.labels().extents(einsum.output)), partition.project(einsum.output));
    for (std::int64_t b = 0; b < blocks.tile_count(); ++b) {
      plan.window.clear();
      for (std::size_t d = 0; d < einsum.output.size(); ++d)
        plan.window.push_back({einsum.output[d], blocks.partition()[d], blocks.key_of(b)[d]});
      const auto profile = run(plan, parts, 1 + round % 2);
      calls += profile.nodes[join].kernel_calls + profile.nodes[join].skipped_calls;
      elements += profile.nodes[plan.nodes.size() - 2].elements;
    }
    EXPECT_EQ(parts.written, grid.tile_count());
    EXPECT_EQ(calls, partition.kernel_calls());
    const auto combined = join + 3 == plan.nodes.size() ? expected.nodes[join + 1].elements : elements;
    EXPECT_EQ(elements, combined);
    testing::expect_equal(assemble(parts.tiles, grid, DType::Float64), assemble(whole.tiles, grid, DType::Float64), "");
  }
}

// Z[i] = SUM(X[i,j]), computed in windows of j, in little memory.
TEST_F(WindowTest, WindowsOfAggregatedLabelsArePartialSums) {
  GraphBuilder builder;
  const auto l = builder.labels("ij", 64);
  const TileGrid grid(Shape({64, 64}), {8, 8});
  std::mt19937 random(5);
  tensors.add("X", testing::random_tensor(random, grid, DType::Float64, 0), grid);
  builder.vertex("Z", {{builder.input("X", {64, 64}, {8, 8}), l}}, {l[0]}, testing::op(0));
  auto plan = plan_of(builder.graph, {l, {8, 8}});
  CollectTiles whole(8);
  run(plan, whole);
  auto sum = Tile::zeros(DType::Float64, Shape({64}));
  for (std::int64_t part = 0; part < 4; ++part) {
    plan.window = {{l[1], 4, part}};
    CollectTiles partial(8);
    run(plan, partial, 2, 16 << 10);
    const auto values = assemble(partial.tiles, plan.nodes.back().grid, DType::Float64);
    for (int n = 0; n < 64; ++n) sum.mutable_data<double>()[n] += values.data<double>()[n];
  }
  testing::expect_equal(sum, assemble(whole.tiles, plan.nodes.back().grid, DType::Float64), "partial sums");
}

TEST_F(WindowTest, TilesLieInTheWindowOrOutsideOfIt) {
  GraphBuilder builder;
  const auto l = builder.labels("ij", 64);
  builder.vertex("Z", {{builder.input("X", {64, 64}, {6, 8}), l}}, {l[0]}, testing::op(0));
  auto plan = plan_of(builder.graph, {l, {6, 8}});
  plan.window = {{l[0], 3, 2}};
  EXPECT_NO_THROW(validate(plan));
  for (const auto& window : {WindowLabel{l[0], 4, 0}, WindowLabel{l[0], 3, 3}, WindowLabel{l[0], 3, -1},
                             WindowLabel{l[0], 0, 0}, WindowLabel{Label(7), 1, 0}}) {
    plan.window = {window};
    EXPECT_ANY_THROW(validate(plan));
  }
}

}  // namespace
}  // namespace eindb
