// Gathers of rows out of sources in several parts: their results, and what of the source is read.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "executor/executor.hpp"
#include "executor/least_memory.hpp"
#include "executor/scheduler.hpp"
#include "optimizer/optimizer.hpp"
#include "tests/executor/stored_tensors.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::StoredTensors;

// Notes which tiles are asked for.
struct NotingTensors final : StoredTensors {
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    if (tensor == "X") asked_for.insert(tile_id);
    return StoredTensors::read(tensor, tile_id);
  }
  std::set<std::int64_t> asked_for;
};

struct CollectRows final : TileSink {
  void write(std::int64_t, TilePtr tile) override {
    tiles.push_back(tile == nullptr ? nullptr : std::make_shared<const Tile>(convert(*tile, tile->dtype())));
  }
  std::vector<TilePtr> tiles;
};

// Z[s,d] = X[I[s],d], with zeros for indices outside.
struct GatherOfRows {
  GatherOfRows(std::int64_t rows, std::int64_t length, std::int64_t parts, std::int64_t count, std::int64_t cut) {
    const auto s = builder.label("s", count);
    const auto d = builder.label("d", length);
    const auto a = builder.label("a", rows);
    const auto x = builder.input("X", {rows, length}, {parts, 1}, DType::Float32);
    const auto i = builder.input("I", {count}, {cut}, DType::Int64);
    const auto condition = testing::call(ScalarOp::Equal, {testing::index(a), testing::op(1)});
    builder.vertex("Z", {{x, {a, d}}, {i, {s}}}, {s, d},
                   testing::call(ScalarOp::Case, {condition, testing::op(0), testing::number(0)}));
  }

  void store(std::mt19937& random, double absent, std::pair<int, int> indices) {
    for (const auto& vertex : builder.graph.vertices()) {
      if (!vertex.is_input()) continue;
      const auto& grid = vertex.stored->grid;
      const bool is_source = vertex.name == "X";
      auto values = testing::random_tensor(random, grid, vertex.dtype, is_source ? absent : 0.0,
                                           is_source ? std::pair(-3, 3) : indices);
      tensors.add(vertex.name, std::move(values), grid);
    }
  }

  DenseTensor expected() const {
    return testing::evaluate_graph(
        builder.graph, [&](const Vertex& input) { return convert(tensors.dense(input.name), input.dtype); });
  }

  DenseTensor run(const Fragment& plan, int threads, std::int64_t limit) { return run(plan, threads, limit, tensors); }
  static DenseTensor run(const Fragment& plan, int threads, std::int64_t limit, TileSource& tensors) {
    Scheduler scheduler(threads);
    const Cancellation never;
    ExecutionContext context{.scheduler = scheduler,
                             .cancellation = never,
                             .memory = MemoryBudget::create(limit),
                             .source = tensors,
                             .progress = {}};
    CollectRows rows;
    TileSink* sink = &rows;
    run_fragment(plan, context, std::span(&sink, 1));
    return assemble(rows.tiles, plan.sink(0).grid, plan.sink(0).dtype);
  }

  GraphBuilder builder;
  NotingTensors tensors;
};

TEST(RowGather, AgreesWithTheReference) {
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(random); };
  int several = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto rows = draw(1, 40);
    const auto count = draw(1, 30);
    GatherOfRows gather(rows, draw(1, 9), draw(1, std::min(rows, 9)), count, draw(1, std::min(count, 3)));
    gather.store(random, round % 3 == 0 ? 0.5 : 0.0, {-2, rows + 1});
    OptimizerOptions options;
    options.parallelism = std::int64_t{1} << draw(0, 5);
    const auto plan = optimize(gather.builder.graph, options);
    const auto& fragment = plan.fragment();
    for (const auto& node : fragment.nodes)
      if (const auto* join = std::get_if<JoinNode>(&node.op)) several += join->is_partial() ? 1 : 0;
    const auto limit = round % 4 == 0 ? least_memory(fragment) : std::int64_t{1} << 40;
    testing::expect_equal(gather.run(fragment, draw(1, 3), limit), gather.expected(), "Z");
    if (HasFailure()) return;
  }
  EXPECT_GT(several, 50);
}

TEST(RowGather, ReadsTheTilesOfItsRowsAlone) {
  std::mt19937 random(8);
  GatherOfRows gather(64, 4, 16, 5, 1);
  gather.store(random, 0, {17, 26});
  OptimizerOptions options;
  options.parallelism = 16;
  const auto plan = optimize(gather.builder.graph, options);
  const auto found = gather.run(plan.fragment(), 2, std::int64_t{1} << 40);
  testing::expect_equal(found, gather.expected(), "Z");
  for (const auto tile : gather.tensors.asked_for) EXPECT_TRUE(tile >= 4 && tile <= 6) << tile;
  EXPECT_FALSE(gather.tensors.asked_for.empty());
}

// Waits at the first tiles until several threads have asked for one.
struct MeetingTensors final : StoredTensors {
  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    if (tensor == "X") {
      std::unique_lock lock(mutex);
      threads.insert(std::this_thread::get_id());
      came.notify_all();
      came.wait_for(lock, std::chrono::seconds(20), [&] { return threads.size() >= wanted; });
    }
    return StoredTensors::read(tensor, tile_id);
  }
  std::size_t wanted = 2;
  std::mutex mutex;
  std::condition_variable came;
  std::set<std::thread::id> threads;
};

// One tile of the result, whose rows come from many tiles: threads that have nothing else to do write some of them.
TEST(RowGather, IsSharedByThreads) {
  constexpr std::int64_t kRows = 12'800;
  constexpr std::int64_t kLength = 48;
  constexpr std::int64_t kCount = 3000;
  std::mt19937 random(9);
  const GatherOfRows gather(kRows, kLength, 32, kCount, 1);
  MeetingTensors tensors;
  for (const auto& vertex : gather.builder.graph.vertices()) {
    if (!vertex.is_input()) continue;
    const auto& grid = vertex.stored->grid;
    const bool is_source = vertex.name == "X";
    auto values = testing::random_tensor(random, grid, vertex.dtype, is_source ? 0.3 : 0.0,
                                         is_source ? std::pair(-3, 3) : std::pair(-2, 12'801));
    tensors.add(vertex.name, std::move(values), grid);
  }
  const auto& source = tensors.dense("X");
  auto expected = Tile::zeros(DType::Float32, Shape({kCount, kLength}));
  for (std::int64_t s = 0; s < kCount; ++s) {
    const auto row = tensors.dense("I").data<std::int64_t>()[s];
    if (row < 0 || row >= kRows) continue;
    std::copy_n(source.data<float>() + row * kLength, kLength, expected.mutable_data<float>() + s * kLength);
  }
  OptimizerOptions options;
  options.parallelism = 32;
  options.output_partitions = {Partition{1, 1}};
  const auto plan = optimize(gather.builder.graph, options);
  const auto& fragment = plan.fragment();
  ASSERT_EQ(fragment.sink(0).grid.tile_count(), 1) << "one task makes the result";
  for (const auto threads : {2, 3}) {
    tensors.wanted = static_cast<std::size_t>(threads);
    tensors.threads.clear();
    const auto found = gather.run(fragment, threads, std::int64_t{1} << 40, tensors);
    EXPECT_EQ(tensors.threads.size(), tensors.wanted);
    testing::expect_equal(found, expected, "Z");
  }
}

}  // namespace
}  // namespace eindb
