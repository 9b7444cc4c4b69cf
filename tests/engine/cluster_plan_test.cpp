// The cache of plans for workers in cases that scripts cannot test: lost and returning workers, other sessions, and the
// work that repeated statements skip.

#include "engine/plans/cluster_plan.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "engine/query/distributed_query.hpp"
#include "engine/query/pipeline.hpp"
#include "engine/session.hpp"
#include "engine/statements/statements.hpp"
#include "parser/parser.hpp"
#include "tests/runner/line_log.hpp"
#include "tests/runner/local_cluster.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class SummingSink final : public TileSink {
 public:
  void write(std::int64_t /*tile_id*/, TilePtr tile) override {
    if (tile == nullptr) return;
    const auto* values = tile->data<double>();
    for (std::int64_t n = 0; n < tile->shape().element_count(); ++n) sum += values[n];
  }
  double sum = 0;
};

class ClusterPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster.emplace(scratch.file("workers"), 3, log);
    state.emplace(scratch.file("a.db"), options());
    cluster->wait_for_workers();
    run("SET tile_cache_size = 0");
    run("CREATE TENSOR A PARTITION (4, 2) REPLICAS 2 AS EINSUM A[i 8, j 6] = i + j");
    run("CREATE TENSOR B PARTITION (2, 1) REPLICAS 2 AS EINSUM B[j 6, k 4] = j * k");
  }
  void TearDown() override { state.reset(); }

  SessionOptions options() {
    SessionOptions options;
    options.cluster = {std::shared_ptr<void>(), &cluster->cluster()};
    options.small_statements = SmallStatements::Workers;
    return options;
  }
  void run(const std::string& sql) { run_statement(parse_statement(sql), *state); }

  struct Run {
    double sum = 0;
    ClusterProfile profile;
  };
  /// Runs the query and sums its results.
  Run run_query(const std::string& text = "EINSUM Z[i,k] = SUM(A[i,j] * B[j,k])") {
    ReadSnapshot snapshot(state->database.file, 1);
    const auto planned = plan_query(parse_query(text), *state);
    SummingSink sink;
    TileSink* sinks[] = {&sink};
    auto profile = *eindb::run_query(planned, *state, snapshot, sinks).cluster;
    return {sink.sum, std::move(profile)};
  }
  void expect_miss() { EXPECT_EQ(run_query().profile.source, PlanSource::Made); }
  void expect_hit() { EXPECT_EQ(run_query().profile.source, PlanSource::Cached); }

  ScratchDirectory scratch;
  runner::LineLog log;
  std::optional<runner::LocalCluster> cluster;
  std::optional<SessionState> state;
};

TEST_F(ClusterPlanTest, ARepeatedQueryTakesPlanAndLocationsOfTheLast) {
  const auto first = run_query();
  EXPECT_EQ(first.profile.source, PlanSource::Made);
  const auto second = run_query();
  EXPECT_EQ(second.profile.source, PlanSource::Cached);
  EXPECT_EQ(second.profile.plan, first.profile.plan);
  EXPECT_EQ(second.profile.locations, first.profile.locations);
  EXPECT_EQ(second.sum, first.sum);
}

TEST_F(ClusterPlanTest, ParametersGetTheirValuesAtEachRun) {
  run("PREPARE scaled AS EINSUM Z[] = $1 * SUM(A[i,j])");
  const auto& counters = state->database.plans.counters();
  run("EXECUTE scaled(2)");
  const auto before = counters;
  run("EXECUTE scaled(3)");
  EXPECT_EQ(counters.worker_hits, before.worker_hits + 1);
  EXPECT_EQ(counters.worker_misses, before.worker_misses);
}

TEST_F(ClusterPlanTest, WorkersThatAreLostAndReturnMakeOtherPlans) {
  const auto sum = run_query().sum;
  expect_hit();
  cluster->stop(1);
  const auto without = run_query();
  EXPECT_EQ(without.profile.source, PlanSource::Made);
  EXPECT_EQ(without.profile.plan->ranks, 3U);
  EXPECT_EQ(without.sum, sum);
  expect_hit();
  cluster->start(1);
  const auto again = run_query();
  EXPECT_EQ(again.profile.source, PlanSource::Made);
  EXPECT_EQ(again.profile.plan->ranks, 4U);
  EXPECT_EQ(again.sum, sum);
  expect_hit();
}

// The plan is for two workers each time, but for different ones.
TEST_F(ClusterPlanTest, TilesAreLookedForAtTheWorkersThatThereAre) {
  cluster->stop(0);
  const auto sum = run_query().sum;
  cluster->stop(1);
  cluster->start(0);
  const auto others = run_query();
  EXPECT_EQ(others.profile.ranks.size(), 3U);
  EXPECT_EQ(others.sum, sum);
}

TEST_F(ClusterPlanTest, SettingsAndPartitionsMakeOtherPlans) {
  expect_miss();
  expect_hit();
  run("SET redistribution = 'collectives'");
  expect_miss();
  expect_hit();
  run("SET workers = 1");
  expect_miss();
  run("RESET workers");
  expect_hit();  // a separate query plan from that for one worker; both are kept
  run("SET memory_limit = '64MiB'");
  expect_miss();
  expect_hit();
  run("ALTER TENSOR A PARTITION (2, 3)");
  expect_miss();
  expect_hit();
  run("ALTER TENSOR A REPLICAS 1");
  expect_miss();  // tiles lie elsewhere
  expect_hit();
  run("SET plan_cache_size = 0");
  EXPECT_EQ(run_query().profile.source, PlanSource::Uncached);
}

