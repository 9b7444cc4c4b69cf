// Tensors computed by updates inside a transaction: access to them, when they are written or dropped, and their memory
// limit.

#include "engine/tensors/unwritten_tensors.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/session.hpp"
#include "engine/session/session_state.hpp"
#include "engine/statements/statements.hpp"
#include "parser/parser.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class UnwrittenTensorsTest : public ::testing::Test {
 protected:
  UnwrittenTensorsTest() { run("CREATE TENSOR W PARTITION (2) AS EINSUM W[i 8] = 1.0"); }

  Result run(const std::string& statement) { return run_statement(parse_statement(statement), state_); }

  void update(const std::string& update) { run("UPDATE TENSOR " + update); }

  double sum(const std::string& tensor) { return number("EINSUM s[] = SUM(" + tensor + "[i])"); }
  // The sum as another session sees it.
  double committed_sum() {
    Session other(path_);
    auto result = other.execute("SELECT SUM(val) FROM W");
    Row row;
    result.rows->next(row);
    return std::get<double>(row.at(0));
  }

  double number(const std::string& statement) {
    auto result = run(statement);
    Row row;
    EXPECT_TRUE(result.rows->next(row));
    return std::get<double>(row.at(0));
  }

  ScratchDirectory directory_;
  std::string path_ = directory_.file("my.db");
  SessionState state_{path_, {}};
};

TEST_F(UnwrittenTensorsTest, OutsideATransactionAllIsWrittenAtOnce) {
  update("W[i] = W[i] + 1");
  EXPECT_TRUE(state_.database.unwritten.empty());
  EXPECT_EQ(committed_sum(), 16);
}

TEST_F(UnwrittenTensorsTest, QueriesOfTheTransactionFindThemAndNobodyElseDoes) {
  run("BEGIN");
  for (int n = 0; n < 3; ++n) update("W[i] = W[i] + 1");
  EXPECT_FALSE(state_.database.unwritten.empty());
  EXPECT_EQ(sum("W"), 32);
  EXPECT_EQ(committed_sum(), 8);
  EXPECT_FALSE(state_.database.unwritten.empty());
  run("COMMIT");
  EXPECT_TRUE(state_.database.unwritten.empty());
  EXPECT_EQ(committed_sum(), 32);
  EXPECT_EQ(sum("W"), 32);
}

TEST_F(UnwrittenTensorsTest, ARollbackForgetsThem) {
  EXPECT_EQ(sum("W"), 8);  // in the tile cache
  run("BEGIN");
  update("W[i] = W[i] + 1");
  EXPECT_EQ(sum("W"), 16);
  run("ROLLBACK");
  EXPECT_TRUE(state_.database.unwritten.empty());
  EXPECT_EQ(sum("W"), 8);
  EXPECT_EQ(committed_sum(), 8);
}

// As SQLite does by itself when a disk is full, or when a rollback comes while rows are read.
TEST_F(UnwrittenTensorsTest, ARollbackBySQLiteForgetsThem) {
  run("BEGIN");
  update("W[i] = W[i] + 1");
  state_.database.connection().execute("ROLLBACK");
  run("SELECT COUNT(*) FROM W");
  EXPECT_TRUE(state_.database.unwritten.empty());
  EXPECT_EQ(sum("W"), 8);
}

TEST_F(UnwrittenTensorsTest, TilesThatBecomeZeroAreZero) {
  run("BEGIN");
  update("W[i] = CASE WHEN i < 4 THEN 0 ELSE W[i] END");
  EXPECT_EQ(sum("W"), 4);
  run("COMMIT");
  EXPECT_EQ(number("SELECT SUM(val) FROM W"), 4);
}

