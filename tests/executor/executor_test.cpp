#include "executor/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>

#include "common/error.hpp"
#include "optimizer/optimizer.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"
#include "tensor/dense_tensor.hpp"
#include "tensor/random.hpp"
#include "tensor/reference_evaluator.hpp"

namespace eindb {
namespace {

using DensePtr = std::shared_ptr<const DenseTensor>;

// Named tensors in memory, cut into tiles; all-zero tiles are absent.
class Tensors final : public TileSource {
 public:
  // Random values; zeros for seed 0.
  void add(const std::string& name, std::vector<std::int64_t> extents, Partition partition, std::uint64_t seed) {
    auto dense = Tile::zeros(DType::Float64, Shape(std::move(extents)));
    for (std::int64_t n = 0; seed != 0 && n < dense.shape().element_count(); ++n)
      dense.mutable_data<double>()[n] = random_normal(seed, static_cast<std::uint64_t>(n));
    const TileGrid grid(dense.shape(), std::move(partition));
    tiles_[name] = split(dense, grid);
    inputs_[name] = {name, DType::Float64, grid};
    dense_[name] = std::make_shared<const DenseTensor>(std::move(dense));
  }

  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    ++reads;
    auto tile = tiles_.at(tensor)[static_cast<std::size_t>(tile_id)];
    return tile->is_all_zero() ? nullptr : tile;
  }

  EinGraph bind(const std::string& query) const {
    const NameSource names{.find_tensor = [this](const std::string& name) -> std::optional<InputTensor> {
                             const auto found = inputs_.find(name);
                             return found == inputs_.end() ? std::nullopt : std::optional(found->second);
                           },
                           .tensor_names = [] { return std::vector<std::string>{}; }};
    return bind_query(parse_query(query), names).graph;
  }

  // Evaluates every vertex of the bound graph by the reference evaluator: no rewrites, no tiles.
  DensePtr reference(const EinGraph& graph) const {
    std::vector<DensePtr> results;
    for (const auto& vertex : graph.vertices()) {
      std::vector<const DenseTensor*> inputs;
      for (const auto input : vertex.inputs) inputs.push_back(results[input.index()].get());
      results.push_back(vertex.is_input()
                            ? dense_.at(vertex.name)
                            : std::make_shared<const DenseTensor>(evaluate_reference(
                                  vertex.einsum, graph.labels(), inputs, vertex.compute_dtype, vertex.dtype)));
    }
    return results[graph.output().index()];
  }

  std::atomic<int> reads{0};

