// Sessions with workers in this process, some of which are gone, or have lost or damaged tiles: all available tiles are
// found, and damaged ones are repaired.

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "cluster/damaged_copies.hpp"
#include "engine/session.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/tiles/stored_references.hpp"
#include "tests/runner/line_log.hpp"
#include "tests/runner/local_cluster.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using runner::LineLog;

class WorkerTilesTest : public ::testing::Test {
 protected:
  explicit WorkerTilesTest(std::size_t workers = 3) : workers(workers) {}
  void SetUp() override {
    cluster.emplace(scratch.file("workers"), workers, log);
    SessionOptions options;
    options.cluster = {std::shared_ptr<void>(), &cluster->cluster()};
    options.small_statements = SmallStatements::Workers;
    session.emplace(scratch.file("a.db"), options);
    cluster->wait_for_workers();
    run("SET tile_cache_size = 0");
  }
  void TearDown() override { session.reset(); }

  void run(const std::string& sql) { session->execute(sql); }
  double number(const std::string& sql) {
    auto result = session->execute(sql);
    Row row;
    if (result.rows == nullptr || !result.rows->next(row)) throw Error(ErrorKind::Internal, "no row");
    if (const auto* integer = std::get_if<std::int64_t>(&row.back())) return static_cast<double>(*integer);
    return std::get<double>(row.back());
  }
  const DamagedCopies& damage() { return cluster->cluster().damaged_copies(); }

  /// Changes the contents of tiles at a worker from outside, in its file.
  void change(std::size_t worker, const std::string& sql) {
    SqliteConnection other(scratch.file("workers/worker-" + std::to_string(worker) + "/shard.db"),
                           SqliteConnection::Access::ReadWrite);
    other.execute(sql);
  }
  std::int64_t contents(std::size_t worker, const std::string& tensor) {
    SqliteConnection other(scratch.file("workers/worker-" + std::to_string(worker) + "/shard.db"),
                           SqliteConnection::Access::ReadOnly);
    return other.query_integer("SELECT COUNT(*) FROM eindb_contents WHERE tensor = '" + tensor + "'");
  }

  const std::size_t workers;
  ScratchDirectory scratch;
  LineLog log;
  std::optional<runner::LocalCluster> cluster;
  std::optional<Session> session;
};

// Changes a bit of the values in each tile of A, or removes all tiles.
constexpr const char* kFlip =
    "UPDATE eindb_contents SET tile = substr(tile, 1, length(tile) - 1) || x'5A' WHERE tensor = 'A'";
constexpr const char* kLose = "DELETE FROM eindb_contents WHERE tensor = 'A'";
constexpr const char* kCut = "UPDATE eindb_contents SET tile = substr(tile, 1, 20) WHERE tensor = 'A'";

/// Both workers have all tiles of tensors with two replicas, and compute.
class TwoWorkersTest : public WorkerTilesTest {
 protected:
  TwoWorkersTest() : WorkerTilesTest(2) {}
};

TEST_F(TwoWorkersTest, DamagedCopiesAreReadElsewhereAndWrittenAnew) {
  run("CREATE TENSOR A PARTITION (4, 1) REPLICAS 2 AS EINSUM A[i 40, j 10] = i + j + 1");
  const double sum = 4000 * 2.5 + 0;  // 10 * sum(i) + 40 * sum(j) + 400
  std::int64_t repaired = 0;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const auto had = contents(worker, "A");
    for (const char* harm : {kFlip, kLose, kCut}) {
      change(worker, harm);
      EXPECT_EQ(number("EINSUM s = SUM(A[i, j])"), sum) << worker << " " << harm;
      EXPECT_EQ(contents(worker, "A"), had) << worker << " " << harm;
      EXPECT_EQ(damage().repaired() - repaired, had) << worker << " " << harm << ": by one statement, once each";
      repaired = damage().repaired();
      EXPECT_EQ(number("EINSUM s = SUM(A[i, j])"), sum);
      EXPECT_EQ(damage().repaired(), repaired);
    }
  }
  EXPECT_GT(repaired, 0);
  EXPECT_TRUE(log.has("copy damaged 127.0.0.1:"));
  EXPECT_TRUE(log.has("copy repaired 127.0.0.1:"));
  EXPECT_TRUE(log.has("of tensor A"));
  for (std::size_t worker = 0; worker < workers; ++worker) {
    change(worker, kFlip);
    EXPECT_EQ(number("SELECT SUM(val) FROM A"), sum);
    change(worker, kFlip);  // also changes tiles rewritten meanwhile
    run("CREATE TENSOR B" + std::to_string(worker) + " AS EINSUM B[i, j] = 2 * A[i, j]");
    EXPECT_EQ(number("EINSUM s = SUM(B" + std::to_string(worker) + "[i, j])"), 2 * sum);
    EXPECT_EQ(number("EINSUM s = SUM(A[i, j])"), sum);
  }
  run("DROP TENSOR A");
  for (std::size_t worker = 0; worker < workers; ++worker) EXPECT_EQ(contents(worker, "A"), 0);
}

