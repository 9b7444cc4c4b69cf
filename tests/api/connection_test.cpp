// Connections: statements, rows, errors, scripts, cancelling, several threads.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <eindb/eindb.hpp>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/expect_exception.hpp"
#include "tests/api/scratch_file.hpp"

namespace eindb_test {
namespace {

using eindb::Connection;
using eindb::ErrorCode;

TEST(ApiConnection, StatementsGiveStatusOrRows) {
  Connection db(":memory:");
  auto created = db.execute("CREATE TENSOR X AS EINSUM X[i 2, j 3] = 3 * i + j");
  EXPECT_EQ(created.status(), "CREATE TENSOR");
  EXPECT_TRUE(created.columns().empty());
  EXPECT_FALSE(created.next());
  EXPECT_FALSE(created.is_tensor());
  EXPECT_EXCEPTION(created.tensor(), Type, "gives no tensor");
  EXPECT_EQ(db.execute("  ").status(), "");

  auto sums = db.execute("SELECT i, SUM(val) AS total FROM X GROUP BY i ORDER BY i");
  EXPECT_EQ(sums.columns(), (std::vector<std::string>{"i", "total"}));
  EXPECT_EQ(sums.column("TOTAL"), 1U);
  EXPECT_EXCEPTION(sums.column("totl"), UnknownName, "no column totl");
  EXPECT_EXCEPTION(sums.row().get<int>(0), Value, "no column 0");
  std::vector<double> totals;
  for (const auto& row : sums) totals.push_back(row.get<double>(1));
  EXPECT_EQ(totals, (std::vector<double>{3, 12}));
  EXPECT_FALSE(sums.next());
  EXPECT_EQ(db.tensor_names(), std::vector<std::string>{"X"});
}

TEST(ApiConnection, TellsOfChangedRowsAndOfItsTransaction) {
  Connection db(":memory:");
  EXPECT_EQ(db.execute("CREATE TABLE t (a)").rows_changed(), 0);
  EXPECT_EQ(db.execute("INSERT INTO t VALUES (1), (2)").rows_changed(), 2);
  EXPECT_FALSE(db.in_transaction());
  db.execute("BEGIN");
  EXPECT_TRUE(db.in_transaction());
  EXPECT_EQ(db.execute("DELETE FROM t").rows_changed(), 2);
  db.execute("ROLLBACK");
  EXPECT_FALSE(db.in_transaction());
}

TEST(ApiConnection, ValuesAreGotAsTypesThatHoldThem) {
  Connection db(":memory:");
  auto result = db.execute("SELECT 300 AS n, 1.5 AS x, 'text' AS t, NULL AS absent, -1 AS minus");
  ASSERT_TRUE(result.next());
  const auto row = result.row();
  EXPECT_EQ(row.size(), 5U);
  EXPECT_EQ(row.get<int>(0), 300);
  EXPECT_EQ(row.get<unsigned short>(0), 300);
  EXPECT_EQ(row.get<double>(0), 300.0);
  EXPECT_EQ(row.get<std::complex<double>>(0), std::complex<double>(300));
  EXPECT_EQ(row.get<float>(1), 1.5F);
  EXPECT_EQ(row.get<std::string>(2), "text");
  EXPECT_EQ(row.get<std::string_view>(2), "text");
  EXPECT_TRUE(row.is_null(3));
  EXPECT_EQ(row.get<std::optional<int>>(3), std::nullopt);
  EXPECT_EQ(row.get<std::optional<int>>(0), 300);
  EXPECT_EXCEPTION(row.get<std::int8_t>(0), Value, "column n holds 300");
  EXPECT_EXCEPTION(row.get<unsigned>(4), Value, "column minus holds -1");
  EXPECT_EXCEPTION(row.get<int>(1), Type, "column x holds a real number, not an integer");
  EXPECT_EXCEPTION(row.get<double>(2), Type, "column t holds text, not a real number");
  EXPECT_EXCEPTION(row.get<std::string>(0), Type, "column n holds an integer, not text");
  EXPECT_EXCEPTION(row.get<int>(3), Type, "column absent holds NULL");
  EXPECT_EXCEPTION(row.get<int>(5), Value, "no column 5");

  auto complex = db.execute("EINSUM Z[i 1] = COMPLEX(1, -2)");
  ASSERT_TRUE(complex.next());
  EXPECT_EQ(complex.row().get<std::complex<float>>(1), std::complex<float>(1, -2));
  EXPECT_EXCEPTION(complex.row().get<double>(1), Type, "a complex number, not a real number");
}

TEST(ApiConnection, ErrorsHaveCodePlaceHintAndTheWholeText) {
  Connection db(":memory:");
  db.execute("CREATE TENSOR Weights AS EINSUM W[i 2] = i");
  const auto error = exception_of([&] { db.execute("EINSUM\n  Z[i] = Weihgts[i]"); });
  EXPECT_EQ(error.code(), ErrorCode::UnknownName);
  EXPECT_EQ(error.line(), 2U);
  EXPECT_EQ(error.column(), 10U);
  EXPECT_EQ(error.message(), "there is no tensor Weihgts");
  EXPECT_EQ(error.hint(), "did you mean Weights?");
  EXPECT_STREQ(error.what(),
               "unknown name: there is no tensor Weihgts\n  at line 2, column 10:\n      Z[i] = Weihgts[i]\n"
               "             ^^^^^^^\n  hint: did you mean Weights?");
  eindb::Exception copy("another", {});
  copy = error;
  EXPECT_EQ(copy.message(), error.message());

  const auto no_place = exception_of([&] { Connection("/nonexistent/directory/a.db"); });
  EXPECT_EQ(no_place.line(), 0U);
  EXPECT_EXCEPTION(db.execute("SELECT * FROM absent"), Sql, "no such table: absent");
  EXPECT_EXCEPTION(db.execute("EINSUM Z[i] = "), Syntax, "");
}

TEST(ApiConnection, ScriptsStopAtTheFirstErrorAndSayWhereItIs) {
  Connection db(":memory:");
  auto last = db.execute_script("CREATE TENSOR A AS EINSUM A[i 3] = i; -- three\nEINSUM B[i] = A[i] * A[i];\n");
  EXPECT_EQ(last.tensor().values<double>()[2], 4);
  const auto error = exception_of([&] {
    db.execute_script(
        "CREATE TENSOR C AS EINSUM C[i 3] = i;\nEINSUM D[i] = E[i];\nCREATE TENSOR F AS EINSUM F[i 3] = i");
  });
  EXPECT_EQ(error.line(), 2U);
  EXPECT_EQ(error.column(), 15U);
  EXPECT_NE(std::string(error.what()).find("EINSUM D[i] = E[i];\n"), std::string::npos) << error.what();
  EXPECT_EQ(db.tensor_names(), (std::vector<std::string>{"A", "C"}));
  EXPECT_FALSE(db.execute_script(" -- nothing").next());
}

TEST(ApiConnection, ResultsKeepTheDatabaseOpen) {
  auto db = std::make_unique<Connection>(":memory:");
  db->execute("CREATE TENSOR A AS EINSUM A[i 3] = i");
  auto rows = db->execute("SELECT val FROM A");
  auto statement = db->prepare("EINSUM Z[i] = A[i] + 1");
  const auto tensor = db->execute("EINSUM Z[i] = A[i]").tensor();
  db.reset();
  int count = 0;
  while (rows.next()) ++count;
  EXPECT_EQ(count, 3);
  EXPECT_EQ(statement.execute().tensor().values<double>()[2], 3);
  EXPECT_EQ(tensor.values<double>()[2], 2);
}

// The rows that are left of a SELECT are those of the state that it began with.
TEST(ApiConnection, RowsDoNotShowWhatTheConnectionWritesMeanwhile) {
  Connection db(":memory:");
  db.execute("CREATE TENSOR X AS EINSUM X[i 6] = i + 0.0");
  db.execute_script("CREATE TABLE t (a); INSERT INTO t VALUES (0), (1), (2), (3), (4), (5)");
  for (const std::string change :
       {"UPDATE TENSOR X[i] = X[i] + 100.0", "INSERT INTO TENSOR X AT (i) EINSUM Y[i 2] = 1.0", "UPDATE t SET a = -1",
        "DELETE FROM t", "DROP TABLE t", "DROP TENSOR X"}) {
    db.execute("BEGIN");
    auto cells = db.execute("SELECT val FROM X");
    auto rows = db.execute("SELECT a FROM t");
    ASSERT_TRUE(cells.next() && rows.next());
    db.execute(change);
    for (int n = 1; n < 6; ++n) {
      ASSERT_TRUE(cells.next() && rows.next()) << change;
      EXPECT_EQ(cells.row().get<double>(0), n) << change;
      EXPECT_EQ(rows.row().get<int>(0), n) << change;
    }
    EXPECT_FALSE(cells.next()) << change;
    EXPECT_FALSE(rows.next()) << change;
    db.execute("ROLLBACK");
  }
}

TEST(ApiConnection, RowsOutliveTheirTransaction) {
  Connection db(":memory:");
  db.execute("BEGIN");
  db.execute_script("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)");
  auto rows = db.execute("SELECT a FROM t");
  ASSERT_TRUE(rows.next());
  db.execute("ROLLBACK");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row().get<int>(0), 2);
  EXPECT_EXCEPTION(db.execute("SELECT a FROM t"), Sql, "no such table");
}

// A rollback always happens. It leaves rows alone where there is nothing to undo.
TEST(ApiConnection, RowsThatARollbackTakesAwayAreGivenUp) {
  Connection db(":memory:");
  db.execute("SET memory_limit = '4MiB'");
  db.execute("CREATE TABLE t (a)");
  const std::string endless = "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r";
  db.execute("BEGIN");
  auto untouched = db.execute(endless);
  ASSERT_TRUE(untouched.next());
  db.execute("SAVEPOINT s");
  db.execute("ROLLBACK TO s");
  ASSERT_TRUE(untouched.next());
  EXPECT_EQ(untouched.row().get<int>(0), 1);
  EXPECT_EXCEPTION(db.execute("INSERT INTO t VALUES (1)"), MemoryLimit, "not read yet");
  untouched = db.execute("SELECT 1");  // the rows are gone
  db.execute("INSERT INTO t VALUES (1)");
  auto rows = db.execute(endless);
  ASSERT_TRUE(rows.next());
  db.execute("ROLLBACK TO s");
  EXPECT_EXCEPTION(while (rows.next()){}, MemoryLimit, "not read yet");
  EXPECT_FALSE(rows.next());
  db.execute("ROLLBACK");
}

// An error of a row is for whoever reads it, not for the statement that has the row read before.
TEST(ApiConnection, ErrorsOfRowsThatAreKeptComeInTheirPlace) {
  Connection db(":memory:");
  db.execute_script("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3), (-9223372036854775808)");
  auto rows = db.execute("SELECT abs(a) FROM t");
  ASSERT_TRUE(rows.next());
  db.execute("DELETE FROM t");
  ASSERT_TRUE(rows.next());
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row().get<int>(0), 3);
  EXPECT_EXCEPTION(rows.next(), Sql, "overflow");
  EXPECT_FALSE(rows.next());
}