 private:
  std::map<std::string, std::vector<TilePtr>> tiles_;
  std::map<std::string, InputTensor> inputs_;
  std::map<std::string, DensePtr> dense_;
};

class Collect final : public TileSink {
 public:
  void write(std::int64_t tile_id, TilePtr tile) override {
    EXPECT_EQ(tile_id, static_cast<std::int64_t>(tiles.size())) << "tiles come in order";
    tiles.push_back(std::move(tile));
  }
  std::vector<TilePtr> tiles;
};

struct Run {
  int threads = 2;
  std::int64_t parallelism = 8;
  std::int64_t memory_limit = std::int64_t{1} << 30;
  std::optional<Partition> output;
};

struct Outcome {
  DenseTensor result;
  ExecutionProfile profile;
  std::int64_t bytes_left;
};

Outcome run(Tensors& tensors, const EinGraph& graph, const Run& how, const Cancellation& cancellation = {}) {
  OptimizerOptions options;
  options.parallelism = how.parallelism;
  options.output_partitions = {how.output};
  const auto plan = optimize(graph, options);
  Scheduler scheduler(how.threads);
  ExecutionContext context{.scheduler = scheduler,
                           .cancellation = cancellation,
                           .memory = MemoryBudget::create(how.memory_limit),
                           .source = tensors,
                           .progress = {}};
  Collect sink;
  auto profile = run_fragment(plan.fragment(), context, sink);
  auto result = assemble(sink.tiles, plan.fragment().sink(0).grid, plan.fragment().sink(0).dtype);
  sink.tiles.clear();
  return {std::move(result), std::move(profile), context.memory->used()};
}

void expect_near(const DenseTensor& actual, const DenseTensor& expected, const std::string& what) {
  ASSERT_EQ(actual.shape(), expected.shape()) << what;
  for (std::int64_t n = 0; n < expected.shape().element_count(); ++n) {
    const double e = expected.data<double>()[n];
    // Sums of at most a few hundred terms of size about 1, reassociated.
    ASSERT_NEAR(actual.data<double>()[n], e, 1e-12 * std::max(100.0, std::abs(e))) << what << ", element " << n;
  }
}

struct Executor : ::testing::Test {
  Executor() {
    tensors.add("X", {7, 10}, {2, 3}, 1);
    tensors.add("Y", {10, 6}, {5, 1}, 2);
    tensors.add("Q", {6, 6}, {1, 4}, 3);
    tensors.add("T", {4, 3, 5}, {2, 1, 2}, 4);
    tensors.add("O", {10, 6}, {2, 2}, 0);
  }
  Tensors tensors;
};

TEST_F(Executor, AgreesWithTheReferenceForAnyParallelismAndThreads) {
  const char* queries[] = {
      "EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])",
      "EINSUM Z[k,i] = MAX(ABS(X[i,j] - Y[j,k]))",
      "EINSUM Z[] = SUM(X[i,j])",
      "EINSUM Z[j] = PROD(X[i,j])",
      "EINSUM Z[a] = SUM(Q[a,a] * Q[b,a])",
      "EINSUM Z[i,l] = SUM(X[i,j] * Y[j,k] * Q[k,l])",
      "EINSUM Z[i,j] = EXP(X[i,j] - MAX[j](X[i,j])) / SUM[j](EXP(X[i,j] - MAX[j](X[i,j])))",
      "EINSUM Z[c,a] = SUM(T[a,b,c] * T[a,b,c] - b)",
      "EINSUM Z[i,n 3] = SUM(X[i,j] * (j + n)) + RANDOM(3)",
      "EINSUM Z[i,k] = SUM(X[i,j] * O[j,k]) + MIN(O[j,k])",
      "WITH A[i,k] = SUM(X[i,j] * Y[j,k]), B[i] = SUM(A[i,k]) EINSUM Z[i,k] = A[i,k] * B[i] + Q[k,k]",
      "EINSUM 'ij,jk,kl,ml->im' (X, Y, Q, Q)",
  };
  for (const auto* query : queries) {
    const auto graph = tensors.bind(query);
    const auto expected = tensors.reference(graph);
    for (const std::int64_t parallelism : {1, 2, 8, 64})
      for (const int threads : {1, 2, 5}) {
        const auto outcome = run(tensors, graph, {.threads = threads, .parallelism = parallelism, .output = {}});
        expect_near(outcome.result, *expected, std::string(query) + " with p = " + std::to_string(parallelism));
      }
  }
}

TEST_F(Executor, GivesTheResultInTheWantedPartition) {
  const auto graph = tensors.bind("EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])");
  const auto outcome = run(tensors, graph, {.output = Partition{7, 3}});
  expect_near(outcome.result, *tensors.reference(graph), "partition [7, 3]");
}

TEST_F(Executor, ReadsEachStoredTileOnce) {
  const auto graph = tensors.bind("EINSUM Z[i,k] = SUM(X[i,j] * X[k,j])");
  run(tensors, graph, {});
  EXPECT_EQ(tensors.reads, 6);
}

TEST_F(Executor, LetsGoOfEveryTile) {
  const auto graph = tensors.bind("WITH A[i,k] = SUM(X[i,j] * Y[j,k]) EINSUM Z[i] = SUM(A[i,k] * A[i,l])");
  const auto outcome = run(tensors, graph, {});
  EXPECT_EQ(outcome.bytes_left, 0);
  EXPECT_GT(outcome.profile.peak_bytes, 0);
}

TEST_F(Executor, SpillsWhatDoesNotFit) {
  const auto graph = tensors.bind("WITH A[a 600, b 600] = a + b / 7 EINSUM Z[b] = SUM(A[a,b] * A[b,a])");
  const auto expected = tensors.reference(graph);
  for (const int threads : {1, 2}) {
    const auto outcome =
        run(tensors, graph, {.threads = threads, .parallelism = 64, .memory_limit = 1 << 20, .output = {}});
    expect_near(outcome.result, *expected, "three megabytes in one");
    EXPECT_LE(outcome.profile.peak_bytes, 1 << 20);
    EXPECT_EQ(outcome.bytes_left, 0);
  }
}

TEST_F(Executor, RefusesTilesBeyondTheMemoryLimit) {
  const auto graph = tensors.bind("WITH A[a 500, b 500] = a + b EINSUM Z[] = SUM(A[a,b] * A[b,a])");
  try {
    run(tensors, graph, {.parallelism = 1, .memory_limit = 1 << 20, .output = {}});
    FAIL() << "a tile of two megabytes fits into one";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::MemoryLimit);
  }
}

TEST_F(Executor, StopsWhenCancelled) {
  const auto graph = tensors.bind("EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])");
  Cancellation cancellation;
  cancellation.request();
  EXPECT_THROW(run(tensors, graph, {}, cancellation), Error);
}

TEST_F(Executor, CountsKernelCallsAndTiles) {
  const auto graph = tensors.bind("EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])");
  const auto outcome = run(tensors, graph, {.parallelism = 8, .output = {}});
  std::int64_t calls = 0;
  for (const auto& node : outcome.profile.nodes) calls += node.kernel_calls;
  EXPECT_EQ(calls, 8);
}

}  // namespace
}  // namespace eindb
