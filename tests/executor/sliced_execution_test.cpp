#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <map>
#include <random>

#include "common/error.hpp"
#include "executor/executor.hpp"
#include "optimizer/optimizer.hpp"
#include "plan/validator.hpp"
#include "tensor/dense_tensor.hpp"
#include "tensor/random.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// Integer values, so that sums in any order are equal; tiles of stored tensors by name.
class SlicedTensors final : public TileSource {
 public:
  VertexId add(GraphBuilder& builder, const std::string& name, const std::vector<std::int64_t>& extents,
               const Partition& partition, DType type, bool attached = false) {
    auto dense = Tile::zeros(DType::Int64, Shape(extents));
    for (std::int64_t n = 0; n < dense.shape().element_count(); ++n)
      dense.mutable_data<std::int64_t>()[n] =
          static_cast<std::int64_t>(random_normal(dense_.size() + 1, static_cast<std::uint64_t>(n)) * 1.5);
    if (type != DType::Int64) dense = convert_to(type, dense);
    tiles_[name] = split(dense, TileGrid(dense.shape(), partition));
    dense_.emplace(name, std::move(dense));
    return builder.graph.add(make_input({name, type, TileGrid(Shape(extents), partition), std::nullopt, attached}));
  }

  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    return tiles_.at(tensor)[static_cast<std::size_t>(tile_id)];
  }

  TilePtr read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id, ValueOrder) override {
    return split(dense_.at(tensor), grid)[static_cast<std::size_t>(tile_id)];
  }

  DenseTensor operator()(const Vertex& vertex) const { return copy(dense_.at(vertex.stored->name)); }

 private:
  static Tile copy(const Tile& tile) {
    auto out = Tile::uninitialized(tile.dtype(), tile.shape());
    std::copy(tile.bytes().begin(), tile.bytes().end(), out.mutable_bytes().begin());
    return out;
  }
  static Tile convert_to(DType type, const Tile& whole) {
    auto out = Tile::zeros(type, whole.shape());
    for (std::int64_t n = 0; n < whole.shape().element_count(); ++n) {
      const auto value = whole.data<std::int64_t>()[n];
      if (type == DType::Float32) out.mutable_data<float>()[n] = static_cast<float>(value);
      if (type == DType::Float64) out.mutable_data<double>()[n] = static_cast<double>(value);
      if (type == DType::Complex128) out.mutable_data<std::complex<double>>()[n] = {static_cast<double>(value), 1.0};
    }
    return out;
  }

  std::map<std::string, std::vector<TilePtr>> tiles_;
  std::map<std::string, Tile> dense_;
};

struct SlicedOutcome {
  OptimizedPlan plan;
  DenseTensor result;
  ExecutionProfile profile;
  std::int64_t bytes_left = 0;
  std::vector<std::int64_t> progress;
};

SlicedOutcome run(SlicedTensors& tensors, const EinGraph& graph, std::int64_t limit, int threads = 2,
                  const Cancellation& cancellation = {}) {
  OptimizerOptions options;
  options.parallelism = 4;
  options.memory_limit = limit;
  auto plan = optimize(graph, options);
  struct Collect final : TileSink {
    void write(std::int64_t, TilePtr tile) override { tiles.push_back(std::move(tile)); }
    std::vector<TilePtr> tiles;
  } sink;
  Scheduler scheduler(threads);
  std::vector<std::int64_t> progress;
  ExecutionContext context{.scheduler = scheduler,
                           .cancellation = cancellation,
                           .memory = MemoryBudget::create(std::int64_t{1} << 40),
                           .source = tensors,
                           .progress = [&](std::string_view, std::int64_t done, std::int64_t total) {
                             EXPECT_LT(done, total);
                             progress.push_back(done);
                           }};
  auto profile = run_fragment(plan.fragment(), context, sink);
  auto result = assemble(sink.tiles, plan.fragment().sink(0).grid, plan.fragment().sink(0).dtype);
  sink.tiles.clear();
  return {std::move(plan), std::move(result), std::move(profile), context.memory->used(), std::move(progress)};
}

void expect_equal(const DenseTensor& a, const DenseTensor& b, const std::string& what) {
  ASSERT_EQ(a.dtype(), b.dtype()) << what;
  ASSERT_EQ(a.shape(), b.shape()) << what;
  // Values are compared rather than bytes, since 0 and -0 are equal.
  const auto same = [&]<class T>(T) {
    return std::equal(a.data<T>(), a.data<T>() + a.shape().element_count(), b.data<T>());
  };
  switch (a.dtype()) {
    case DType::Int64: EXPECT_TRUE(same(std::int64_t{})) << what; break;
    case DType::Float32: EXPECT_TRUE(same(float{})) << what; break;
    case DType::Float64: EXPECT_TRUE(same(double{})) << what; break;
    case DType::Complex64: EXPECT_TRUE(same(std::complex<float>{})) << what; break;
    case DType::Complex128: EXPECT_TRUE(same(std::complex<double>{})) << what; break;
  }
}

constexpr DType kSlicedTypes[] = {DType::Int64, DType::Float64, DType::Float32, DType::Complex128};