TEST_F(WorkerTilesTest, WithoutAnotherCopyDamageIsToldAsSuch) {
  run("CREATE TENSOR A PARTITION (4, 1) AS EINSUM A[i 40, j 10] = i + j + 1");
  const auto holder = contents(0, "A") > 0 ? 0U : 1U;
  change(holder, kFlip);
  for (const char* query : {"EINSUM s = SUM(A[i, j])", "SELECT SUM(val) FROM A"}) {
    const auto error = error_of([&] { number(query); });
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt) << error.message();
    EXPECT_NE(error.message().find(" is damaged"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("127.0.0.1:"), std::string::npos) << error.message();
  }
}

TEST_F(WorkerTilesTest, ADamagedCopyAndAWorkerThatIsAway) {
  run("CREATE TENSOR A PARTITION (4, 1) REPLICAS 3 AS EINSUM A[i 40, j 10] = i + j + 1");
  const auto sum = number("EINSUM s = SUM(A[i, j])");
  cluster->stop(0);
  change(1, kLose);
  EXPECT_EQ(number("EINSUM s = SUM(A[i, j])"), sum);
  EXPECT_GT(contents(1, "A"), 0);
  change(2, kCut);
  change(1, kFlip);
  EXPECT_ERROR(number("EINSUM s = SUM(A[i, j])"), ErrorKind::WorkerLost, "is damaged");
  cluster->start(0);
  EXPECT_EQ(number("EINSUM s = SUM(A[i, j])"), sum);
  const auto repaired = damage().repaired();
  EXPECT_EQ(number("SELECT SUM(val) FROM A"), sum);
  EXPECT_EQ(damage().repaired(), repaired);
}

TEST_F(WorkerTilesTest, OnlyTilesThatAreReadAreNeeded) {
  run("CREATE TENSOR U PARTITION (4, 4) AS EINSUM U[i 8, j 8] = 10 * i + j");
  int found = 0;
  int lost = 0;
  for (std::size_t away = 0; away < workers; ++away) {
    if (contents(away, "U") == 0) continue;
    cluster->stop(away);
    for (int i = 0; i < 8; i += 2) {
      for (int j = 0; j < 8; j += 2) {
        try {
          EXPECT_EQ(number("EINSUM s = U[" + std::to_string(i) + ", " + std::to_string(j) + "]"), 10 * i + j);
          ++found;
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::WorkerLost) << error.message();
          ++lost;
        }
      }
    }
    EXPECT_ERROR(number("EINSUM s = SUM(U[i, j])"), ErrorKind::WorkerLost, "of tensor U lies at");
    cluster->start(away);
  }
  EXPECT_GT(found, 0);
  EXPECT_EQ(lost, 16) << "each tile is away with the one worker that has it";
}

TEST_F(WorkerTilesTest, FewerWorkersComputeWithTheTilesOfAll) {
  run("CREATE TENSOR A PARTITION (3, 3) AS EINSUM A[i 9, j 9] = 10 * i + j");
  const auto sum = number("EINSUM s = SUM(A[i, j] * A[j, k])");
  for (const char* few : {"1", "2", "3", "0"}) {
    run(std::string("SET workers = ") + few);
    EXPECT_EQ(number("EINSUM s = SUM(A[i, j] * A[j, k])"), sum) << few;
    run("CREATE TENSOR B REPLICAS 2 AS EINSUM B[i, j] = 2 * A[i, j]");
    EXPECT_EQ(number("EINSUM s = SUM(B[i, j])"), 2 * number("EINSUM s = SUM(A[i, j])")) << few;
    run("DROP TENSOR B");
  }
}

}  // namespace
}  // namespace eindb
