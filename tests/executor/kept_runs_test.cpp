// Runs of a plan that are kept for the next one: they give what new ones give, whatever went before, and threads that
// run one plan at the same time do not meet.

#include "executor/kept_runs.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "common/error.hpp"
#include "executor/executor.hpp"
#include "executor/plan_run.hpp"
#include "optimizer/optimizer.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

constexpr std::int64_t kPlenty = std::int64_t{1} << 30U;

// Tensors that have the same value everywhere, which differs from run to run.
class EqualValues final : public TileSource {
 public:
  explicit EqualValues(double value) : value_(value) {}
  TilePtr read(const std::string& /*tensor*/, std::int64_t tile_id) override {
    if (tile_id == corrupt_tile) throw Error(ErrorKind::Corrupt, "a tile is corrupt");
    auto tile = Tile::uninitialized(DType::Float64, Shape({kSide, kSide}));
    std::fill_n(tile.mutable_data<double>(), kSide * kSide, value_);
    return value_ == 0 ? nullptr : std::make_shared<const Tile>(std::move(tile));
  }
  static constexpr std::int64_t kSide = 4;  // of a tile
  std::int64_t corrupt_tile = -1;

 private:
  double value_;
};

class LastValue final : public TileSink {
 public:
  void write(std::int64_t /*tile_id*/, TilePtr tile) override {
    ++tiles;
    value = tile == nullptr ? 0 : tile->data<double>()[tile->shape().element_count() - 1];
  }
  int tiles = 0;
  double value = -1;
};

// Z[i,l] = SUM(A[i,j] * B[j,k] * C[k,l]), of tiles that are read by several tasks.
struct KeptRunsTest : ::testing::Test {
  static constexpr std::int64_t kParts = 3;
  static constexpr std::int64_t kExtent = kParts * EqualValues::kSide;

  Fragment plan(std::int64_t parallelism = kParts * kParts) const {
    GraphBuilder builder;
    const auto l = builder.labels("ijkl", kExtent);
    const auto read = [&](const std::string& name, Label rows, Label columns) {
      return GraphBuilder::Read{builder.input(name, {kExtent, kExtent}, {kParts, kParts}), {rows, columns}};
    };
    builder.contraction("Z", {read("A", l[0], l[1]), read("B", l[1], l[2]), read("C", l[2], l[3])}, {l[0], l[3]});
    OptimizerOptions options;
    options.parallelism = parallelism;
    return optimize(builder.graph, options).fragment();
  }

  struct Outcome {
    double value;
    ExecutionProfile profile;
  };
  static double product_of(double value) { return value * value * value * kExtent * kExtent; }

  static Outcome run(const Fragment& plan, KeptRuns* kept, EqualValues source, std::int64_t limit = kPlenty,
                     int threads = 1, const Cancellation& cancellation = Cancellation()) {
    Scheduler scheduler(threads);
    const auto memory = MemoryBudget::create(limit);
    ExecutionContext context{
        .scheduler = scheduler, .cancellation = cancellation, .memory = memory, .source = source, .progress = {}};
    context.runs = kept;
    LastValue sink;
    const auto used = [&] { return memory->used(); };
    try {
      auto profile = run_fragment(plan, context, sink);
      EXPECT_EQ(sink.tiles, static_cast<int>(plan.sink(0).grid.tile_count()));
      EXPECT_EQ(used(), 0) << "a run that is kept holds nothing of the statement";
      EXPECT_EQ(memory.use_count(), 2) << "nor its budget";
      return {sink.value, std::move(profile)};
    } catch (const Error&) {
      EXPECT_EQ(used(), 0);
      throw;
    }
  }
};

void expect_equal(const NodeProfile& a, const NodeProfile& b) {
  EXPECT_EQ(a.kernel_calls, b.kernel_calls);
  EXPECT_EQ(a.skipped_calls, b.skipped_calls);
  EXPECT_EQ(a.tiles_in, b.tiles_in);
  EXPECT_EQ(a.tiles_out, b.tiles_out);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_EQ(a.cells, b.cells);
}