// Networks of every kind over labels of extents 1 to 7, one n-ary vertex each, under limits far below their need.
TEST(SlicedNetworks, AgreeWithTheReference) {
  std::mt19937 random(11);
  int sliced = 0;
  for (int round = 0; round < 100; ++round) {
    GraphBuilder builder;
    SlicedTensors tensors;
    Labels all;
    for (int l = 0; l < 7; ++l)
      all.push_back(builder.label("l" + std::to_string(l), static_cast<std::int64_t>(1 + random() % 7)));
    const auto type = kSlicedTypes[random() % 4];
    std::vector<GraphBuilder::Read> reads;
    bool any_attached = false;
    Labels used;
    const auto operands = 3 + random() % 3;
    for (std::size_t n = 0; n < operands; ++n) {
      Labels labels;
      std::vector<std::int64_t> extents;
      Partition partition;
      for (const auto label : all) {
        if (random() % 5 > 1) continue;
        labels.push_back(label);
        extents.push_back(builder.graph.labels().extent(label));
        partition.push_back(1 + static_cast<std::int64_t>(random()) % extents.back());
      }
      append_distinct(used, labels);
      const bool attached = random() % 5 == 0;
      any_attached = any_attached || attached;
      reads.push_back({tensors.add(builder, "X" + std::to_string(n), extents, partition, type, attached), labels});
    }
    Labels output;
    for (const auto label : used)
      if (random() % 3 == 0) output.push_back(label);
    const auto aggregate = random() % 4 == 0 ? Aggregate::Max : Aggregate::Sum;
    if (is_complex(type) && aggregate == Aggregate::Max) continue;
    builder.vertex("Z", reads, output, testing::product(operands), aggregate);
    const auto expected = testing::evaluate_graph(builder.graph, tensors);
    const auto whole = run(tensors, builder.graph, 0);
    for (const double share : {0.8, 0.5, 0.3}) {
      const auto limit = static_cast<std::int64_t>(whole.plan.peak_bytes * share);
      const auto outcome = run(tensors, builder.graph, std::max<std::int64_t>(1, limit), 1 + round % 3);
      const auto what = "round " + std::to_string(round) + ", share " + std::to_string(share);
      expect_equal(outcome.result, expected, what);
      EXPECT_EQ(outcome.bytes_left, 0) << what;
      // One thread has no partial results. Plans do not include copies of tensors in memory, nor all overlap if tiles
      // and slices do not nest.
      if (round % 3 == 0 && !any_attached) {
        const auto tiles = outcome.profile.peak_bytes - outcome.profile.workspace_bytes;
        EXPECT_LE(tiles, static_cast<std::int64_t>(1.15 * outcome.plan.peak_bytes)) << what;
      }
      EXPECT_TRUE(std::is_sorted(outcome.progress.begin(), outcome.progress.end())) << what;
      if (!outcome.plan.fragment().loops.empty()) ++sliced;
    }
  }
  EXPECT_GT(sliced, 70);
}

struct SlicedExecution : ::testing::Test {
  // Z[] = SUM(A[i,j] * B[j,k] * C[k,l] * D[l,i]): all 32 x 32, tiles of 8 x 8.
  SlicedExecution() {
    const auto l = builder.labels("ijkl", 32);
    const auto add = [&](const char* name, Label a, Label b) {
      return GraphBuilder::Read{tensors.add(builder, name, {32, 32}, {4, 4}, DType::Float64), {a, b}};
    };
    const std::vector<GraphBuilder::Read> reads{add("A", l[0], l[1]), add("B", l[1], l[2]), add("C", l[2], l[3]),
                                                add("D", l[3], l[0])};
    builder.contraction("Z", reads, {});
  }
  GraphBuilder builder;
  SlicedTensors tensors;
};

TEST_F(SlicedExecution, KeepsToTheLimitAndCountsWhatItDoes) {
  const auto expected = testing::evaluate_graph(builder.graph, tensors);
  const auto whole = run(tensors, builder.graph, 0, 1);
  EXPECT_TRUE(whole.plan.fragment().loops.empty());
  const auto limit = static_cast<std::int64_t>(whole.plan.peak_bytes / 2);
  const auto sliced = run(tensors, builder.graph, limit, 1);
  ASSERT_EQ(sliced.plan.fragment().loops.size(), 1U);
  expect_equal(sliced.result, expected, "sliced");
  EXPECT_LE(sliced.plan.peak_bytes, static_cast<double>(limit));
  const auto tiles_of = [](const SlicedOutcome& outcome) {
    return outcome.profile.peak_bytes - outcome.profile.workspace_bytes;
  };
  EXPECT_LE(tiles_of(sliced), limit);
  EXPECT_LE(tiles_of(whole), static_cast<std::int64_t>(whole.plan.peak_bytes));
  ASSERT_FALSE(sliced.progress.empty());
  EXPECT_EQ(sliced.progress.front(), 0);
}

TEST_F(SlicedExecution, IsCancelledBetweenKernelCalls) {
  const Cancellation never;
  const auto whole = run(tensors, builder.graph, 0, 1, never);
  Cancellation cancellation;
  cancellation.request();
  EXPECT_THROW(run(tensors, builder.graph, static_cast<std::int64_t>(whole.plan.peak_bytes / 2), 1, cancellation),
               Error);
}

}  // namespace
}  // namespace eindb
