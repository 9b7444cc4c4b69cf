// The life of sharded tensors by statements: sessions with workers, transactions, concurrent sessions and crashes; no
// content may be left over.

#include <gtest/gtest.h>

#include <optional>

#include "engine/session.hpp"
#include "tests/storage/local_shards.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using TableRows = std::vector<Row>;

TableRows rows_of(Result result) {
  TableRows out;
  Row row;
  while (result.rows != nullptr && result.rows->next(row)) out.push_back(row);
  return out;
}

class ShardedTensorsTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }

  void start() {
    shards = std::make_shared<LocalShards>(scratch.file(""), 3);
    session.emplace(path, options());
  }
  SessionOptions options() const { return {.shards = shards}; }
  void run(const std::string& sql) { session->execute(sql); }
  TableRows query(const std::string& sql) { return rows_of(session->execute(sql)); }
  double number(const std::string& sql) {
    const auto rows = query(sql);
    if (const auto* integer = std::get_if<std::int64_t>(&rows.at(0).at(0))) return static_cast<double>(*integer);
    return std::get<double>(rows.at(0).at(0));
  }
  double sum(const std::string& tensor) { return number("SELECT SUM(val) FROM " + tensor); }
  std::int64_t stored_tiles() {
    std::int64_t out = 0;
    for (const auto& row : query("SHOW TENSORS"))
      out += std::get<std::int64_t>(row.at(5)) * std::get<std::int64_t>(row.at(7));
    return out;
  }
  /// Every content is a tile of a tensor.
  void expect_no_leaks() { EXPECT_EQ(shards->contents(), stored_tiles()); }
  /// After a crash: the coordinator returns, the workers ask it, and it settles with them.
  void restart() {
    session.reset();
    shards.reset();
    shards = std::make_shared<LocalShards>(scratch.file(""), 3);
    {
      DatabaseFile database(path);
      database.use_shards(shards);
      shards->resolve(database);
      ShardedContents::of(database.connection())->settle();
    }
    session.emplace(path, options());
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("a.db");
  std::shared_ptr<LocalShards> shards;
  std::optional<Session> session;
};

TEST_F(ShardedTensorsTest, StatementsDoWhatTheyDoOnOneMachine) {
  run("CREATE TENSOR A (i 8, j 6) PARTITION (4, 2)");
  run("INSERT INTO TENSOR A VALUES (0, 0, 1), (7, 5, 2), (3, 3, 4)");
  EXPECT_EQ(sum("A"), 7);
  run("CREATE TENSOR B PARTITION (2, 2) AS EINSUM B[i, j] = A[i, j] + i");
  EXPECT_EQ(sum("B"), 7 + 6 * 28);
  run("CREATE TENSOR V (k 5) PARTITION (5) AS SELECT 2, 1.5 UNION ALL SELECT 4, 2");
  EXPECT_EQ(sum("V"), 3.5);
  EXPECT_EQ(number("EINSUM s = SUM(A[i, j] * B[i, j])"), 1 * 1 + 2 * 9 + 4 * 7);
  run("ALTER TENSOR B PARTITION (3, 2)");
  run("ALTER TENSOR B RENAME TO C");
  EXPECT_EQ(sum("C"), 7 + 6 * 28);
  expect_no_leaks();
  run("COPY C TO '" + scratch.file("c.npy") + "'");
  run("COPY A FROM '" + scratch.file("c.npy") + "'");
  EXPECT_EQ(sum("A"), sum("C"));
  expect_no_leaks();
  restart();
  EXPECT_EQ(sum("A"), sum("C"));
  for (const char* tensor : {"A", "C", "V"}) run(std::string("DROP TENSOR ") + tensor);
  EXPECT_EQ(shards->contents(), 0);
}