TEST_F(KeptRunsTest, GiveTheResultsAndFiguresOfNewOnes) {
  for (const std::int64_t parallelism : {1, 9, 27}) {
    const auto of_tiles = plan(parallelism);
    KeptRuns kept;
    for (const double value : {2.0, 3.0, 0.0, 5.0, 2.0}) {
      const auto again = run(of_tiles, &kept, EqualValues(value));
      const auto anew = run(of_tiles, nullptr, EqualValues(value));
      EXPECT_EQ(again.value, product_of(value));
      EXPECT_EQ(anew.value, product_of(value));
      ASSERT_EQ(again.profile.nodes.size(), anew.profile.nodes.size());
      for (std::size_t n = 0; n < anew.profile.nodes.size(); ++n)
        expect_equal(again.profile.nodes[n], anew.profile.nodes[n]);
      EXPECT_EQ(again.profile.peak_bytes, anew.profile.peak_bytes);
      EXPECT_EQ(again.profile.workspace_bytes, anew.profile.workspace_bytes);
    }
  }
}

TEST_F(KeptRunsTest, AreLentToOneExecutionAtATime) {
  const auto of_tiles = plan();
  KeptRuns kept;
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  constexpr int kThreads = 4;
  constexpr int kRuns = 50;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int n = 0; n < kRuns; ++n) {
        const double value = t * kRuns + n;
        if (run(of_tiles, &kept, EqualValues(value)).value == product_of(value)) ++right;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads * kRuns);
}

TEST_F(KeptRunsTest, AreTheSameObjectUnderTheSameConditionsAlone) {
  const auto of_tiles = plan();
  EqualValues source(1);
  Scheduler scheduler(1);
  const Cancellation cancellation;
  const auto context_of = [&](std::int64_t limit) {
    return ExecutionContext{.scheduler = scheduler,
                            .cancellation = cancellation,
                            .memory = MemoryBudget::create(limit),
                            .source = source,
                            .progress = {}};
  };
  KeptRuns kept;
  run(of_tiles, &kept, EqualValues(1));
  auto first = kept.take(of_tiles, context_of(kPlenty));
  const auto* const address = first.get();
  EXPECT_NE(kept.take(of_tiles, context_of(kPlenty)).get(), address) << "the second execution makes its own";
  kept.give(std::move(first));
  KeptRuns copy(kept);
  EXPECT_NE(copy.take(of_tiles, context_of(kPlenty)).get(), address) << "runs refer to the plan they were made for";
  EXPECT_NE(kept.take(of_tiles, context_of(kPlenty / 2)).get(), address);
  EXPECT_EQ(kept.take(of_tiles, context_of(kPlenty)).get(), address);
}

TEST_F(KeptRunsTest, GoOnAfterErrorsOfOthers) {
  const auto of_tiles = plan();
  KeptRuns kept;
  Cancellation cancelled;
  cancelled.request();
  for (const double value : {2.0, 3.0}) {
    EXPECT_EQ(run(of_tiles, &kept, EqualValues(value)).value, product_of(value));
    EqualValues corrupt(value);
    corrupt.corrupt_tile = kParts;
    EXPECT_THROW(run(of_tiles, &kept, corrupt), Error);
    EXPECT_EQ(run(of_tiles, &kept, EqualValues(value)).value, product_of(value));
    EXPECT_THROW(run(of_tiles, &kept, EqualValues(value), kPlenty, 1, cancelled), Error);
    EXPECT_THROW(run(of_tiles, &kept, EqualValues(value), 64), Error) << "there is no room";
    EXPECT_EQ(run(of_tiles, &kept, EqualValues(value), kPlenty, 3).value, product_of(value));
  }
}

TEST_F(KeptRunsTest, CountOnlyWhereTheyAreKept) {
  EXPECT_TRUE(PlanRun::keeps(1));
  EXPECT_FALSE(PlanRun::keeps(1000));
  EXPECT_EQ(KeptRuns::approximate_bytes(1000), 0U);
  EXPECT_GT(KeptRuns::approximate_bytes(2), KeptRuns::approximate_bytes(1));
}

}  // namespace
}  // namespace eindb
