#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "common/error.hpp"
#include "executor/executor.hpp"
#include "optimizer/optimizer.hpp"
#include "tests/optimizer/graph_builder.hpp"
#include "tests/processor_time.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using testing::processor_seconds;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Tensors of ones, made on request.
class Ones final : public TileSource {
 public:
  GraphBuilder::Read add(GraphBuilder& builder, const std::string& name, const Labels& labels, Partition partition,
                         DType type = DType::Float64) {
    const auto extents = builder.graph.labels().extents(labels);
    const auto vertex = builder.input(name, extents, partition, type);
    types_[name] = type;
    grids_.emplace(name, TileGrid(Shape(extents), partition));
    return {vertex, labels};
  }

  TilePtr read(const std::string& tensor, std::int64_t tile_id) override {
    std::this_thread::sleep_for(delay);
    if (tile_id == corrupt_tile) throw Error(ErrorKind::Corrupt, "tile " + std::to_string(tile_id) + " is corrupt");
    const auto& grid = grids_.at(tensor);
    auto tile = Tile::uninitialized(types_.at(tensor), grid.tile_shape(grid.key_of(tile_id)));
    if (tile.dtype() == DType::Float32) std::fill_n(tile.mutable_data<float>(), tile.shape().element_count(), 1.0F);
    else std::fill_n(tile.mutable_data<double>(), tile.shape().element_count(), 1.0);
    ++reads;
    return std::make_shared<const Tile>(std::move(tile));
  }

  std::atomic<std::int64_t> reads{0};
  std::chrono::milliseconds delay{0};
  std::int64_t corrupt_tile = -1;

 private:
  std::map<std::string, DType> types_;
  std::map<std::string, TileGrid> grids_;
};

class CollectFrom : public TileSink {
 public:
  void write(std::int64_t tile_id, TilePtr tile) override {
    EXPECT_EQ(tile_id, static_cast<std::int64_t>(tiles.size())) << "tiles come in order";
    EXPECT_EQ(std::this_thread::get_id(), caller) << "and from the caller's thread";
    tiles.push_back(std::move(tile));
  }
  std::vector<TilePtr> tiles;
  std::thread::id caller = std::this_thread::get_id();
};

struct PlanRunTest : ::testing::Test {
  Fragment plan(std::int64_t parallelism) const {
    OptimizerOptions options;
    options.parallelism = parallelism;
    return optimize(builder.graph, options).fragment();
  }

  ExecutionProfile run(const Fragment& plan, TileSink& sink, int threads, std::int64_t limit = std::int64_t{1} << 34) {
    Scheduler scheduler(threads);
    memory = MemoryBudget::create(limit);
    ExecutionContext context{
        .scheduler = scheduler, .cancellation = cancellation, .memory = memory, .source = ones, .progress = progress};
    return run_fragment(plan, context, sink);
  }

  // Seconds of a processor that each thread takes from a request to the end of the statement, at best. What else the
  // machine has to do does not count.
  double cancelled_after(const Fragment& plan, int threads, std::chrono::milliseconds pause) {
    double best = 1e9;
    for (int attempt = 0; attempt < 6 && best > 0.05; ++attempt) {
      cancellation.reset(0ms);
      std::atomic<double> requested{0};
      std::thread user([&] {
        std::this_thread::sleep_for(pause);
        requested = processor_seconds();
        cancellation.request();
      });
      bool cancelled = false;
      double ended = 0;
      try {
        CollectFrom sink;
        run(plan, sink, threads);
      } catch (const Error& error) {
        ended = processor_seconds();
        cancelled = error.kind() == ErrorKind::Cancelled;
      }
      user.join();
      EXPECT_TRUE(cancelled);
      EXPECT_EQ(memory->used(), 0);
      best = std::min(best, (ended - requested) / threads);
    }
    RecordProperty("milliseconds", static_cast<int>(best * 1000));
    return best;
  }

  GraphBuilder builder;
  Ones ones;
  Cancellation cancellation;
  std::shared_ptr<MemoryBudget> memory;
  std::function<void(std::string_view, std::int64_t, std::int64_t)> progress;
};

