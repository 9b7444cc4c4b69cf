// SQL over tensors with more than one statement or session at a time, which scripts cannot test.

#include "engine/query/sql_query.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/session.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tests/processor_time.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

/// The remaining rows as numbers.
std::vector<std::vector<double>> numbers_of(Result result) {
  std::vector<std::vector<double>> rows;
  Row row;
  while (result.rows != nullptr && result.rows->next(row)) {
    auto& numbers = rows.emplace_back();
    for (const auto& cell : row) {
      if (const auto* integer = std::get_if<std::int64_t>(&cell)) numbers.push_back(static_cast<double>(*integer));
      else if (const auto* real = std::get_if<double>(&cell)) numbers.push_back(*real);
      else numbers.push_back(-1);
    }
  }
  return rows;
}

class SqlQueryTest : public ::testing::TestWithParam<bool> {
 protected:
  using Rows = std::vector<std::vector<double>>;
  Rows run(Session& session, const std::string& sql) { return numbers_of(session.execute(sql)); }
  Rows run(const std::string& sql) { return run(db, sql); }

  ScratchDirectory scratch;
  std::string path = GetParam() ? scratch.file("a.db") : ":memory:";
  Session db{path};
};

TEST_P(SqlQueryTest, ResultsThatAreHalfReadDoNotDisturbEachOther) {
  run("CREATE TENSOR X PARTITION (4, 1) AS EINSUM X[i 100, j 20] = 100 * i + j");
  auto scan = db.execute("SELECT val FROM X ORDER BY i, j");
  auto query = db.execute("SELECT val FROM (EINSUM Z[i] = X[i,3])");
  auto other = db.execute("SELECT val FROM (EINSUM Z[i] = X[i,4])");
  Row row;
  ASSERT_TRUE(scan.rows->next(row) && query.rows->next(row) && other.rows->next(row));
  // The catalog changes in between: tables are registered again, and those in use stay.
  run("CREATE TENSOR Y AS EINSUM Y[i] = X[i,0]");
  EXPECT_EQ(run("SELECT COUNT(*) FROM X, (EINSUM Z[k 2] = 1) WHERE X.j = 1"), (Rows{{200}}));
  EXPECT_EQ(numbers_of(std::move(query)).size(), 99U);
  EXPECT_EQ(numbers_of(std::move(scan)).size(), 1999U);
  const auto left = numbers_of(std::move(other));
  ASSERT_EQ(left.size(), 99U);
  EXPECT_EQ(left.back(), (std::vector<double>{9904}));
}

TEST(SqlNames, ATensorThatHasTheNameOfATableOfSqliteIsNeverTakenForIt) {
  const ScratchDirectory scratch;
  const auto path = scratch.file("a.db");
  { Session{path}.execute("CREATE TENSOR A AS EINSUM A[i 3] = i + 1"); }
  {  // as an earlier version of eindb could create it
    SqliteConnection file(path, SqliteConnection::Access::ReadWrite);
    file.execute(
        "UPDATE eindb_tensors SET name = 'json_each'; ALTER TABLE eindb_tiles_A RENAME TO eindb_tiles_json_each");
  }
  Session db(path);
  EXPECT_EQ(numbers_of(db.execute("EINSUM s[] = SUM(json_each[i])")), (std::vector<std::vector<double>>{{6}}));
  for (const std::string sql : {"SELECT * FROM json_each", "SELECT value FROM JSON_EACH('[1]')",
                                "SELECT 1 WHERE EXISTS (SELECT 1 FROM main.json_each)"}) {
    EXPECT_ERROR(db.execute(sql), ErrorKind::DuplicateName, "of its own beside the tensor json_each");
  }
  EXPECT_EQ(numbers_of(db.execute("SELECT value FROM json_tree('[7]') WHERE type = 'integer'")).size(), 1U);
  db.execute("ALTER TENSOR json_each RENAME TO A");
  EXPECT_EQ(numbers_of(db.execute("SELECT SUM(val) FROM A")), (std::vector<std::vector<double>>{{6}}));
  EXPECT_EQ(numbers_of(db.execute("SELECT value FROM json_each('[7]')")), (std::vector<std::vector<double>>{{7}}));
}

TEST_P(SqlQueryTest, AHalfReadQueryHoldsNoTransactionOpen) {
  run("CREATE TENSOR X AS EINSUM X[i 10] = i");
  auto query = db.execute("SELECT val FROM (EINSUM Z[i] = X[i] + 1)");
  Row row;
  ASSERT_TRUE(query.rows->next(row));
  run("BEGIN");
  run("CREATE TENSOR Y AS EINSUM Y[i] = X[i]");
  run("COMMIT");
  EXPECT_EQ(numbers_of(std::move(query)).size(), 9U);
  EXPECT_EQ(run("SELECT SUM(val) FROM Y"), (Rows{{45}}));
}