TEST_F(UnwrittenTensorsTest, StatementsThatReadTablesAreGivenThem) {
  const std::vector<std::string> statements = {"SELECT 1",
                                               "SHOW TENSORS",
                                               "DESCRIBE W",
                                               "ALTER TENSOR W RENAME TO V",
                                               "INSERT INTO TENSOR W VALUES (0, 5)",
                                               "CREATE TENSOR V (i 3)"};
  for (const auto& statement : statements) {
    run("BEGIN");
    update("W[i] = W[i] + 1");
    run(statement);
    EXPECT_TRUE(state_.database.unwritten.empty()) << statement;
    run("ROLLBACK");
    EXPECT_EQ(sum("W"), 8) << statement;
  }
  for (const std::string statement : {"SHOW threads", "SET threads = 1", "EXPLAIN ANALYZE EINSUM s[] = SUM(W[i])",
                                      "CREATE TENSOR V AS EINSUM V[i] = 2 * W[i]"}) {
    run("BEGIN");
    update("W[i] = W[i] + 1");
    run(statement);
    EXPECT_FALSE(state_.database.unwritten.empty()) << statement;
    run("ROLLBACK");
  }
}

TEST_F(UnwrittenTensorsTest, AStatementThatFailsLeavesThemAsTheyWere) {
  run("BEGIN");
  update("W[i] = W[i] + 1");
  EXPECT_THROW(run("EINSUM Z[i] = Q[i]"), Error);
  EXPECT_THROW(run("SELECT * FROM nowhere"), Error);
  EXPECT_EQ(sum("W"), 16);
  update("W[i] = W[i] + 1");
  run("COMMIT");
  EXPECT_EQ(committed_sum(), 24);
}

TEST_F(UnwrittenTensorsTest, WhoeverPutsThemHereKeepsOthersFromWriting) {
  run("BEGIN");
  update("W[i] = W[i] + 1");
  Session other(path_);
  other.execute("SET statement_timeout = 50");
  EXPECT_THROW(other.execute("INSERT INTO TENSOR W VALUES (0, 1)"), Error);
  run("COMMIT");
  EXPECT_EQ(committed_sum(), 16);
}

TEST_F(UnwrittenTensorsTest, ATransactionThatReadsAnOldStateCannotPutAny) {
  run("BEGIN");
  EXPECT_EQ(sum("W"), 8);
  Session(path_).execute("INSERT INTO TENSOR W VALUES (0, 2)");
  EXPECT_THROW(update("W[i] = W[i] + 1"), Error);
  EXPECT_TRUE(state_.database.unwritten.empty());
  run("ROLLBACK");
  EXPECT_EQ(sum("W"), 9);
}

// 4 MiB of new tiles under a limit of 16: they stay, move to a scratch file if a query needs the memory, and are
// restored.
TEST_F(UnwrittenTensorsTest, TheyGiveWayToQueriesWithoutBeingLost) {
  run("SET memory_limit = '16MiB'");
  run("CREATE TENSOR X PARTITION (64) AS EINSUM X[i 524288] = 1.0");
  run("BEGIN");
  update("X[i] = 3 * X[i]");
  ASSERT_FALSE(state_.database.unwritten.empty());
  EXPECT_GE(state_.database.unwritten.idle_bytes(), std::int64_t{4} << 20);
  const auto before = state_.database.unwritten.idle_bytes();
  const auto memory = MemoryBudget::create(std::int64_t{6} << 20);
  memory->set_keeper(&state_.database.unwritten);
  {
    const MemoryReservation most(memory, std::int64_t{5} << 20);
    EXPECT_LT(state_.database.unwritten.idle_bytes(), before);
  }
  EXPECT_EQ(sum("X"), 3 * 524288.0);
  run("COMMIT");
  EXPECT_EQ(number("SELECT SUM(val) FROM X"), 3 * 524288.0);
}

// More than half of the limit is written at once.
TEST_F(UnwrittenTensorsTest, WhatIsTooLargeIsWrittenAtOnce) {
  run("CREATE TENSOR X PARTITION (64) AS EINSUM X[i 524288] = 1.0");
  run("SET memory_limit = '8MiB'");
  run("BEGIN");
  update("X[i] = 3 * X[i]");
  EXPECT_TRUE(state_.database.unwritten.empty());
  EXPECT_EQ(sum("X"), 3 * 524288.0);
  run("COMMIT");
  EXPECT_EQ(sum("X"), 3 * 524288.0);
}

}  // namespace
}  // namespace eindb