TEST_F(ShardedTensorsTest, UpdatesReplaceContents) {
  run("CREATE TENSOR A (i 4) PARTITION (4) REPLICAS 2");
  run("UPDATE TENSOR A[i] = i");
  EXPECT_EQ(sum("A"), 6);
  EXPECT_EQ(stored_tiles(), 6) << "of three tiles two copies";
  for (int n = 0; n < 3; ++n) run("UPDATE TENSOR A[i] = A[i] + 1");
  EXPECT_EQ(sum("A"), 18);
  expect_no_leaks();
  run("UPDATE TENSOR A[i] = CASE WHEN i = 2 THEN 0 ELSE A[i] END");
  EXPECT_EQ(sum("A"), 13);
  expect_no_leaks();
  run("BEGIN");
  run("UPDATE TENSOR A[i] = 7");
  EXPECT_EQ(sum("A"), 28);
  run("UPDATE TENSOR A[i] = A[i] * A[3]");
  EXPECT_EQ(sum("A"), 4 * 49);
  run("ROLLBACK");
  EXPECT_EQ(sum("A"), 13);
  expect_no_leaks();
  EXPECT_EQ(std::get<std::int64_t>(query("SHOW TENSORS").at(0).at(7)), 2) << "replicas stay";
}

TEST_F(ShardedTensorsTest, ReplicasAreToldAndKept) {
  run("CREATE TENSOR A (i 4) PARTITION (4) REPLICAS 2");
  run("INSERT INTO TENSOR A VALUES (0, 1), (1, 2), (2, 3), (3, 4)");
  run("CREATE TENSOR B REPLICAS 3 AS EINSUM B[i] = 2 * A[i]");
  const auto tensors = query("SHOW TENSORS");
  EXPECT_EQ(std::get<std::int64_t>(tensors.at(0).at(7)), 2);
  EXPECT_EQ(std::get<std::int64_t>(tensors.at(1).at(7)), 3);
  EXPECT_EQ(query("DESCRIBE A").size(), 3U);
  EXPECT_EQ(std::get<std::int64_t>(query("DESCRIBE A").at(2).at(2)), 2);
  expect_no_leaks();
  for (std::size_t lost = 0; lost < 3; ++lost) {
    shards->lose(lost);
    run("SET tile_cache_size = 0");
    EXPECT_EQ(number("EINSUM s = SUM(A[i] + B[i])"), 30);
    shards->find_again(lost);
  }
  run("ALTER TENSOR A PARTITION (2)");
  EXPECT_EQ(std::get<std::int64_t>(query("DESCRIBE A").at(2).at(2)), 2);
  run("ALTER TENSOR A REPLICAS 1");
  EXPECT_EQ(query("DESCRIBE A").size(), 2U);
  EXPECT_EQ(sum("A"), 10);
  expect_no_leaks();
  EXPECT_ERROR(run("CREATE TENSOR C (i 4) REPLICAS 4"), ErrorKind::Value, "4 copies of each tile");
  shards->lose(1);  // two tiles lie at the second and the third of three workers
  const auto error = error_of([&] { sum("A"); });
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
  EXPECT_NE(error.message().find("tile [0] of tensor A (worker-1"), std::string::npos) << error.message();
}

TEST_F(ShardedTensorsTest, WithoutWorkersThereAreNoReplicas) {
  run("CREATE TENSOR A (i 4) PARTITION (4) REPLICAS 2");
  run("INSERT INTO TENSOR A VALUES (0, 1)");
  session.emplace(path);
  EXPECT_ERROR(run("CREATE TENSOR B (i 4) REPLICAS 2"), ErrorKind::Unsupported, "this session has none");
  run("CREATE TENSOR B (i 4) REPLICAS 1");
  EXPECT_ERROR(sum("A"), ErrorKind::Unsupported, "tensor A is sharded");
  EXPECT_ERROR(run("INSERT INTO TENSOR A VALUES (0, 2)"), ErrorKind::Unsupported, "tensor A is sharded");
  run("INSERT INTO TENSOR B VALUES (0, 2)");
  restart();
  EXPECT_EQ(sum("A"), 1);
  EXPECT_EQ(sum("B"), 2);
  run("ALTER TENSOR B REPLICAS 3");  // from the file to the workers
  EXPECT_EQ(sum("B"), 2);
  expect_no_leaks();
}

