// Tests the description of a statement that front ends give their clients before it runs.
#include <gtest/gtest.h>

#include <string>

#include "common/error.hpp"
#include "engine/session.hpp"

namespace eindb {
namespace {

class StatementDescriptionTest : public ::testing::Test {
 protected:
  StatementDescriptionTest() {
    session_.execute("CREATE TENSOR X AS EINSUM X[i 3, j 4] = CAST(i + j AS FLOAT32)");
    session_.execute("CREATE TABLE t (name TEXT, n INTEGER, x DOUBLE)");
  }

  StatementDescription describe(const std::string& statement) {
    return session_.describe(*session_.prepare(statement));
  }
  std::string columns(const std::string& statement) {
    static constexpr const char* kTypes[] = {"integer", "float32", "float64", "complex64", "complex128",
                                             "text",    "boolean", "blob",    "any"};
    std::string text;
    for (const auto& column : describe(statement).columns)
      text += (text.empty() ? "" : ", ") + column.name + " " + kTypes[static_cast<std::size_t>(column.type)];
    return text;
  }

  Session session_{":memory:"};
};

TEST_F(StatementDescriptionTest, Columns) {
  EXPECT_EQ(columns("EINSUM Z[j] = SUM(X[i,j])"), "j integer, val float32");
  EXPECT_EQ(columns("EINSUM Z[j] = SUM(X[i,j]) * $1"), "j integer, val float32");
  EXPECT_EQ(columns("WITH Q[j] = SUM(X[i,j]), R[] = SUM(Q[j]) EINSUM (Q, R)"), "tensor text, key text, val float32");
  EXPECT_EQ(columns("WITH Q[j] = SUM(X[i,j]), R[j] = j EINSUM (Q, R)"), "tensor text, key text, val any");
  EXPECT_EQ(columns("UPDATE TENSOR X[i,j] = 2 * X[i,j]"), "");
  EXPECT_EQ(columns("SELECT *, n + 1 AS more FROM t"), "name text, n integer, x float64, more integer");
  EXPECT_EQ(columns("SELECT COUNT(*) AS c, n > 1 AS b, x'00' AS y, json_extract(name, '$') AS j FROM t"),
            "c integer, b boolean, y blob, j any");
  EXPECT_EQ(columns("SELECT n FROM t UNION SELECT x FROM t"), "n float64") << "SQLite says what the first table says";
  session_.execute("CREATE VIEW v AS SELECT n * x AS product, name FROM t");
  session_.execute("CREATE VIEW w AS SELECT product + 1 AS more, * FROM v");
  EXPECT_EQ(columns("SELECT * FROM w"), "more float64, product float64, name text");
  EXPECT_EQ(columns("SELECT i, val FROM X"), "i integer, val float64");
  EXPECT_EQ(columns("SELECT val FROM (EINSUM Z[j] = SUM(X[i,j]))"), "val float64");
  EXPECT_EQ(columns("EXPLAIN EINSUM Z[j] = SUM(X[i,j])"), "plan text");
  EXPECT_EQ(columns("SHOW threads"), "threads text");
  EXPECT_EQ(columns("SHOW USERS"), "name text, role text");
  EXPECT_EQ(columns("INSERT INTO t VALUES ('a', 1, 2)"), "");
  EXPECT_EQ(columns("INSERT INTO t VALUES ('a', 1, 2) RETURNING n"), "n integer");
  session_.execute("PREPARE p AS SELECT n FROM t WHERE n = $1");
  EXPECT_EQ(columns("EXECUTE p(3)"), "n integer");
}

TEST_F(StatementDescriptionTest, Parameters) {
  using enum ColumnType;
  EXPECT_EQ(describe("EINSUM Z[j] = SUM(X[i,j]) * $1").parameters, (std::vector{Float64}));
  EXPECT_EQ(describe("EINSUM Z[j] = X[$1,j] * $2").parameters, (std::vector{Integer, Float64}));
  EXPECT_EQ(describe("SELECT * FROM t WHERE n = $1").parameters, (std::vector{Integer}));
  EXPECT_EQ(describe("INSERT INTO t VALUES ($1, $2, $3)").parameters, (std::vector{Text, Integer, Float64}));
  EXPECT_EQ(describe("SELECT $1, i FROM X WHERE i = $2 AND val < $3").parameters, (std::vector{Any, Integer, Float64}));
  EXPECT_EQ(describe("SELECT val + $1 FROM (EINSUM Z[j] = SUM(X[i,j]) * $2) WHERE j = $3").parameters,
            (std::vector{Float64, Float64, Integer}));
  EXPECT_EQ(describe("CREATE TENSOR Y AS EINSUM Y[j] = X[$1,j] * $2").parameters, (std::vector{Integer, Float64}));
  EXPECT_EQ(describe("INSERT INTO TENSOR X VALUES ($1, 0, $2)").parameters, (std::vector{Float64, Float64}));
  EXPECT_EQ(describe("UPDATE TENSOR X[i,j] = X[$2,j] * $1").parameters, (std::vector{Float64, Integer}));
  EXPECT_EQ(describe("CREATE TENSOR (Q, R) AS WITH Q[j] = X[$1,j], R[j] = Q[j] * $2 EINSUM (Q, R)").parameters,
            (std::vector{Integer, Float64}));
}

TEST_F(StatementDescriptionTest, WhatIsKnownOfParameters) {
  using enum ColumnType;
  const auto statement = session_.prepare("SELECT $1 + 1 AS a, $2 AS b FROM t WHERE n = $2");
  const auto open = session_.describe(*statement);
  EXPECT_EQ(open.parameters, (std::vector{Integer, Integer}));
  EXPECT_EQ(open.columns[0].type, Integer);
  const auto said = session_.describe(*statement, std::vector{Float64, Text});
  EXPECT_EQ(said.parameters, (std::vector{Float64, Text}));
  EXPECT_EQ(said.columns[0].type, Float64);
  EXPECT_EQ(said.columns[1].type, Text);
}

TEST_F(StatementDescriptionTest, NothingRuns) {
  describe("INSERT INTO t VALUES ('a', 1, 2) RETURNING n");
  describe("CREATE TENSOR Y AS EINSUM Y[j] = SUM(X[i,j])");
  EXPECT_TRUE(describe("SELECT COUNT(*) FROM t").reads_only);
  EXPECT_FALSE(describe("DELETE FROM t").reads_only);
  EXPECT_TRUE(describe("EINSUM Z[j] = SUM(X[i,j])").gives_tensor);
  EXPECT_FALSE(describe("SELECT i, j, val FROM X").gives_tensor);
  Row row;
  auto count = session_.execute("SELECT COUNT(*) FROM t");
  ASSERT_TRUE(count.rows->next(row));
  EXPECT_EQ(std::get<std::int64_t>(row[0]), 0);
  EXPECT_EQ(session_.tensor_names(), std::vector<std::string>{"X"});
  EXPECT_THROW(describe("SELECT nope FROM t"), Error);
  EXPECT_THROW(describe("EINSUM Z[j] = SUM(Q[i,j])"), Error);
}

TEST_F(StatementDescriptionTest, WhatASessionHolds) {
  EXPECT_FALSE(session_.has_state());
  session_.execute("BEGIN");
  EXPECT_TRUE(session_.in_transaction());
  EXPECT_TRUE(session_.has_state());
  session_.execute("COMMIT");
  session_.execute("EINSUM Z[j] = SUM(X[i,j])");
  EXPECT_FALSE(session_.has_state());
  session_.execute("CREATE TEMP TABLE own (x)");
  EXPECT_TRUE(session_.has_state());
  session_.execute("BEGIN");
  session_.execute("DROP TABLE own");
  EXPECT_TRUE(session_.has_state());
  session_.execute("ROLLBACK");
  EXPECT_TRUE(session_.has_state());
  session_.execute("DROP TABLE own");
  EXPECT_FALSE(session_.has_state());
}

}  // namespace
}  // namespace eindb
