#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "executor/executor.hpp"
#include "optimizer/optimizer.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"
#include "tensor/dense_tensor.hpp"
#include "tensor/reference_evaluator.hpp"

namespace eindb {
namespace {

// Integers in random tiles, zeros in the others, NaN and infinities in some. Sums are exact in any order.
class SparseTensors final : public TileSource {
 public:
  explicit SparseTensors(unsigned seed) : random_(seed) {}

  void add(const std::string& name, const std::vector<std::int64_t>& extents, DType type, double density,
           bool special = false) {
    Partition parts;
    for (const auto extent : extents) parts.push_back(std::min<std::int64_t>(extent, 1 + random_() % 6));
    const TileGrid grid(Shape(extents), parts);
    std::vector<TilePtr> tiles;
    for (std::int64_t id = 0; id < grid.tile_count(); ++id)
      tiles.push_back(tile(type, grid.tile_shape(grid.key_of(id)), density, special));
    dense_[name] = std::make_shared<const DenseTensor>(assemble(tiles, grid, type));
    tiles_[name] = std::move(tiles);
    inputs_[name] = {name, type, grid};
  }

  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    return tiles_.at(tensor)[static_cast<std::size_t>(tile_id)];
  }

  EinGraph bind(const std::string& query) const {
    const NameSource names{.find_tensor = [this](const std::string& name) -> std::optional<InputTensor> {
                             const auto found = inputs_.find(name);
                             return found == inputs_.end() ? std::nullopt : std::optional(found->second);
                           },
                           .tensor_names = [] { return std::vector<std::string>{}; }};
    return bind_query(parse_query(query), names).graph;
  }

  std::shared_ptr<const DenseTensor> reference(const EinGraph& graph) const {
    std::vector<std::shared_ptr<const DenseTensor>> results;
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

 private:
  TilePtr tile(DType type, const Shape& shape, double density, bool special) {
    std::bernoulli_distribution present(density);
    if (!present(random_)) return random_() % 2 == 0 ? nullptr : std::make_shared<const Tile>(Tile::zeros(type, shape));
    auto out = Tile::zeros(type, shape);
    const double extremes[] = {INFINITY, -INFINITY, NAN};
    dispatch(type, [&](auto t) {
      using T = typename decltype(t)::type;
      for (std::int64_t n = 0; n < shape.element_count(); ++n)
        out.mutable_data<T>()[n] = static_cast<T>(static_cast<int>(random_() % 9) - 4);
      if constexpr (std::is_floating_point_v<T>) {
        if (special && random_() % 2 == 0)
          out.mutable_data<T>()[random_() % static_cast<std::uint64_t>(shape.element_count())] =
              static_cast<T>(extremes[random_() % 3]);
      }
    });
    return std::make_shared<const Tile>(std::move(out));
  }

  std::mt19937 random_;
  std::map<std::string, std::vector<TilePtr>> tiles_;
  std::map<std::string, InputTensor> inputs_;
  std::map<std::string, std::shared_ptr<const DenseTensor>> dense_;
};

class CollectSparse final : public TileSink {
 public:
  void write(std::int64_t, TilePtr tile) override {
    EXPECT_TRUE(tile == nullptr || !tile->is_all_zero()) << "tiles of zeros are absent";
    tiles.push_back(std::move(tile));
  }
  std::vector<TilePtr> tiles;
};

struct SparseOutcome {
  DenseTensor result;
  std::int64_t made = 0;
  std::int64_t skipped = 0;
};

SparseOutcome run(SparseTensors& tensors, const EinGraph& graph, int threads, std::int64_t parallelism,
                  std::int64_t planned_limit = 0) {
  OptimizerOptions options;
  options.parallelism = parallelism;
  options.memory_limit = planned_limit;
  const auto plan = optimize(graph, options);
  Scheduler scheduler(threads);
  const Cancellation cancellation;
  ExecutionContext context{.scheduler = scheduler,
                           .cancellation = cancellation,
                           .memory = MemoryBudget::create(std::int64_t{1} << 30),
                           .source = tensors,
                           .progress = {}};
  CollectSparse sink;
  const auto profile = run_fragment(plan.fragment(), context, sink);
  SparseOutcome outcome{assemble(sink.tiles, plan.fragment().sink(0).grid, plan.fragment().sink(0).dtype)};
  for (const auto& node : profile.nodes) {
    outcome.made += node.kernel_calls;
    outcome.skipped += node.skipped_calls;
  }
  return outcome;
}

// Sums and products of small integers are exact. Functions are exact to a few units in the last place of terms that may
// cancel; no term exceeds 4 exp(4).
void expect_same(const DenseTensor& actual, const DenseTensor& expected, const std::string& what) {
  ASSERT_EQ(actual.dtype(), expected.dtype()) << what;
  dispatch(expected.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    using R = decltype(std::abs(T{}));
    const R of_terms = static_cast<R>(16 * 4 * std::exp(4.0)) * std::numeric_limits<R>::epsilon();
    for (std::int64_t n = 0; n < expected.shape().element_count(); ++n) {
      const T a = actual.template data<T>()[n];
      const T e = expected.template data<T>()[n];
      if (a == e || (a != a && e != e)) continue;
      ASSERT_TRUE(std::abs(a - e) <= static_cast<R>(1e-5) * std::abs(e) + of_terms)
          << what << ", element " << n << ": " << a << " for " << e;
    }
  });
}

constexpr const char* kQueries[] = {
    "EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])",
    "EINSUM Z[k,i] = SUM(-3 * Y[j,k] * X[i,j])",
    "EINSUM Z[i] = SUM(X[i,j] * Y[j,k])",
    "EINSUM Z[i,k] = SUM(ABS(X[i,j] * Y[j,k]))",
    "EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k] - X[i,j])",
    "EINSUM Z[i,k] = SUM(X[i,j] - Y[j,k])",
    "EINSUM Z[i,k] = SUM(X[i,j] * EXP(Y[j,k]))",
    "EINSUM Z[i,k] = MAX(X[i,j] * Y[j,k])",
    "EINSUM Z[i,k] = MIN(X[i,j] * Y[j,k])",
    "EINSUM Z[i] = PROD(X[i,j])",
    "EINSUM Z[i] = SUM(X[i,j])",
    "EINSUM Z[] = MEAN(X[i,j])",
    "EINSUM Z[i] = 1 + SUM(X[i,j])",
    "EINSUM Z[i] = EXP(SUM(X[i,j] * X[i,j]) / 1000)",
    "EINSUM Z[i,j] = 2 * X[i,j]",
    "EINSUM Z[i,j] = X[i,j] * V[i,j]",
    "EINSUM Z[i,j] = X[i,j] + V[i,j]",
    "EINSUM Z[i,j] = -X[i,j]",
    "EINSUM Z[i,j] = EXP(X[i,j] / 100) + V[i,j]",
    "EINSUM Z[i,j] = CASE WHEN X[i,j] > 0 THEN V[i,j] ELSE 0 END",
    "EINSUM Z[i] = SUM(CASE WHEN X[i,j] <> 0 THEN V[i,j] ELSE 0 END)",
    "EINSUM Z[i,l] = SUM(X[i,j] * Y[j,k] * W[k,l])",
    "WITH A[i,k] = SUM(X[i,j] * Y[j,k]) EINSUM Z[i] = MAX[k](A[i,k])",
};

TEST(SparseExecution, AbsentTilesChangeNoResult) {
  std::int64_t skipped = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    for (const auto type : {DType::Float64, DType::Float32, DType::Int64}) {
      SparseTensors tensors(seed);
      const bool special = seed % 2 == 1;
      tensors.add("X", {19, 23}, type, 0.3);
      tensors.add("V", {19, 23}, type, 0.5, special);
      tensors.add("Y", {23, 11}, type, seed % 3 == 0 ? 0.2 : 1.0, special);
      // Without infinities: a product of three is summed over j first, and -inf + inf is not a number where the sum
      // times an infinity is one.
      tensors.add("W", {11, 9}, type, 0.4);
      for (const std::string query : kQueries) {
        const auto graph = tensors.bind(query);
        const auto expected = tensors.reference(graph);
        for (const std::int64_t parallelism : {1, 8, 32}) {
          const auto outcome = run(tensors, graph, seed % 4 == 0 ? 1 : 3, parallelism);
          expect_same(outcome.result, *expected, query + " of " + std::string(name_of(type)));
          skipped += outcome.skipped;
        }
      }
    }
  }
  EXPECT_GT(skipped, 1000);
}