TEST_F(PlanRunTest, IsCancelledWithinOneLargeProduct) {
  const auto l = builder.labels("ijk", 3000);
  const std::vector<GraphBuilder::Read> reads{ones.add(builder, "A", {l[0], l[1]}, {1, 1}, DType::Float32),
                                              ones.add(builder, "B", {l[1], l[2]}, {1, 1}, DType::Float32)};
  builder.contraction("Z", reads, {l[0], l[2]});
  for (const int threads : {1, 2}) EXPECT_LT(cancelled_after(plan(1), threads, 120ms), 0.05) << threads << " threads";
}

// Shortest paths: not a numeric product.
TEST_F(PlanRunTest, IsCancelledWithinOneLargePairOfMatrices) {
  const auto l = builder.labels("ijk", 3000);
  const std::vector<GraphBuilder::Read> reads{ones.add(builder, "A", {l[0], l[1]}, {1, 1}, DType::Float32),
                                              ones.add(builder, "B", {l[1], l[2]}, {1, 1}, DType::Float32)};
  const auto sum = testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)});
  builder.vertex("Z", reads, {l[0], l[2]}, sum, Aggregate::Min);
  for (const int threads : {1, 2}) EXPECT_LT(cancelled_after(plan(1), threads, 120ms), 0.05) << threads << " threads";
}

TEST_F(PlanRunTest, IsCancelledWithinOneLargeReduction) {
  const auto l = builder.labels("ij", 30000);
  builder.vertex(
      "Z", {}, {},
      testing::call(ScalarOp::Sin, {testing::call(ScalarOp::Add, {testing::index(l[0]), testing::index(l[1])})}));
  for (const int threads : {1, 2}) EXPECT_LT(cancelled_after(plan(1), threads, 50ms), 0.05) << threads << " threads";
}

TEST_F(PlanRunTest, IsCancelledWhileTilesAreReadAndPutTogether) {
  const auto l = builder.labels("ij", 64);
  const auto x = ones.add(builder, "X", l, {64, 64});
  builder.vertex("Z", {x}, {l[1], l[0]}, testing::op(0), Aggregate::None);
  ones.delay = 2ms;
  for (const int threads : {1, 2}) EXPECT_LT(cancelled_after(plan(1), threads, 50ms), 0.05) << threads << " threads";
}

// Z[i] = 2 * X[i] in 16 tiles.
struct SixteenTiles : PlanRunTest {
  SixteenTiles() {
    const auto i = builder.label("i", 1 << 18);
    const auto x = ones.add(builder, "X", {i}, {16});
    builder.vertex("Z", {x}, {i}, testing::call(ScalarOp::Multiply, {testing::number(2), testing::op(0)}));
  }
};

TEST_F(SixteenTiles, ReachTheSinkWhileOthersAreMade) {
  struct First final : CollectFrom {
    explicit First(Ones& source) : ones(source) {}
    void write(std::int64_t tile_id, TilePtr tile) override {
      if (tiles.empty()) reads_before = ones.reads;
      CollectFrom::write(tile_id, std::move(tile));
    }
    Ones& ones;
    std::int64_t reads_before = 0;
  } sink(ones);
  run(plan(16), sink, 1);
  EXPECT_EQ(sink.tiles.size(), 16U);
  EXPECT_EQ(sink.reads_before, 1);
}

TEST_F(SixteenTiles, AreMadeWhileTheSinkBlocks) {
  struct Blocking final : CollectFrom {
    explicit Blocking(Ones& source) : ones(source) {}
    void write(std::int64_t tile_id, TilePtr tile) override {
      const auto until = Clock::now() + 4min;
      while (ones.reads < 16 && Clock::now() < until) std::this_thread::sleep_for(1ms);
      EXPECT_EQ(ones.reads, 16);
      CollectFrom::write(tile_id, std::move(tile));
    }
    Ones& ones;
  } sink(ones);
  run(plan(16), sink, 3);
  EXPECT_EQ(sink.tiles.size(), 16U);
}

