#include "executor/least_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "engine/tensors/tile_endpoints.hpp"
#include "executor/executor.hpp"
#include "optimizer/optimizer.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// Tensors of ones, made on request; some tiles are absent.
class SparseOnes final : public TileSource {
 public:
  void add(const std::string& name, TileGrid grid) { grids_.emplace(name, std::move(grid)); }

  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    if (tile_id % 5 == 3) return nullptr;
    const auto& grid = grids_.at(tensor);
    auto tile = Tile::uninitialized(DType::Float64, grid.tile_shape(grid.key_of(tile_id)));
    std::fill_n(tile.mutable_data<double>(), tile.shape().element_count(), 1.0);
    return std::make_shared<const Tile>(std::move(tile));
  }

 private:
  std::map<std::string, TileGrid> grids_;
};

// Up to five vertices that multiply matrices, subtract them from their transposes, sum rows or take the largest
// element, all of integers. Stored matrices have random partitions.
class RandomMatrices {
 public:
  explicit RandomMatrices(unsigned seed) : random_(seed) {
    const auto labels = builder_.labels("ijkl", 96 + 32 * any(6));
    auto previous = input("X", labels);
    for (int v = 0; v < 1 + any(4); ++v) previous = vertex("Z" + std::to_string(v), previous, labels);
    if (any(2) == 0) builder_.vertex("Z", {{previous, {labels[0], labels[1]}}}, {}, testing::op(0), Aggregate::Max);
    OptimizerOptions options;
    options.parallelism = std::int64_t{1} << any(7);
    plan = optimize(builder_.graph, options).fragment();
  }

  // The elements of the result, in a budget of so many bytes.
  std::vector<double> run(int threads, std::int64_t bytes) {
    Scheduler scheduler(threads);
    const Cancellation cancellation;
    const auto memory = MemoryBudget::create(bytes);
    ExecutionContext context{
        .scheduler = scheduler, .cancellation = cancellation, .memory = memory, .source = ones_, .progress = {}};
    const auto& grid = plan.sink(0).grid;
    CollectingSink sink(grid);
    sink.begin(memory);
    EXPECT_LE(run_fragment(plan, context, sink).peak_bytes, bytes);
    std::vector<double> values;
    const auto tiles = sink.take();
    for (std::int64_t n = 0; n < grid.tile_count(); ++n) {
      const auto tile = tiles->take(n);
      const auto count = static_cast<std::size_t>(grid.tile_shape(grid.key_of(n)).element_count());
      if (tile == nullptr) values.insert(values.end(), count, 0.0);
      else values.insert(values.end(), tile->data<double>(), tile->data<double>() + count);
    }
    return values;
  }

  Fragment plan;

 private:
  int any(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  VertexId input(const std::string& name, const Labels& labels) {
    const auto extents = builder_.graph.labels().extents({labels[0], labels[1]});
    const Partition partition{std::int64_t{1} << any(6), std::int64_t{1} << any(6)};
    ones_.add(name, TileGrid(Shape(extents), partition));
    return builder_.input(name, extents, partition);
  }

  VertexId vertex(const std::string& name, VertexId previous, const Labels& l) {
    const auto other = any(2) == 0 ? previous : input(name + "in", l);
    switch (products_ < 2 ? any(3) : 1 + any(2)) {  // keeps sums exact
      case 0:
        ++products_;
        return builder_.vertex(name, {{previous, {l[0], l[2]}}, {other, {l[2], l[1]}}}, {l[0], l[1]},
                               testing::product(2));
      case 1:
        return builder_.vertex(name, {{previous, {l[0], l[1]}}, {other, {l[1], l[0]}}}, {l[0], l[1]},
                               testing::call(ScalarOp::Subtract, {testing::op(0), testing::op(1)}), Aggregate::None);
      default:
        return builder_.vertex(name, {{previous, {l[0], l[2]}}, {other, {l[0], l[1]}}}, {l[0], l[1]},
                               testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}), Aggregate::Max);
    }
  }

  std::mt19937 random_;
  GraphBuilder builder_;
  SparseOnes ones_;
  int products_ = 0;
};

TEST(LeastMemory, IsEnoughForAnyNumberOfThreads) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomMatrices statement(seed);
    const auto least = least_memory(statement.plan);
    const auto expected = statement.run(1, std::int64_t{1} << 40);
    for (const int threads : {1, 2, 3, 8})
      for (const double more : {1.0, 1.2, 2.0, 5.0}) {
        const auto bytes = static_cast<std::int64_t>(static_cast<double>(least) * more);
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(threads) + " threads, " +
                     std::to_string(bytes) + " of " + std::to_string(least) + " bytes");
        EXPECT_NO_THROW(EXPECT_EQ(statement.run(threads, bytes), expected));
      }
  }
}

// Rows become columns: each new tile has pieces of all old tiles, which need not be in memory together.
TEST(LeastMemory, IsThatOfOnePieceOfARepartitionAtATime) {
  GraphBuilder builder;
  const auto l = builder.labels("ij", 256);
  const auto x = builder.input("X", {256, 256}, {16, 1}, DType::Float64);
  builder.vertex("Z", {{x, {l[0], l[1]}}}, {l[1], l[0]}, testing::op(0), Aggregate::None);
  OptimizerOptions options;
  options.parallelism = 16;
  options.output_partitions = {Partition{16, 1}};
  const auto plan = optimize(builder.graph, options).fragment();
  constexpr std::int64_t kTile = 256 * 16 * 8;
  EXPECT_GE(least_memory(plan), 2 * kTile);
  EXPECT_LE(least_memory(plan), 4 * kTile + kSmallWorkspace);
}

}  // namespace
}  // namespace eindb