TEST_F(ClusterPlanTest, TilesThatAnyoneWritesAreLookedForAnew) {
  const auto first = run_query();
  run("UPDATE TENSOR B[j,k] = 2 * B[j,k]");
  const auto doubled = run_query();
  EXPECT_EQ(doubled.profile.source, PlanSource::Cached);
  EXPECT_NE(doubled.profile.locations, first.profile.locations);
  EXPECT_EQ(doubled.sum, 2 * first.sum);
  run("BEGIN");
  run("UPDATE TENSOR B[j,k] = 2 * B[j,k]");
  EXPECT_EQ(run_query().sum, 4 * first.sum);
  run("ROLLBACK");
  EXPECT_EQ(run_query().sum, 2 * first.sum);
  Session other(scratch.file("a.db"), options());
  other.execute("UPDATE TENSOR B[j,k] = 3 * B[j,k]");
  EXPECT_EQ(run_query().sum, 6 * first.sum);
  run("INSERT INTO TENSOR B VALUES (0, 0, 0)");
  EXPECT_EQ(run_query().sum, 6 * first.sum);
}

// The product of activations that are cut by rows with weights: what is received is the result, by the coordinator, if
// every worker has all weights, and the weights as well if not. COMPARE tells them apart, too.
// Three of four ranks made thirds of the rows.
TEST(ClusterPlans, ATileIsStoredWhereMostOfItWasMade) {
  PhysicalPlan plan;
  plan.ranks = 4;
  plan.coordinator = 3;
  const BlockPlacement thirds{{3, 1}, {TileKey{1, 0}, TileKey{0, 0}, TileKey{2, 0}, std::nullopt}};
  const auto holders = [&](Partition parts) {
    const TileGrid grid(Shape({24, 8}), std::move(parts));
    plan.steps.clear();
    plan.steps.push_back({ScanStep{}, VertexId(0), DType::Float64, grid, thirds});
    plan.steps.push_back({RedistributeStep{StepId(0)}, VertexId(0), DType::Float64, grid, std::size_t{0}});
    plan.results = {StepId(1)};
    const std::vector<Rank> stores{0, 1, 2};
    const auto of_tiles = holders_of_result(plan, 0, grid, stores, 1);
    std::vector<Rank> first;
    for (std::int64_t tile = 0; tile < of_tiles.tile_count(); ++tile) first.push_back(of_tiles.of(tile)[0]);
    return first;
  };
  EXPECT_EQ(holders({6, 1}), (std::vector<Rank>{1, 1, 0, 0, 2, 2}));
  EXPECT_EQ(holders({3, 2}), (std::vector<Rank>{1, 1, 0, 0, 2, 2}));
  EXPECT_EQ(holders({4, 1}), (std::vector<Rank>{1, 0, 0, 2})) << "of the second and third tile a third is elsewhere";
  EXPECT_EQ(holders({8, 1}), (std::vector<Rank>{1, 1, 1, 0, 0, 2, 2, 2}));
  EXPECT_EQ(holders({2, 1}), (std::vector<Rank>{1, 2})) << "tiles that are larger than blocks are dealt out in runs";
}

TEST(ClusterPlans, WhereTilesLieDecides) {
  ScratchDirectory scratch;
  runner::LineLog log;
  runner::LocalCluster cluster(scratch.file("workers"), 4, log);
  SessionOptions options;
  options.cluster = {std::shared_ptr<void>(), &cluster.cluster()};
  Session session(scratch.file("a.db"), options);
  cluster.wait_for_workers();
  session.execute("CREATE TENSOR X PARTITION (4, 1) AS EINSUM X[i 400, j 400] = i + j");
  session.execute("CREATE TENSOR W PARTITION (2, 2) REPLICAS 4 AS EINSUM W[j 400, k 400] = j * k");
  const auto explained = [&] {
    auto result = session.execute("EXPLAIN (COMPARE, FORMAT json) EINSUM Y[b,o] = SUM(X[b,c] * W[c,o])");
    std::string text;
    Row row;
    while (result.rows->next(row)) text += std::get<std::string>(row.at(0));
    return nlohmann::json::parse(text);
  };
  const auto copied = explained();
  EXPECT_EQ(copied["bytes_received"], 400 * 400 * 8);
  EXPECT_EQ(copied["strategies"][0]["bytes_received"], 400 * 400 * 8);
  session.execute("ALTER TENSOR W REPLICAS 1");
  const auto apart = explained();
  EXPECT_GT(apart["bytes_received"], 2 * 400 * 400 * 8);
  EXPECT_EQ(apart["strategies"][0]["bytes_received"], apart["bytes_received"]);
  for (const auto& row : apart["strategies"]) {
    const auto received = row.value("bytes_received", apart["bytes_received"].get<double>());
    EXPECT_LE(apart["bytes_received"], received) << row["strategy"];
  }
}

TEST_F(ClusterPlanTest, WhatIsKeptCountsAsPlansDo) {
  const auto before = state->database.plans.bytes();
  run_query();
  const auto planned = state->database.plans.bytes();
  EXPECT_GT(planned, before + 1000);
  run_query();
  EXPECT_EQ(state->database.plans.bytes(), planned);
  run("SET plan_cache_size = 0");
  run_query();
  EXPECT_EQ(state->database.plans.bytes(), 0U);
}

}  // namespace
}  // namespace eindb