TEST(ApiConnection, RowsThatAreTooManyToBeKeptRefuseTheChange) {
  Connection db(":memory:");
  db.execute("SET memory_limit = '4MiB'");
  db.execute("CREATE TABLE t (a)");
  const std::string many =
      "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 99999) SELECT n FROM r";
  auto rows = db.execute(many);
  ASSERT_TRUE(rows.next());
  EXPECT_EXCEPTION(db.execute("INSERT INTO t VALUES (1)"), MemoryLimit, "not read yet");
  std::int64_t expected = 1;
  for (; rows.next(); ++expected) ASSERT_EQ(rows.row().get<std::int64_t>(0), expected);
  EXPECT_EQ(expected, 100'000);
  EXPECT_EQ(db.execute("INSERT INTO t VALUES (1)").rows_changed(), 1);
}

TEST(ApiConnection, BlobsAreBytes) {
  Connection db(":memory:");
  const std::vector<std::byte> bytes{std::byte{0}, std::byte{255}, std::byte{'a'}, std::byte{0}};
  db.execute("CREATE TABLE t (n, b)");
  auto insert = db.prepare("INSERT INTO t VALUES ($1, $2)");
  insert.bind(1, 1).bind(2, std::span(bytes)).execute();
  insert.bind(1, 2).bind(2, "text").execute();
  auto rows = db.execute("SELECT n, b, typeof(b) FROM t ORDER BY n");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row().get<std::vector<std::byte>>(1), bytes);
  EXPECT_EQ(rows.row().get<std::optional<std::span<const std::byte>>>(1)->size(), 4U);
  EXPECT_EQ(rows.row().get<std::string>(2), "blob");
  EXPECT_EXCEPTION(rows.row().get<std::string>(1), Type, "holds bytes, not text");
  EXPECT_EXCEPTION(rows.row().get<std::complex<double>>(1), Type, "holds bytes, not a number");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.row().get<std::string>(1), "text");
  EXPECT_EXCEPTION(rows.row().get<std::vector<std::byte>>(1), Type, "holds text, not bytes");
  auto einsum = db.prepare("EINSUM Z[] = $1 + 0.0");
  EXPECT_EXCEPTION(einsum.bind(1, std::span(bytes)).execute(), Value, "$1");
}