TEST_F(ShardedTensorsTest, TransactionsAndSavepoints) {
  run("CREATE TENSOR A (i 4) PARTITION (4)");
  run("BEGIN");
  run("INSERT INTO TENSOR A VALUES (0, 1), (1, 1)");
  run("SAVEPOINT s");
  run("INSERT INTO TENSOR A VALUES (0, 5), (2, 5)");
  run("CREATE TENSOR B AS EINSUM B[i] = A[i]");
  EXPECT_EQ(sum("B"), 11);
  run("ROLLBACK TO s");
  EXPECT_EQ(sum("A"), 2);
  run("INSERT INTO TENSOR A VALUES (3, 3)");
  run("COMMIT");
  EXPECT_EQ(sum("A"), 5);
  expect_no_leaks();
  run("BEGIN");
  run("INSERT INTO TENSOR A VALUES (0, 9)");
  run("DROP TENSOR A");
  run("ROLLBACK");
  EXPECT_EQ(sum("A"), 5);
  expect_no_leaks();
  EXPECT_THROW(run("SAVEPOINT outermost"), Error);
  run("BEGIN");
  run("SAVEPOINT outermost");
  run("INSERT INTO TENSOR A VALUES (0, 4)");
  run("RELEASE outermost");
  run("COMMIT");
  restart();
  EXPECT_EQ(sum("A"), 8);
  expect_no_leaks();
}

TEST_F(ShardedTensorsTest, SessionsSeeStates) {
  run("CREATE TENSOR A (i 4) PARTITION (4)");
  run("INSERT INTO TENSOR A VALUES (0, 1), (1, 1)");
  Session other(path, options());
  const auto other_sum = [&] { return std::get<double>(rows_of(other.execute("SELECT SUM(val) FROM A")).at(0).at(0)); };
  other.execute("BEGIN");
  EXPECT_EQ(other_sum(), 2);
  run("INSERT INTO TENSOR A VALUES (0, 5)");
  run("INSERT INTO TENSOR A VALUES (1, 5)");
  EXPECT_EQ(sum("A"), 10);
  EXPECT_EQ(other_sum(), 2);
  other.execute("COMMIT");
  EXPECT_EQ(other_sum(), 10);
  run("INSERT INTO TENSOR A VALUES (2, 5)");
  expect_no_leaks();
}

// The statement is interrupted at each of its steps at workers, then all processes return.
TEST_F(ShardedTensorsTest, AStatementHappensWhollyOrNotAtAll) {
  const std::vector<std::string> statements = {
      "INSERT INTO TENSOR A VALUES (0, 10), (1, 10), (2, 10), (3, 10)",
      "UPDATE TENSOR A[i] = 2 * A[i]",
      "ALTER TENSOR A PARTITION (2)",
      "CREATE TENSOR B AS EINSUM B[i] = A[i] + 1",
      "CREATE TENSOR (C, D) AS WITH C[i] = A[i], D[i] = A[i] * 2 EINSUM (C, D)",
      "UPDATE TENSOR B[i] = D[i], D[i] = B[i] - A[i]",
      "CREATE OR REPLACE TENSOR C AS EINSUM C[i] = C[i] + 2",
      "ALTER TENSOR A REPLICAS 1",
      "DROP TENSOR A",
  };
  run("CREATE TENSOR A (i 4) PARTITION (4) REPLICAS 2");
  run("INSERT INTO TENSOR A VALUES (0, 1), (1, 2), (2, 3), (3, 4)");
  const auto state = [&] {
    std::string out;
    for (const auto& row : query("SHOW TENSORS"))
      out += std::get<std::string>(row.at(0)) + std::get<std::string>(row.at(3)) +
             std::to_string(std::get<std::int64_t>(row.at(7))) + "=" +
             std::to_string(sum(std::get<std::string>(row.at(0)))) + " ";
    return out;
  };
  for (const auto& statement : statements) {
    int old_states = 0;
    for (int step = 0;; ++step) {
      const auto before = state();
      shards->stop_at(step);
      try {
        run(statement);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::WorkerLost) << error.message();
      }
      restart();
      expect_no_leaks();
      if (state() != before) break;  // the remaining steps only notify workers
      ++old_states;
    }
    EXPECT_GT(old_states, statement.starts_with("DROP") ? -1 : 3) << statement;
  }
  EXPECT_EQ(state(), "B[1]1=160.000000 C[1]1=88.000000 D[1]1=4.000000 ");
}

}  // namespace
}  // namespace eindb
