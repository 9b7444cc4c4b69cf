// Tests the compiled statements that a session keeps.
#include "engine/sql/compiled_sql.hpp"

#include <gtest/gtest.h>

#include <string>

#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

class CompiledStatementsTest : public ::testing::Test {
 protected:
  CompiledStatements::Lent make(const std::string& text) {
    return kept_.lend(compiled_sql(text, std::move(*connection_.prepare_user(text).statement)));
  }

  SqliteConnection connection_{":memory:", SqliteConnection::Access::Create};
  CompiledStatements kept_;
};

TEST_F(CompiledStatementsTest, ComeBackResetAndWithoutValues) {
  {
    auto lent = make("SELECT $1");
    EXPECT_EQ(lent->parameters, (std::vector<std::optional<std::size_t>>{1}));
    lent->statement.bind(1, 7);
    EXPECT_TRUE(lent->statement.step());
    EXPECT_EQ(kept_.size(), 0U);
  }
  EXPECT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_.take("SELECT $2"), nullptr);
  const auto again = kept_.take("SELECT $1");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(kept_.size(), 0U);
  EXPECT_EQ(kept_.take("SELECT $1"), nullptr) << "lent to one at a time";
  EXPECT_TRUE(again->statement.step());
  EXPECT_TRUE(again->statement.is_null(0));
}

TEST_F(CompiledStatementsTest, OneOfEachText) {
  auto first = make("SELECT 1");
  auto second = make("SELECT 1");
  first.reset();
  second.reset();
  EXPECT_EQ(kept_.size(), 1U);
}

TEST_F(CompiledStatementsTest, WhatIsForgottenDoesNotComeBack) {
  auto lent = make("SELECT 1");
  make("SELECT 2").reset();
  EXPECT_TRUE(kept_.bring_to({.tensor_tables = 1, .attached = 0}));
  EXPECT_FALSE(kept_.bring_to({.tensor_tables = 1, .attached = 0}));
  EXPECT_EQ(kept_.size(), 0U);
  lent.reset();
  EXPECT_EQ(kept_.size(), 0U);
  CompiledStatements::lend_once(compiled_sql("SELECT 3", connection_.prepare("SELECT 3"))).reset();
  EXPECT_EQ(kept_.size(), 0U);
}

TEST_F(CompiledStatementsTest, TheOnesThatRanLastStay) {
  for (int n = 0; n < 300; ++n) {
    make("SELECT " + std::to_string(n)).reset();
    if (n > 0) kept_.take("SELECT 0").reset();
  }
  EXPECT_LE(kept_.size(), 100U);
  EXPECT_NE(kept_.take("SELECT 0"), nullptr);
  EXPECT_NE(kept_.take("SELECT 299"), nullptr);
  EXPECT_EQ(kept_.take("SELECT 1"), nullptr);
  make("SELECT '" + std::string(1 << 20, 'x') + "'").reset();
  EXPECT_EQ(kept_.take("SELECT '" + std::string(1 << 20, 'x') + "'"), nullptr) << "too large";
}

TEST(MayBeKept, StatementsThatReadAndWriteRows) {
  for (const auto* sql : {"SELECT 1", " /* a */ insert into t values (1)", "WITH c AS (SELECT 1) SELECT * FROM c"})
    EXPECT_TRUE(may_be_kept(sql)) << sql;
  for (const auto* sql : {"PRAGMA foreign_keys = ON", "CREATE TABLE t (a)", "EXPLAIN SELECT 1", "SAVEPOINT a", ""})
    EXPECT_FALSE(may_be_kept(sql)) << sql;
}

}  // namespace
}  // namespace eindb
