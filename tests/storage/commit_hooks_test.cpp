// A connection's hooks are told how each of its transactions ends, whatever SQL ends it.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "common/error.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

// Records a letter for each call: Prepare, Commit, Rollback.
class WritingHooks final : public CommitHooks {
 public:
  WritingHooks(std::string& calls, const bool& refuses) : calls_(calls), refuses_(refuses) {}

  void before_commit() override {
    calls_ += 'P';
    if (refuses_) throw Error(ErrorKind::WorkerLost, "not now");
  }
  void after_commit() noexcept override { calls_ += 'C'; }
  void after_rollback() noexcept override { calls_ += 'R'; }

 private:
  std::string& calls_;
  const bool& refuses_;
};

class CommitHooksTest : public ::testing::Test {
 protected:
  CommitHooksTest() {
    connection_->execute("CREATE TABLE t (x)");
    connection_->set_commit_hooks(std::make_unique<WritingHooks>(calls_, refuses_));
  }

  // The hooks called while `sql` runs.
  std::string calls_of(const std::string& sql) {
    calls_.clear();
    connection_->execute(sql);
    return calls_;
  }

  const ScratchDirectory scratch_;
  std::string calls_;
  bool refuses_ = false;
  std::unique_ptr<SqliteConnection> connection_ =
      std::make_unique<SqliteConnection>(scratch_.file("a.db"), SqliteConnection::Access::Create);
};

TEST_F(CommitHooksTest, AStatementByItselfIsATransaction) {
  EXPECT_EQ(calls_of("INSERT INTO t VALUES (1)"), "PC");
  EXPECT_EQ(calls_of("SELECT * FROM t"), "");
}

TEST_F(CommitHooksTest, OnlyTheOutermostTransactionCounts) {
  EXPECT_EQ(calls_of("BEGIN; INSERT INTO t VALUES (1); SAVEPOINT a; INSERT INTO t VALUES (2)"), "");
  EXPECT_EQ(calls_of("ROLLBACK TO a; RELEASE a"), "");
  EXPECT_EQ(calls_of("COMMIT"), "PC");
  EXPECT_EQ(calls_of("SAVEPOINT a; INSERT INTO t VALUES (3)"), "");
  EXPECT_EQ(calls_of("RELEASE a"), "PC");
}

TEST_F(CommitHooksTest, ATransactionThatHasWrittenNothingEndsToo) {
  EXPECT_EQ(calls_of("BEGIN"), "");
  EXPECT_EQ(calls_of("COMMIT"), "C");
}

TEST_F(CommitHooksTest, ARollbackIsTold) {
  EXPECT_EQ(calls_of("BEGIN; INSERT INTO t VALUES (1)"), "");
  EXPECT_EQ(calls_of("ROLLBACK"), "R");
  calls_.clear();
  {
    const SqliteTransaction transaction(*connection_);
    connection_->execute("INSERT INTO t VALUES (1)");
  }
  EXPECT_EQ(calls_, "R");
  EXPECT_EQ(connection_->query_integer("SELECT COUNT(*) FROM t"), 0);
}

TEST_F(CommitHooksTest, WhoRefusesMakesTheCommitARollback) {
  calls_.clear();
  refuses_ = true;
  SqliteTransaction transaction(*connection_);
  connection_->execute("INSERT INTO t VALUES (1)");
  EXPECT_ERROR(transaction.commit(), ErrorKind::WorkerLost, "not now");
  EXPECT_EQ(calls_, "PR");
  EXPECT_FALSE(connection_->in_transaction());
  refuses_ = false;
  EXPECT_EQ(connection_->query_integer("SELECT COUNT(*) FROM t"), 0);
}

TEST_F(CommitHooksTest, ACommitThatWaitsInVainHasNotHappened) {
  connection_->set_busy_timeout(std::chrono::milliseconds(0));
  SqliteConnection reader(scratch_.file("a.db"), SqliteConnection::Access::ReadWrite);
  reader.execute("BEGIN; SELECT * FROM t");  // without a write-ahead log a reader blocks commits
  EXPECT_EQ(calls_of("BEGIN; INSERT INTO t VALUES (1)"), "");
  EXPECT_ERROR(connection_->execute("COMMIT"), ErrorKind::Busy, "");
  EXPECT_EQ(calls_, "");  // SQLite acquires the lock before it calls the hook
  reader.execute("COMMIT");
  EXPECT_EQ(calls_of("COMMIT"), "PC");
}

TEST_F(CommitHooksTest, WhatIsOpenWhenTheConnectionIsClosedIsRolledBack) {
  EXPECT_EQ(calls_of("BEGIN; INSERT INTO t VALUES (1)"), "");
  connection_.reset();
  EXPECT_EQ(calls_, "R");
}

}  // namespace
}  // namespace eindb