TEST_F(SixteenTiles, GiveTheFirstErrorAndLeaveNothingBehind) {
  ones.corrupt_tile = 11;
  for (const int threads : {1, 2, 5}) {
    try {
      CollectFrom sink;
      run(plan(16), sink, threads);
      FAIL() << "a tile is corrupt";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
    }
    EXPECT_EQ(memory->used(), 0);
  }
}

TEST_F(SixteenTiles, StopWhenTheSinkRefuses) {
  struct Refusing final : TileSink {
    void write(std::int64_t tile_id, TilePtr) override {
      if (tile_id == 3) throw Error(ErrorKind::Io, "no space left");
    }
  } sink;
  for (const int threads : {1, 3}) {
    EXPECT_THROW(run(plan(16), sink, threads), Error);
    EXPECT_EQ(memory->used(), 0);
  }
}

TEST_F(SixteenTiles, ReportProgressFromOneThreadAtATime) {
  ones.delay = 5ms;
  std::atomic<int> inside{0};
  std::vector<std::int64_t> reported;
  progress = [&](std::string_view stage, std::int64_t done, std::int64_t total) {
    EXPECT_EQ(++inside, 1);
    EXPECT_FALSE(stage.empty());
    EXPECT_LT(done, total);
    reported.push_back(done);
    --inside;
  };
  CollectFrom sink;
  run(plan(16), sink, 3);
  ASSERT_FALSE(reported.empty());
  EXPECT_EQ(reported.front(), 0);
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
}

// A[i,k] = SUM(X[i,j] * Y[j,k]) is 2 MiB in 64 tiles; Z[] = MAX(A[i,k]) consumes them as they are made.
TEST_F(PlanRunTest, ConsumesTilesAsTheyAreMade) {
  const auto i = builder.label("i", 512);
  const auto j = builder.label("j", 64);
  const auto k = builder.label("k", 512);
  const std::vector<GraphBuilder::Read> reads{ones.add(builder, "X", {i, j}, {8, 1}),
                                              ones.add(builder, "Y", {j, k}, {1, 8})};
  const auto a = builder.contraction("A", reads, {i, k});
  builder.vertex("Z", {{a, {i, k}}}, {}, testing::op(0), Aggregate::Max);
  const auto with_64_calls = plan(64);
  for (const int threads : {1, 2, 4}) {
    CollectFrom sink;
    const auto profile = run(with_64_calls, sink, threads, std::int64_t{1} << 20);
    ASSERT_EQ(sink.tiles.size(), 1U);
    EXPECT_EQ(sink.tiles[0]->data<double>()[0], 64);
    EXPECT_LE(profile.peak_bytes, std::int64_t{1} << 20);
    sink.tiles.clear();
    EXPECT_EQ(memory->used(), 0);
  }
}

// Eight groups of eight calls, each group run by one thread or shared among threads: exact sums of ones in either case.
TEST_F(PlanRunTest, SharesTheCallsOfAGroup) {
  const auto l = builder.labels("ijk", 256);
  const std::vector<GraphBuilder::Read> reads{ones.add(builder, "X", {l[0], l[1]}, {1, 64}),
                                              ones.add(builder, "Y", {l[1], l[2]}, {64, 1})};
  builder.contraction("Z", reads, {l[0], l[2]});
  for (const int threads : {1, 2, 4, 7})
    for (const std::int64_t calls : {8, 64}) {
      CollectFrom sink;
      run(plan(calls), sink, threads);
      for (const auto& tile : sink.tiles)
        for (std::int64_t n = 0; n < tile->shape().element_count(); ++n) ASSERT_EQ(tile->data<double>()[n], 256);
    }
}

TEST_F(PlanRunTest, SaysWhatItNeedsWhenNothingElseCanEnd) {
  const auto l = builder.labels("ij", 512);
  const auto x = ones.add(builder, "X", l, {1, 1});
  builder.vertex("Z", {x}, {l[1], l[0]}, testing::op(0), Aggregate::None);
  try {
    CollectFrom sink;
    run(plan(1), sink, 2, 1 << 20);
    FAIL() << "four megabytes fit into one";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::MemoryLimit);
  }
  EXPECT_EQ(memory->used(), 0);
}

}  // namespace
}  // namespace eindb