TEST_P(SqlQueryTest, AStatementThatWritesIsUndoneAsAWhole) {
  run("CREATE TABLE t (x INTEGER PRIMARY KEY)");
  run("INSERT INTO t VALUES (3)");
  EXPECT_ERROR(run("INSERT INTO t SELECT i FROM (EINSUM Z[i 5] = i)"), ErrorKind::Sql, "UNIQUE");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t"), (Rows{{1}}));
  run("BEGIN");
  run("INSERT INTO t VALUES (9)");
  EXPECT_ERROR(run("INSERT INTO t SELECT i FROM (EINSUM Z[i 5] = i)"), ErrorKind::Sql, "UNIQUE");
  run("COMMIT");
  EXPECT_EQ(run("SELECT COUNT(*) FROM t"), (Rows{{2}}));
}

TEST_P(SqlQueryTest, ALongStatementCanBeCancelled) {
  run("CREATE TENSOR Big (i 1000000, j 1000000) FLOAT32 PARTITION (100, 100)");
  run("SET statement_timeout = 100");
  // Neither of them would end for days.
  EXPECT_ERROR(run("SELECT SUM(val) FROM Big"), ErrorKind::Cancelled, "statement_timeout");
  EXPECT_ERROR(run("CREATE TABLE copy AS SELECT * FROM Big WHERE val + 1 > 0"), ErrorKind::Cancelled,
               "statement_timeout");
  run("SET statement_timeout = 0");
  std::atomic<bool> running{true};
  std::thread other([&] {
    while (running) {  // repeated, as the statement may not have begun
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (running) db.cancel();
    }
  });
  EXPECT_ERROR(run("SELECT MAX(val) FROM Big"), ErrorKind::Cancelled, "cancelled");
  running = false;
  other.join();
  EXPECT_EQ(run("SELECT val FROM Big WHERE i = 999999 AND j = 7"), (Rows{{0}}));
}

TEST_P(SqlQueryTest, ManyTensorsCostAStatementNothing) {
  run("BEGIN");
  for (int n = 0; n < 1000; ++n) run("CREATE TENSOR T" + std::to_string(n) + " (i 2)");
  run("COMMIT");
  const double start = testing::thread_seconds();
  for (int n = 0; n < 100; ++n) run("SELECT val FROM T" + std::to_string(n * 7) + " WHERE i = 1");
  EXPECT_LT(testing::thread_seconds() - start, 2);
}

INSTANTIATE_TEST_SUITE_P(FileAndMemory, SqlQueryTest, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "File" : "Memory"; });

TEST(SqlSessionsTest, ChangesOfAnotherSessionAreSeen) {
  const ScratchDirectory scratch;
  Session one(scratch.file("a.db"));
  Session two(scratch.file("a.db"));
  using Rows = std::vector<std::vector<double>>;
  two.execute("CREATE TENSOR A AS EINSUM A[i 2] = i + 1");
  EXPECT_EQ(numbers_of(one.execute("SELECT i, val FROM A")), (Rows{{0, 1}, {1, 2}}));
  two.execute("DROP TENSOR A");
  EXPECT_ERROR(one.execute("SELECT i, val FROM A"), ErrorKind::Sql, "no such table: A");
  two.execute("CREATE TENSOR A PARTITION (1, 2) AS EINSUM A[r 1, s 2] = 7 + s");
  EXPECT_EQ(numbers_of(one.execute("SELECT r, s, val FROM A")), (Rows{{0, 0, 7}, {0, 1, 8}}));

  // A scan in progress keeps its snapshot.
  auto half = one.execute("SELECT val FROM A");
  Row row;
  ASSERT_TRUE(half.rows->next(row));
  two.execute("DROP TENSOR A");
  two.execute("CREATE TABLE A (x)");
  EXPECT_EQ(numbers_of(std::move(half)), (Rows{{8}}));
  EXPECT_EQ(numbers_of(one.execute("SELECT COUNT(*) FROM A")), (Rows{{0}}));
}

TEST(SqlSessionsTest, ATensorChangedBetweenCompilingAndRunningIsNoticed) {
  const ScratchDirectory scratch;
  SessionState state(scratch.file("a.db"), {});
  Session other(scratch.file("a.db"));
  other.execute("CREATE TENSOR A AS EINSUM A[i 2] = i + 1");
  const std::string text = "SELECT val FROM A";
  const ast::Sql sql{.text = text, .queries = {}, .span = {0, text.size()}};
  {
    auto unrelated = prepare_sql(sql, state);
    other.execute("CREATE TENSOR B (i 3)");
    EXPECT_TRUE(unrelated.step());
    EXPECT_TRUE(unrelated.step());
    EXPECT_FALSE(unrelated.step());
  }
  auto changed = prepare_sql(sql, state);
  other.execute("DROP TENSOR A");
  other.execute("CREATE TENSOR A (i 5)");
  EXPECT_ERROR(changed.step(), ErrorKind::Busy, "tensor A was changed");
  auto again = prepare_sql(sql, state);
  EXPECT_TRUE(again.step());
}