TEST(ApiConnection, WhatIsOpenedToReadIsNotWritten) {
  const ScratchFile file;
  Connection(file.path()).execute("CREATE TENSOR A AS EINSUM A[i 3] = i");
  Connection db(file.path(), {.read_only = true});
  EXPECT_EQ(db.execute("EINSUM Z[i] = A[i]").tensor().element_count(), 3);
  EXPECT_EXCEPTION(db.execute("DROP TENSOR A"), ReadOnly, "");
}

TEST(ApiConnection, AnotherThreadCancelsAndTheConnectionGoesOn) {
  Connection db(":memory:");
  std::atomic<bool> running{true};
  std::thread impatient([&] {
    while (running) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      db.cancel();
    }
  });
  EXPECT_EXCEPTION(
      db.execute("WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT MAX(k) FROM n").next(),
      Cancelled, "");
  running = false;
  impatient.join();
  EXPECT_EQ(db.execute("EINSUM Z[i 2] = i").tensor().element_count(), 2);
}

TEST(ApiConnection, ProgressIsToldUntilNobodyWantsIt) {
  Connection db(":memory:");
  int calls = 0;
  db.on_progress([&](const eindb::ProgressInfo& progress) {
    ++calls;
    EXPECT_FALSE(progress.stage.empty());
    EXPECT_LE(progress.done, progress.total);
  });
  db.execute("SET progress = on");
  db.execute("EINSUM Z[i 20] = i + 1");
  EXPECT_GT(calls, 0);
  calls = 0;
  db.on_progress({});
  db.execute("EINSUM Z[i 20] = i + 1");
  EXPECT_EQ(calls, 0);
}

