// The grammar of every statement, and the boundary between eindb's statements and SQLite's.

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <variant>

#include "common/error.hpp"
#include "parser/parser.hpp"
#include "tests/parser/ast_dump.hpp"

namespace eindb {
namespace {

struct StatementExample {
  const char* text;
  const char* tree;
};

void expect_statements(std::initializer_list<StatementExample> examples) {
  for (const auto& example : examples)
    EXPECT_EQ(ast::dump(parse_statement(example.text)), example.tree) << example.text;
}

bool is_sql(const std::string& text) { return std::holds_alternative<ast::Sql>(parse_statement(text).node); }

TEST(StatementParser, Tensors) {
  expect_statements({
      {"CREATE TENSOR X (i 1000, j 2000);", "(create X(i 1000,j 2000))"},
      {"create tensor if not exists X (i 10) float32 partition (4)",
       "(create-if-not-exists X(i 10) float32 partition (4))"},
      {"CREATE TENSOR X (i 10) REPLICAS 2 FLOAT32", "(create X(i 10) FLOAT32 replicas 2)"},
      {"CREATE TENSOR replicas REPLICAS 3 AS EINSUM B[i] = X[i]", "(create replicas replicas 3 (query (B[i] = X[i])))"},
      {"ALTER TENSOR X REPLICAS 2", "(alter X replicas 2)"},
      {"CREATE TENSOR X (i 10) PARTITION (4) FLOAT32", "(create X(i 10) FLOAT32 partition (4))"},
      {"CREATE TENSOR s ()", "(create s())"},
      {"CREATE TENSOR none (i 0)", "(create none(i 0))"},
      {"CREATE TENSOR Z FLOAT32 AS EINSUM Z[i] = X[i]", "(create Z FLOAT32 (query (Z[i] = X[i])))"},
      {"CREATE TENSOR \"a b\" (\"l m\" 3)", "(create \"a b\"(\"l m\" 3))"},
      {"CREATE TENSOR Z AS EINSUM Z[i] = X[i]", "(create Z (query (Z[i] = X[i])))"},
      {"CREATE TENSOR Z PARTITION (2, 3) AS WITH A[i] = X[i] EINSUM B[i] = A[i];",
       "(create Z partition (2,3) (query (A[i] = X[i]) (B[i] = A[i])))"},
      {"CREATE TENSOR Z AS (EINSUM 'ij,jk' (X, Y))", "(create Z (query (subscripts [i,j] [j,k] of X Y)))"},
      {"CREATE TENSOR X (i 10, j 5) AS SELECT row, a||b FROM t -- rows\n;",
       "(create X(i 10,j 5) (sql 'SELECT row, a||b FROM t'))"},
      {"CREATE TENSOR X (i 10) AS (SELECT f(a), b FROM t)", "(create X(i 10) (sql 'SELECT f(a), b FROM t'))"},
      {"CREATE TENSOR X (i 10) AS WITH c AS (SELECT 1, 2) SELECT * FROM c",
       "(create X(i 10) (sql 'WITH c AS (SELECT 1, 2) SELECT * FROM c'))"},
      {"CREATE TENSOR X (i 10) AS VALUES (1, 2.5)", "(create X(i 10) (sql 'VALUES (1, 2.5)'))"},
      {"DROP TENSOR X", "(drop X)"},
      {"DROP TENSOR IF EXISTS X;", "(drop-if-exists X)"},
      {"ALTER TENSOR X RENAME TO Y", "(alter X rename Y)"},
      {"ALTER TENSOR X EXTEND (i 2000, j $1)", "(alter X extend(i 2000 j $1))"},
      {"ALTER TENSOR X RENAME LABEL i TO \"the row\"", "(alter X rename-label i \"the row\")"},
      {"INSERT INTO TENSOR X AT (i) EINSUM Z[j] = Y[j]", "(insert X at i (query (Z[j] = Y[j])))"},
      {"INSERT INTO TENSOR X AT (i) VALUES (0, 1)", "(insert X at i (0 1))"},
      {"INSERT INTO TENSOR X AT (i) WITH d[i] = Y[i] EINSUM Z[i] = d[i]",
       "(insert X at i (query (d[i] = Y[i]) (Z[i] = d[i])))"},
      {"ALTER TENSOR X PARTITION (8, 8)", "(alter X partition (8,8))"},
      {"ALTER TENSOR s PARTITION ()", "(alter s partition ())"},
      {"ANALYZE TENSOR X", "(analyze X)"},
      {"analyze tensor \"a b\";", "(analyze \"a b\")"},
      {"ANALYZE TENSOR", "(analyze-all)"},
      {"ANALYZE TENSOR;", "(analyze-all)"},
      {"SHOW TENSORS", "(show-tensors)"},
      {"DESCRIBE X", "(describe X)"},
      {"DESC X", "(describe X)"},
      {"INSERT INTO TENSOR X VALUES (0, 3, 1.5), (1, -1, -2e3 + $1)",
       "(insert X (0 3 1.5) (1 (neg 1) ((neg 2000.0) + $1)))"},
      {"INSERT INTO TENSOR s VALUES (1)", "(insert s (1))"},
  });
}

TEST(StatementParser, SeveralTensors) {
  expect_statements({
      {"CREATE OR REPLACE TENSOR X (i 10)", "(create-or-replace X(i 10))"},
      {"CREATE OR REPLACE TENSOR Z AS EINSUM Z[i] = X[i]", "(create-or-replace Z (query (Z[i] = X[i])))"},
      {"CREATE TENSOR (a, \"b c\") AS WITH a[i] = X[i] EINSUM b[i] = a[i]",
       "(create-tensors a,\"b c\" (query (a[i] = X[i]) (b[i] = a[i])))"},
      {"create or replace tensor (dW) replicas 2 as (gradient of L with respect to (W))",
       "(create-tensors-or-replace dW replicas 2 (query (gradient L W)))"},
      {"CREATE TENSOR IF NOT EXISTS (Q, R) AS WITH Q[i] = X[i], R = 1 EINSUM (Q, R)",
       "(create-tensors-if-not-exists Q,R (query (Q[i] = X[i]) (R[] = 1) (results Q,R)))"},
      {"CREATE TENSOR Q AS EINSUM (Q)", "(create Q (query (results Q)))"},
  });
}

TEST(StatementParser, Derivatives) {
  expect_statements({
      {"GRADIENT OF L[] = SUM(X[i] * W[i]) WITH RESPECT TO (W AS dW, X)",
       "(query (gradient (L[] = (SUM (X[i] * W[i]))) W:dW X))"},
      {"WITH L = SUM(W[i]) gradient of L with respect to (W);", "(query (L[] = (SUM W[i])) (gradient L W))"},
      {"GRADIENT OF L[] WITH RESPECT TO (W)", "(query (gradient L W))"},
      {"GRADIENT OF L = SUM(A[i,j] * B[j,k] * C[k,i]) WITH RESPECT TO (A) USING PATH ((0,1),(0,1))",
       "(query (gradient (L[] = (SUM (A[i,j] * B[j,k] * C[k,i]))) A) path ((0 1)(0 1)))"},
      {"JVP OF Y[i] = EXP(X[i]) WITH RESPECT TO (X ALONG V, W ALONG \"U\") AS dY",
       "(query (jvp (Y[i] = (EXP X[i])) X:V W:\"U\" as dY))"},
      {"WITH V[i] = X[i], JVP OF Y[i] = X[i]^2 WITH RESPECT TO (X ALONG V) EINSUM n = SUM(dY[i])",
       "(query (V[i] = X[i]) (jvp (Y[i] = (X[i] ^ 2)) X:V) (n[] = (SUM dY[i])))"},
      {"WITH GRADIENT OF L = SUM(W[i]) WITH RESPECT TO (W), N[i] = dW[i] * 2 EINSUM (N, dW)",
       "(query (gradient (L[] = (SUM W[i])) W) (N[i] = (dW[i] * 2)) (results N,dW))"},
      {"EXPLAIN GRADIENT OF L WITH RESPECT TO (W)", "(explain text (query (gradient L W)))"},
      {"COPY (GRADIENT OF L WITH RESPECT TO (W)) TO 'x.npy'", "(copy-to (query (gradient L W)) 'x.npy')"},
      {"CREATE TENSOR dW AS GRADIENT OF L WITH RESPECT TO (W)", "(create dW (query (gradient L W)))"},
  });
}

TEST(StatementParser, Updates) {
  expect_statements({
      {"UPDATE TENSOR W[a,h] = W[a,h] - $1 * dW[a,h]",
       "(update (query (updates (W[a,h] = (W[a,h] - ($1 * dW[a,h]))))))"},
      {"update tensor s = s + 1, V[i] = 0;", "(update (query (updates (s[] = (s + 1)) (V[i] = 0))))"},
      {"WITH GRADIENT OF L = SUM(W[i]) WITH RESPECT TO (W) UPDATE TENSOR W[i] = W[i] - dW[i]",
       "(update (query (gradient (L[] = (SUM W[i])) W) (updates (W[i] = (W[i] - dW[i])))))"},
      {"UPDATE TENSOR W[i,k] = SUM(A[i,j] * B[j,k]) USING PATH 'left'",
       "(update (query (updates (W[i,k] = (SUM (A[i,j] * B[j,k])))) path 'left'))"},
      {"UPDATE TENSOR W[0,h] = 1, V[2:, -1] = W[0, 2:]",
       "(update (query (updates (W[0,h] = 1) (V[2:,-1] = W[0,2:]))))"},
      {"UPDATE TENSOR W[i,h] += 1, V[$1] *= 2",
       "(update (query (updates (W[i,h] = (W[i,h] + 1)) (V[$1] = (V[$1] * 2)))))"},
      {"UPDATE TENSOR W[t[b],h] += g[b,h], V[i+1] -= g",
       "(update (query (updates (W[t[b],h] += g[b,h]) (V[(i + 1)] += (neg g)))))"},
      {"UPDATE TENSOR s /= 2", "(update (query (updates (s[] = (s[] / 2)))))"},
      {"EXPLAIN ANALYZE UPDATE TENSOR W[i] = 0", "(explain analyze text (query (updates (W[i] = 0))))"},
      {"EXPLAIN UPDATE TENSOR W[i] = 0", "(explain text (query (updates (W[i] = 0))))"},
      {"EXPLAIN WITH d[i] = W[i] UPDATE TENSOR W[i] = d[i]",
       "(explain text (query (d[i] = W[i]) (updates (W[i] = d[i]))))"},
  });
}

TEST(StatementParser, WordsOfDerivativesAndLoopsAreNames) {
  expect_statements({
      {"EINSUM gradient[i] = repeat[i] * until[i]", "(query (gradient[i] = (repeat[i] * until[i])))"},
      {"WITH gradient[i] = X[i], jvp = 1, update[i] = X[i] EINSUM of[i] = gradient[i] + jvp + update[i]",
       "(query (gradient[i] = X[i]) (jvp[] = 1) (update[i] = X[i]) (of[i] = (gradient[i] + jvp + update[i])))"},
      {"UPDATE TENSOR tensor[i] = 0, update[i] = repeat[i]",
       "(update (query (updates (tensor[i] = 0) (update[i] = repeat[i]))))"},
      {"GRADIENT OF gradient WITH RESPECT TO (respect AS with)", "(query (gradient gradient respect:with))"},
      {"DROP TENSOR repeat", "(drop repeat)"},
      {"CREATE TENSOR along (of 3)", "(create along(of 3))"},
  });
}

TEST(StatementParser, Users) {
  expect_statements({
      {"CREATE USER ann PASSWORD 'it''s'", "(user ann 'it's' read-write)"},
      {"create user \"Ann B\" with password 'x' read only;", "(user \"Ann B\" 'x' read-only)"},
      {"CREATE USER ann READ WRITE PASSWORD 'x'", "(user ann 'x' read-write)"},
      {"CREATE USER root PASSWORD 'x' ADMIN", "(user root 'x' admin)"},
      {"ALTER USER admin ADMIN", "(alter-user admin admin)"},
      {"ALTER USER ann RESTRICTED", "(alter-user ann restricted)"},
      {"GRANT SELECT, update ON t, public.X TO ann, \"Bob B\"", "(grant 5 t X to ann \"Bob B\")"},
      {"REVOKE ALL PRIVILEGES ON TENSOR X FROM ann CASCADE", "(revoke 15 tensor X from ann)"},
      {"GRANT INSERT ON ALL TABLES IN SCHEMA public TO ann", "(grant 2 all-tables to ann)"},
      {"CREATE USER password PASSWORD 'x'", "(user password 'x' read-write)"},
      {"ALTER USER ann PASSWORD 'x'", "(alter-user ann 'x')"},
      {"ALTER USER ann WITH PASSWORD 'x' READ ONLY", "(alter-user ann 'x' read-only)"},
      {"ALTER USER ann READ WRITE", "(alter-user ann read-write)"},
      {"DROP USER ann", "(drop-user ann)"},
      {"DROP USER IF EXISTS \"ann\"", "(drop-user-if-exists \"ann\")"},
      {"SHOW USERS", "(show-users)"},
      {"show workers;", "(show-workers)"},
      {"DRAIN WORKER '10.0.0.3:7700'", "(drain-worker '10.0.0.3:7700')"},
      {"ALTER WORKER '10.0.0.3:7700' DRAIN", "(alter-worker '10.0.0.3:7700' drain)"},
      {"alter worker 'a:1' activate", "(alter-worker 'a:1' activate)"},
  });
}

TEST(StatementParser, Copy) {
  expect_statements({
      {"COPY X FROM 'x.npy'", "(copy-from X 'x.npy')"},
      {"COPY X FROM 'it''s.csv' (FORMAT csv, HEADER, DELIMITER ';', skip=3, scale -1.5)",
       "(copy-from X 'it's.csv' (FORMAT='csv', HEADER, DELIMITER=';', skip=3, scale=-1.5))"},
      {"COPY X TO 'x.npy' WITH (FORMAT npy)", "(copy-to X 'x.npy' (FORMAT='npy'))"},
      {"COPY (EINSUM Z[i] = X[i]) TO 'z.npy'", "(copy-to (query (Z[i] = X[i])) 'z.npy')"},
      {"COPY (SELECT (1), ')' FROM t) TO 't.csv'", "(copy-to (sql 'SELECT (1), ')' FROM t') 't.csv')"},
  });
}

TEST(StatementParser, Queries) {
  expect_statements({
      {"EINSUM Z[i,k] = SUM(X[i,j] * Y[j,k]);", "(query (Z[i,k] = (SUM (X[i,j] * Y[j,k]))))"},
      {"EINSUM s = SUM(X[i])", "(query (s[] = (SUM X[i])))"},
      {"EINSUM s[] = 1", "(query (s[] = 1))"},
      {"EINSUM ONES[i 10, j $1] = 1", "(query (ONES[i 10,j $1] = 1))"},
      {"EINSUM Z[i] = A[i] = B[i]", "(query (Z[i] = (A[i] = B[i])))"},
      {"WITH C[i] = MAX(X[i,j]), E[i,j] = EXP(X[i,j] - C[i]), s = SUM(E[i,j])\nEINSUM Y[i,j] = E[i,j] / s",
       "(query (C[i] = (MAX X[i,j])) (E[i,j] = (EXP (X[i,j] - C[i]))) (s[] = (SUM E[i,j])) (Y[i,j] = (E[i,j] / s)))"},
      {"WITH A[i] = X[i] EINSUM 'i,i' (A, A)", "(query (A[i] = X[i]) (subscripts [i] [i] of A A))"},
      {"EINSUM Z[i] = SUM(A[i]*B[i]*C[i]) USING PATH ((0,1),(0,1))",
       "(query (Z[i] = (SUM (A[i] * B[i] * C[i]))) path ((0 1)(0 1)))"},
      {"EINSUM 'i,i' (A, B) USING PATH ((0,), (0, 1),)", "(query (subscripts [i] [i] of A B) path ((0)(0 1)))"},
      {"EINSUM 'i' (A) USING PATH ()", "(query (subscripts [i] of A) path ())"},
      {"EINSUM 'i,i' (A, B) USING PATH 'Greedy'", "(query (subscripts [i] [i] of A B) path 'greedy')"},
      {"EINSUM 'i,i' (A, B) USING PATH 'auto' WITH WEIGHT 2.5",
       "(query (subscripts [i] [i] of A B) path 'auto' weight 2.500000)"},
      {"einsum Z[i] = 1 + /* one */ 2 -- three", "(query (Z[i] = (1 + 2)))"},
  });
}

TEST(StatementParser, Explain) {
  expect_statements({
      {"EXPLAIN EINSUM Z[i] = X[i]", "(explain text (query (Z[i] = X[i])))"},
      {"EXPLAIN ANALYZE WITH A[i] = X[i] EINSUM Z[i] = A[i]",
       "(explain analyze text (query (A[i] = X[i]) (Z[i] = A[i])))"},
      {"EXPLAIN (ANALYZE, FORMAT json) EINSUM Z[i] = X[i]", "(explain analyze json (query (Z[i] = X[i])))"},
      {"EXPLAIN (ANALYZE off, COMPARE true, FORMAT dot) EINSUM 'i' (X)",
       "(explain compare dot (query (subscripts [i] of X)))"},
      {"EXPLAIN (EINSUM Z[i] = X[i])", "(explain text (query (Z[i] = X[i])))"},
  });
}

TEST(StatementParser, Session) {
  expect_statements({
      {"SET memory_limit = '2GB'", "(set memory_limit '2GB')"},
      {"SET threads TO 4", "(set threads 4)"},
      {"SET progress = on", "(set progress 'on')"},
      {"SET x = -1.5", "(set x -1.5)"},
      {"SHOW threads", "(show threads)"},
      {"SHOW ALL", "(show ALL)"},
      {"RESET threads", "(reset threads)"},
      {"RESET ALL", "(reset ALL)"},
      {"BEGIN", "(begin deferred)"},
      {"BEGIN TRANSACTION", "(begin deferred)"},
      {"BEGIN IMMEDIATE", "(begin immediate)"},
      {"BEGIN EXCLUSIVE TRANSACTION", "(begin exclusive)"},
      {"START TRANSACTION", "(begin deferred)"},
      {"BEGIN READ ONLY", "(begin deferred read-only)"},
      {"BEGIN DEFERRED WORK READ WRITE", "(begin deferred)"},
      {"begin isolation level repeatable read, read only, not deferrable", "(begin deferred read-only)"},
      {"START TRANSACTION READ ONLY DEFERRABLE ISOLATION LEVEL READ UNCOMMITTED", "(begin deferred read-only)"},
      {"BEGIN IMMEDIATE ISOLATION LEVEL SERIALIZABLE", "(begin immediate)"},
      {"SET TRANSACTION READ ONLY", "(set-transaction read-only)"},
      {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "(set-transaction)"},
      {"SET TRANSACTION READ WRITE", "(set-transaction read-write)"},
      {"SAVEPOINT a", "(savepoint a)"},
      {"RELEASE a", "(release a)"},
      {"RELEASE SAVEPOINT \"a b\"", "(release \"a b\")"},
      {"ROLLBACK TO a", "(rollback-to a)"},
      {"ROLLBACK WORK TO SAVEPOINT a", "(rollback-to a)"},
      {"ROLLBACK TRANSACTION TO savepoint", "(rollback-to savepoint)"},
      {"COMMIT", "(commit)"},
      {"END TRANSACTION;", "(commit)"},
      {"ROLLBACK WORK", "(rollback)"},
      {"PREPARE p AS EINSUM Z[i] = X[i] * $1;", "(prepare p 'EINSUM Z[i] = X[i] * $1')"},
      {"PREPARE p AS SELECT a || ? FROM t ;", "(prepare p 'SELECT a || ? FROM t')"},
      {"EXECUTE p", "(execute p)"},
      {"EXECUTE p(1, -2.5, 'it''s')", "(execute p 1 (neg 2.5) 'it's')"},
      {"DEALLOCATE p", "(deallocate p)"},
      {"DEALLOCATE PREPARE ALL", "(deallocate ALL)"},
  });
}

TEST(StatementParser, Macros) {
  expect_statements({
      {"CREATE MACRO softmax(x, l) AS EXP(x - MAX[l](x)) / SUM[l](EXP(x));",
       "(macro softmax(x,l) ((EXP (x - (MAX[l] x))) / (SUM[l] (EXP x))) 'EXP(x - MAX[l](x)) / SUM[l](EXP(x))')"},
      {"CREATE OR REPLACE MACRO two() AS (1 + 1)", "(macro-or-replace two() (1 + 1) '(1 + 1)')"},
      {"CREATE MACRO IF NOT EXISTS f(x) AS x", "(macro-if-not-exists f(x) x 'x')"},
      {"CREATE AGGREGATE f(x, y) AS x + y INITIAL 0", "(aggregate f(x,y) (x + y) initial 0 'x + y INITIAL 0')"},
      {"create or replace aggregate f(x, y) as least(x, y) initial infinity idempotent associative commutative "
       "distributes over (+, max, and)",
       "(aggregate-or-replace f(x,y) (least x y) initial inf commutative associative idempotent over (+,MAX,AND) "
       "'least(x, y) initial infinity idempotent associative commutative distributes over (+, max, and)')"},
      {"DROP AGGREGATE IF EXISTS f", "(drop-aggregate-if-exists f)"},
      {"CREATE OR REPLACE FUNCTION f(x, y) AS x + y", "(function-or-replace f(x,y) (x + y) 'x + y')"},
      {"DROP FUNCTION IF EXISTS f", "(drop-function-if-exists f)"},
      {"DROP MACRO f", "(drop-macro f)"},
      {"DROP MACRO IF EXISTS f", "(drop-macro-if-exists f)"},
  });
}

TEST(StatementParser, Comments) {
  expect_statements({
      {"COMMENT ON TABLE t IS 'it''s'", "(comment table t 'it's')"},
      {"COMMENT ON TENSOR public.X IS NULL", "(comment tensor X)"},
      {"comment on column t.c is ''", "(comment column t.c '')"},
      {"COMMENT ON COLUMN public.t.\"C\" IS 'x'", "(comment column t.\"C\" 'x')"},
  });
}

TEST(StatementParser, NothingIsAStatementToo) {
  for (const char* text : {"", " \n", ";", ";;", "-- only a comment", "/* and */ ;"})
    EXPECT_TRUE(std::holds_alternative<ast::Empty>(parse_statement(text).node)) << text;
}

TEST(StatementParser, TemporaryTensorsAndSchemas) {
  const auto created = [](const char* text) { return std::get<ast::CreateTensor>(parse_statement(text).node); };
  EXPECT_FALSE(created("CREATE TENSOR X (i 2)").temporary);
  EXPECT_FALSE(created("CREATE TENSOR public.X (i 2)").temporary);
  for (const char* text : {"CREATE TEMP TENSOR X (i 2)", "CREATE TEMPORARY TENSOR X (i 2)",
                           "CREATE OR REPLACE TEMP TENSOR X (i 2)", "CREATE TENSOR temp.X (i 2)",
                           "CREATE TEMP TENSOR pg_temp.X (i 2)", "CREATE TEMP TENSOR IF NOT EXISTS X (i 2)"}) {
    EXPECT_TRUE(created(text).temporary) << text;
    EXPECT_EQ(created(text).name.text, "X") << text;
  }
  EXPECT_TRUE(
      std::get<ast::CreateTensors>(parse_statement("CREATE TEMP TENSOR (a, b) AS EINSUM (a, b)").node).temporary);

  const auto named = [](const char* text) { return std::get<ast::Describe>(parse_statement(text).node).name; };
  EXPECT_EQ(named("DESCRIBE public.X").text, "main.X");
  EXPECT_EQ(named("DESCRIBE pg_temp.\"a b\"").text, "temp.a b");
  EXPECT_TRUE(named("DESCRIBE temp.X").qualified);
  EXPECT_FALSE(named("DESCRIBE \"temp.X\"").qualified);
  EXPECT_FALSE(named("DESCRIBE temp").qualified);
  EXPECT_EQ(named("DESCRIBE other.X").text, "other.X");
  EXPECT_TRUE(named("DESCRIBE other.\"a b\"").qualified);
}

TEST(StatementParser, AttachedDatabases) {
  for (const char* text : {"ATTACH 'a b.db' AS other", "attach database 'a b.db' as \"other\";"}) {
    const auto attach = std::get<ast::AttachDatabase>(parse_statement(text).node);
    EXPECT_EQ(attach.path, "a b.db");
    EXPECT_EQ(attach.name.text, "other");
  }
  const auto detached = [](const char* text) {
    return std::get<ast::DetachDatabase>(parse_statement(text).node).name.text;
  };
  EXPECT_EQ(detached("DETACH other"), "other");
  EXPECT_EQ(detached("DETACH DATABASE other"), "other");
  EXPECT_EQ(detached("DETACH database"), "database");
  for (const char* text : {"ATTACH", "ATTACH other AS x", "ATTACH 'x.db'", "ATTACH 'x.db' AS", "ATTACH 'x.db' AS x y",
                           "DETACH", "DETACH 'x'", "DETACH a b"})
    EXPECT_THROW(parse_statement(text), Error) << text;
}

TEST(StatementParser, OtherStatementsAreSqlites) {
  for (const char* text : {
           "SELECT 1",
           "select * from t where a = 'x;y' -- end",
           "INSERT INTO t VALUES (1)",
           "INSERT INTO tensor VALUES (1)",
           "INSERT INTO tensor(a) VALUES (1)",
           "INSERT INTO tensor AS t SELECT 1",
           "CREATE TABLE t (a, b)",
           "CREATE TEMP TABLE t(a)",
           "CREATE UNIQUE INDEX i ON t(einsum)",
           "DROP TABLE t",
           "ALTER TABLE t RENAME TO u",
           "WITH x AS (SELECT 1) SELECT * FROM x",
           "WITH x(a) AS (SELECT 1) SELECT * FROM x",
           "WITH RECURSIVE c(x) AS (VALUES(1)) SELECT x FROM c",
           "EXPLAIN SELECT 1",
           "EXPLAIN QUERY PLAN SELECT 1",
           "EXPLAIN WITH x AS (SELECT 1) SELECT * FROM x",
           "EXPLAIN CREATE TABLE t(a)",
           "EXPLAIN DELETE FROM t",
           "PRAGMA page_size",
           "VACUUM",
           "ANALYZE t",
           "REPLACE INTO t VALUES (1)",
           "VALUES (1)",
           "DELETE FROM t",
           "UPDATE t SET a = :x, b = ?1, c = @y",
           "UPDATE tensor SET a = 1",
           "UPDATE tensor AS t SET a = 1",
           "UPDATE tensor INDEXED BY i SET a = 1",
           "UPDATE tensor.t SET a = 1",
           "EXPLAIN UPDATE tensor SET a = 1",
           "WITH x AS (SELECT 1) UPDATE tensor SET a = 1",
           "WITH gradient AS (SELECT 1) UPDATE t SET a = 1",
           "WITH gradient(of) AS (SELECT 1) SELECT * FROM gradient",
           "SELECT * FROM (gradient of JOIN jvp of2)",
           "SELECT gradient, (jvp), (repeat) FROM t",
           "SELECT a || b, [odd name], `other` FROM t WHERE x'00' = ~1 & 2",
       })
    EXPECT_TRUE(is_sql(text)) << text;
}

TEST(StatementParser, SqlIsUnchanged) {
  const auto statement = parse_statement("  /* c */ SELECT 'a;b' -- x\n , \"q\"  ;  ");
  const auto& sql = std::get<ast::Sql>(statement.node);
  EXPECT_EQ(sql.text, "SELECT 'a;b' -- x\n , \"q\"");
  EXPECT_EQ(sql.span, (SourceSpan{10, 10 + sql.text.size()}));
  EXPECT_EQ(statement.span, sql.span);
  const std::string trigger = "CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; SELECT CASE 1 WHEN 1 THEN 2 END; END";
  EXPECT_EQ(std::get<ast::Sql>(parse_statement(trigger + ";").node).text, trigger);
}

TEST(StatementParser, QueriesInsideSql) {
  const std::string text =
      "SELECT i, val FROM (EINSUM Z[i] = SUM(X[i,j])) AS a, ( WITH B[i] = X[i,0] EINSUM 'i->' (B) ) b "
      "WHERE einsum IN (SELECT einsum FROM (SELECT 1) WHERE (einsum = 2)) || '(EINSUM Z[i] = ?)' ORDER BY val";
  const auto statement = parse_statement(text);
  const auto& sql = std::get<ast::Sql>(statement.node);
  EXPECT_EQ(sql.text, text);
  ASSERT_EQ(sql.queries.size(), 2U);
  const auto text_of = [&](SourceSpan span) { return text.substr(span.begin, span.end - span.begin); };
  EXPECT_EQ(text_of(sql.queries[0].span), "(EINSUM Z[i] = SUM(X[i,j]))");
  EXPECT_EQ(text_of(sql.queries[1].span), "( WITH B[i] = X[i,0] EINSUM 'i->' (B) )");
  EXPECT_EQ(ast::dump(sql.queries[0].query), "(query (Z[i] = (SUM X[i,j])))");
  EXPECT_EQ(text_of(std::get<ast::Definition>(sql.queries[0].query.body).head_span), "Z[i]");
}

TEST(StatementParser, SpansCountFromTheBeginningOfTheText) {
  const std::string text = "\n  PREPARE p AS EINSUM Z[i] = X[i];";
  const auto statement = parse_statement(text);
  EXPECT_EQ(statement.span, (SourceSpan{3, text.size() - 1}));
  EXPECT_EQ(std::get<ast::Prepare>(statement.node).body_span, (SourceSpan{16, text.size() - 1}));
}

TEST(StatementParser, ParseQueryTakesAQueryAlone) {
  EXPECT_EQ(ast::dump(parse_query("EINSUM Z[i] = X[i];")), "(query (Z[i] = X[i]))");
  EXPECT_THROW(parse_query("SELECT 1"), Error);
  EXPECT_THROW(parse_query("EINSUM Z[i] = X[i]; SELECT 1"), Error);
}

}  // namespace
}  // namespace eindb
