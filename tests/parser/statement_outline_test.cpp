// The properties of a statement that are determined before parsing, for metrics, protocol tags and transactions.
#include "parser/statement_outline.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

StatementKind kind_of(std::string_view text) { return outline_of(text).kind; }

TEST(StatementOutline, IsThatOfTheVerb) {
  EXPECT_EQ(kind_of("select 1"), StatementKind::Select);
  EXPECT_EQ(kind_of("EINSUM Z[i] = X[i]"), StatementKind::Einsum);
  EXPECT_EQ(kind_of("Create Tensor X(i 3)"), StatementKind::Create);
  EXPECT_EQ(kind_of("copy X to stdout"), StatementKind::Copy);
  EXPECT_EQ(kind_of("END"), StatementKind::Transaction);
  EXPECT_EQ(kind_of("SHOW threads"), StatementKind::Setting);
  EXPECT_EQ(kind_of("PRAGMA user_version"), StatementKind::Other);
  EXPECT_EQ(kind_of("EXPLAIN (ANALYZE, FORMAT (json)) SELECT 1"), StatementKind::Explain);
}

TEST(StatementOutline, SkipsWhatStandsBeforeTheVerb) {
  EXPECT_EQ(kind_of(" \t\n((select 1))"), StatementKind::Select);
  EXPECT_EQ(kind_of("-- insert\n/* update */ delete from t"), StatementKind::Delete);
  EXPECT_EQ(kind_of("/**/update"), StatementKind::Update);
  EXPECT_EQ(outline_of("/* app=shop */ INSERT INTO t VALUES (1)").tag, "INSERT");
}

TEST(StatementOutline, FindsTheVerbBehindDefinitions) {
  EXPECT_EQ(kind_of("WITH t AS (SELECT 1) SELECT * FROM t"), StatementKind::Select);
  EXPECT_EQ(outline_of("WITH t(a) AS (VALUES (1)), u AS (SELECT 2) INSERT INTO s SELECT * FROM t").tag, "INSERT");
  EXPECT_EQ(outline_of("with t as (select 1) update [s] set n = 1").tag, "UPDATE");
  EXPECT_EQ(kind_of("WITH update[i] = X[i], E[i] = einsum[i] + update[i] EINSUM Z[i] = E[i]"), StatementKind::Einsum);
  const auto training = outline_of(
      "WITH GRADIENT OF loss[] = SUM((X[i] - t[i])^2) WITH RESPECT TO (w) UPDATE TENSOR w[j] = w[j] - dw[j]");
  EXPECT_EQ(training.kind, StatementKind::Update);
  EXPECT_TRUE(training.writes);
}

TEST(StatementOutline, TellsDefinitionsOfTensorsFromThoseOfTables) {
  EXPECT_TRUE(outline_of("WITH E[i] = X[i] EINSUM Z[i] = E[i]").defines_tensors);
  EXPECT_TRUE(outline_of("EXPLAIN ANALYZE WITH E[i] = X[i] UPDATE TENSOR w[j] = E[j]").defines_tensors);
  EXPECT_FALSE(outline_of("WITH e(i) AS (SELECT 1) SELECT * FROM e").defines_tensors);
  EXPECT_FALSE(outline_of("EINSUM Z[i] = E[i]").defines_tensors);
}

TEST(StatementOutline, TagsHaveTheKindOfObject) {
  EXPECT_EQ(outline_of("create temp table t (n)").tag, "CREATE TABLE");
  EXPECT_EQ(outline_of("CREATE UNIQUE INDEX i ON t (n)").tag, "CREATE INDEX");
  EXPECT_EQ(outline_of("DROP VIEW v").tag, "DROP VIEW");
  EXPECT_EQ(outline_of("VACUUM").tag, "VACUUM");
  EXPECT_EQ(outline_of("EXPLAIN DELETE FROM t").tag, "EXPLAIN");
}

TEST(StatementOutline, CopiesWriteFromFilesAlone) {
  EXPECT_TRUE(outline_of("COPY X (i, val) FROM 'from.csv'").writes);
  EXPECT_FALSE(outline_of("COPY X TO 'x.npy'").writes);
  EXPECT_FALSE(outline_of("COPY (SELECT n FROM t) TO 'n.csv'").writes);
}

TEST(StatementOutline, TheWordsTellWhatAStatementDoes) {
  EXPECT_FALSE(outline_of("SELECT replace(a, b, c) FROM t").writes);
  EXPECT_FALSE(outline_of("WITH x AS (SELECT 1), y(a) AS (VALUES (1)) SELECT replace(a, 1, 2) FROM y").writes);
  EXPECT_TRUE(outline_of("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x").writes);
  EXPECT_TRUE(outline_of("/* SELECT */ replace into t VALUES (1)").writes);
  EXPECT_TRUE(outline_of("CREATE TEMP TABLE t AS SELECT 1").writes);
  EXPECT_FALSE(outline_of("EXPLAIN QUERY PLAN DELETE FROM t").writes);
  EXPECT_TRUE(outline_of("EXPLAIN DELETE FROM t").explains);
  EXPECT_TRUE(outline_of("CREATE TEMPORARY VIEW v AS SELECT 1").stores_text);
  EXPECT_TRUE(outline_of("CREATE OR REPLACE TEMP VIEW v AS SELECT 1").temporary);
  EXPECT_FALSE(outline_of("CREATE VIEW temp.v AS SELECT 1").temporary);
  EXPECT_FALSE(outline_of("DROP VIEW temp").temporary);
  EXPECT_FALSE(outline_of("CREATE TABLE view AS SELECT 1").stores_text);
}

TEST(StatementOutline, TakesAnyBytes) {
  for (const auto* text : {"", " ", "--", "/*", "/*/", "-- select", "/* select", "selects", "\xff\x80", "'", ";", "((",
                           "EXPLAIN (", "WITH", "WITH x AS (", "COPY"})
    EXPECT_FALSE(outline_of(text).writes) << text;
  EXPECT_EQ(outline_of("").tag, "");
  EXPECT_EQ(kind_of("selects"), StatementKind::Other);
}

}  // namespace
}  // namespace eindb