TEST(ApiConnection, ConnectionsToOneFileWorkSideBySide) {
  const ScratchFile file;
  Connection(file.path()).execute("CREATE TENSOR A PARTITION (4, 4) AS EINSUM A[i 64, j 64] = i + j");
  const auto work = [&](int id) {
    Connection db(file.path());
    std::vector<double> own(64, id);
    db.attach("own", eindb::TensorView::of(own.data(), {64}));
    auto product = db.prepare("EINSUM Z[i] = SUM(A[i,j] * own[j] * $1)");
    for (int n = 0; n < 20; ++n) {
      const auto result = product.bind(1, n).execute().tensor();
      ASSERT_EQ(result.values<double>()[1], (64.0 * 1 + 2016) * id * n);
      if (n % 10 == 0) {
        const auto name = "T" + std::to_string(id) + "_" + std::to_string(n);
        for (;;) try {
            db.execute("CREATE TENSOR " + name + " AS EINSUM T[j] = own[j]");
            break;
          } catch (const eindb::Exception& error) {
            ASSERT_EQ(error.code(), ErrorCode::Busy) << error.what();
          }
      }
    }
  };
  std::vector<std::thread> threads;
  for (int id = 1; id <= 3; ++id) threads.emplace_back(work, id);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(Connection(file.path()).tensor_names().size(), 7U);
}

}  // namespace
}  // namespace eindb_test