TEST(SparseExecution, SlicesOfZerosAddUpToZero) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    SparseTensors tensors(seed);
    for (const char* name : {"A", "B", "C"}) tensors.add(name, {32, 32}, DType::Float64, 0.15);
    for (const std::string query :
         {"EINSUM Z[i,l] = SUM(A[i,j] * B[j,k] * C[k,l])", "EINSUM Z[] = SUM(A[i,j] * B[j,k] * C[k,i])",
          "EINSUM Z[i] = 2 + SUM(A[i,j] * B[j,k] * C[k,i])"}) {
      const auto graph = tensors.bind(query);
      expect_same(run(tensors, graph, 2, 4, 20000).result, *tensors.reference(graph), query);
    }
  }
}

TEST(SparseExecution, OnlyNeededCallsAreMade) {
  SparseTensors tensors(1);
  tensors.add("X", {16, 16}, DType::Float64, 0);
  tensors.add("Y", {16, 16}, DType::Float64, 1);
  tensors.add("N", {16, 16}, DType::Float64, 1);
  const auto none = [&](const std::string& query) { return run(tensors, tensors.bind(query), 2, 8).made; };
  EXPECT_EQ(none("EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k])"), 0);
  EXPECT_EQ(none("EINSUM Z[i,j] = 2 * X[i,j]"), 0);
  EXPECT_EQ(none("EINSUM Z[i,j] = RELU(X[i,j]) + SIN(X[i,j])"), 0);
  EXPECT_GT(none("EINSUM Z[i,k] = MAX(X[i,j] * Y[j,k])"), 0);
  EXPECT_GT(none("EINSUM Z[i,j] = X[i,j] + Y[i,j]"), 0);
  EXPECT_GT(none("EINSUM Z[i,j] = EXP(X[i,j])"), 0);
}

}  // namespace
}  // namespace eindb