TEST(SqlSessionsTest, ADatabaseOpenedForReadingIsRead) {
  const ScratchDirectory scratch;
  {
    Session writer(scratch.file("a.db"));
    writer.execute("CREATE TENSOR A AS EINSUM A[i 2] = i + 1");
  }
  Session reader(scratch.file("a.db"), {.read_only = true});
  using Rows = std::vector<std::vector<double>>;
  EXPECT_EQ(numbers_of(reader.execute("SELECT SUM(val) FROM A")), (Rows{{3}}));
  EXPECT_EQ(numbers_of(reader.execute("SELECT SUM(val) FROM (EINSUM Z[i] = A[i] * A[i])")), (Rows{{5}}));
}

TEST(SqlTextTest, QueriesGiveWayToTablesAndPlacesComeBack) {
  const std::string text = "SELECT * FROM (EINSUM Z[i] = X[i]) WHERE i IN (EINSUM W[] = 3) AND nix";
  //                        0         1         2         3         4         5         6
  //                        0123456789012345678901234567890123456789012345678901234567890123456789
  ast::Sql sql{.text = text, .queries = {}, .span = {5, 5 + text.size()}};
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{14, 34}, {46, 62}}) {
    ast::Definition head{};
    head.name.text = "Z";
    ast::EmbeddedQuery query{.query = {}, .span = {begin + 5, end + 5}};
    query.query.body = std::move(head);
    sql.queries.push_back(std::move(query));
  }
  const auto rewritten = rewrite_queries(sql, {"q1", "q2"});
  EXPECT_EQ(rewritten.text, "SELECT * FROM q1 AS \"Z\" WHERE i IN (SELECT * FROM q2) AND nix");
  const auto nix = rewritten.text.find("nix");
  EXPECT_EQ(rewritten.in_statement({nix, nix + 3}), (SourceSpan{72, 75}));
  EXPECT_EQ(rewritten.in_statement({7, 8}), (SourceSpan{12, 13}));
  const auto inside = rewritten.text.find("q2");
  EXPECT_EQ(rewritten.in_statement({inside, inside + 2}), (SourceSpan{51, 67}));
  EXPECT_EQ(rewritten.restored("i IN (SELECT * FROM q2)"), "i IN (EINSUM W[] = 3)");
}

TEST(SqlTextTest, SchemaStatementsNameTheirTargets) {
  const auto names = [](std::string_view sql) {
    std::string out;
    for (const auto& target : schema_targets(sql)) out += (out.empty() ? "" : "|") + target.name;
    return out;
  };
  EXPECT_EQ(names("CREATE TABLE IF NOT EXISTS main.\"a \"\"b\" (x)"), "a \"b");
  EXPECT_EQ(names("CREATE VIRTUAL TABLE [a b] USING fts5(x)"), "a b");
  EXPECT_EQ(names("DROP VIEW IF EXISTS temp.v"), "v");
  EXPECT_EQ(names("ALTER TABLE a RENAME TO b"), "a|b");
  EXPECT_EQ(names("ALTER TABLE a RENAME COLUMN b TO c"), "a");
  EXPECT_EQ(names("CREATE UNIQUE INDEX IF NOT EXISTS x.i ON t(c)"), "t");
  EXPECT_EQ(names("CREATE TRIGGER r AFTER UPDATE OF x ON t BEGIN SELECT 1; END"), "t");
  EXPECT_EQ(names("DROP INDEX i"), "");
  EXPECT_EQ(names("CREATE TABLE"), "");
  EXPECT_EQ(names("SELECT 1"), "");
}

// Clients and files give numbers of the types of their columns; a program may give a text.
TEST(LoadRowsTest, TheRealAndTheImaginaryPartAreRealNumbers) {
  const ScratchDirectory scratch;
  Session session(scratch.file("a.db"));
  session.execute("CREATE TENSOR C (i 2) COMPLEX64");
  const auto loader = session.load({.schema = {}, .name = "C", .columns = {"im", "i", "re"}});
  loader->add({Cell(std::string("2")), Cell(std::int64_t{1}), Cell(0.5)});
  try {
    loader->add({Cell(1.5), Cell(std::int64_t{0}), Cell(std::string("1+2j"))});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Value);
    EXPECT_EQ(error.message(), "re in row 2 is no real number");
  }
}

}  // namespace
}  // namespace eindb
