// Databases that are attached: other sessions change their files between and during statements, and files are damaged,
// which scripts cannot do.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/open_databases.hpp"
#include "engine/session.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

class AttachedDatabasesTest : public ::testing::TestWithParam<bool> {
 protected:
  AttachedDatabasesTest() {
    run(other, "CREATE TENSOR X PARTITION (4) AS EINSUM X[i 8] = 10");
    run("CREATE TENSOR X PARTITION (4) AS EINSUM X[i 8] = 1");
    run("ATTACH '" + other_path + "' AS other");
  }

  static double number(Result result) {
    Row row;
    EXPECT_TRUE(result.rows != nullptr && result.rows->next(row));
    const auto& cell = row.back();
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
    return std::get<double>(cell);
  }
  static void run(Session& session, const std::string& sql) {
    auto result = session.execute(sql);
    Row row;
    while (result.rows != nullptr && result.rows->next(row)) continue;
  }
  void run(const std::string& sql) { run(db, sql); }
  double value(const std::string& sql) { return number(db.execute(sql)); }
  Error refused(const std::string& sql) {
    try {
      run(sql);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error: " << sql;
    return {ErrorKind::Internal, ""};
  }
  /// Runs SQL on the other file that only eindb itself may run.
  void damage(const std::string& sql) {
    SqliteConnection connection(other_path, SqliteConnection::Access::ReadWrite);
    connection.set_busy_timeout(std::chrono::seconds(5));
    connection.execute(sql);
  }

  ScratchDirectory scratch;
  std::string other_path = scratch.file("other.db");
  Session other{other_path};
  Session db{GetParam() ? scratch.file("a.db") : ":memory:"};
};

INSTANTIATE_TEST_SUITE_P(FileOrMemory, AttachedDatabasesTest, ::testing::Bool());

TEST_P(AttachedDatabasesTest, NoCacheAnswersFromAnotherTensorOrAnOlderState) {
  for (int n = 0; n < 20; ++n) {
    EXPECT_EQ(value("EINSUM s = SUM(X[i])"), 8.0 * (n + 1));
    EXPECT_EQ(value("EINSUM s = SUM(other.X[i])"), 80.0 * (n + 1));
    EXPECT_EQ(value("EINSUM s = SUM(other.X[i] + X[i])"), 88.0 * (n + 1));
    EXPECT_EQ(value("SELECT SUM(val) FROM other.X"), 80.0 * (n + 1));
    EXPECT_EQ(value("SELECT SUM(a.val + b.val) FROM X a JOIN other.X b USING (i)"), 88.0 * (n + 1));
    EXPECT_EQ(value("SELECT SUM(val) FROM (EINSUM Z[i] = other.X[i])"), 80.0 * (n + 1));
    run(other, "UPDATE TENSOR X[i] = " + std::to_string(10 * (n + 2)));
    run("UPDATE TENSOR X[i] = " + std::to_string(n + 2));
  }
}

TEST_P(AttachedDatabasesTest, ATransactionSeesOneState) {
  run("BEGIN");
  EXPECT_EQ(value("EINSUM s = SUM(other.X[i])"), 80);
  run(other, "UPDATE TENSOR X[i] = 20");
  EXPECT_EQ(value("EINSUM s = SUM(other.X[i])"), 80);
  EXPECT_EQ(value("SELECT SUM(val) FROM other.X"), 80);
  run("UPDATE TENSOR X[i] = other.X[i]");
  run(other, "CREATE OR REPLACE TENSOR X AS EINSUM X[i 3, j 2] = 1");
  EXPECT_EQ(value("EINSUM s = SUM(other.X[i])"), 80);
  EXPECT_EQ(value("EINSUM s = SUM(X[i])"), 80);
  run("COMMIT");
  EXPECT_EQ(value("EINSUM s = SUM(other.X[i,j])"), 6);
  EXPECT_EQ(value("EINSUM s = SUM(X[i])"), 80);
}

TEST_P(AttachedDatabasesTest, RowsThatAreReadAreOfOneState) {
  constexpr int kRows = 200'000;
  run(other, "CREATE TENSOR Many PARTITION (200) AS EINSUM Many[i 200000] = 10");
  auto rows = db.execute("SELECT val FROM other.Many");
  Row row;
  ASSERT_TRUE(rows.rows->next(row));
  run(other, "UPDATE TENSOR Many[i] = 20");
  EXPECT_EQ(value("EINSUM s = SUM(Many[i])"), 10 * kRows);  // while they are read, the session sees that state
  for (int n = 1; n < kRows; ++n) {
    ASSERT_TRUE(rows.rows->next(row));
    ASSERT_EQ(std::get<double>(row[0]), 10) << n;
  }
  EXPECT_FALSE(rows.rows->next(row));
  rows = {};
  EXPECT_EQ(value("SELECT SUM(val) FROM other.Many"), 20 * kRows);
  EXPECT_EQ(value("EINSUM s = SUM(Many[i])"), 20 * kRows);
  rows = db.execute("SELECT val FROM other.Many");
  ASSERT_TRUE(rows.rows->next(row));
  run("DETACH other");  // what is left of the rows is kept
  for (int n = 1; n < kRows; ++n) ASSERT_TRUE(rows.rows->next(row)) << n;
  EXPECT_EQ(std::get<double>(row[0]), 20);
  EXPECT_FALSE(rows.rows->next(row));
}

TEST_P(AttachedDatabasesTest, StatementsOfTheSessionLockNothingThere) {
  run("BEGIN");
  run("UPDATE TENSOR X[i] = 3");
  run(other, "BEGIN");
  run(other, "UPDATE TENSOR X[i] = 30");
  run("COMMIT");
  run("CREATE TENSOR Y AS EINSUM Y[i] = X[i] + other.X[i]");
  EXPECT_EQ(value("EINSUM s = SUM(Y[i])"), 8 * 13);
  run(other, "COMMIT");
  run("UPDATE TENSOR Y[i] = X[i] + other.X[i]");
  EXPECT_EQ(value("EINSUM s = SUM(Y[i])"), 8 * 33);
}

TEST_P(AttachedDatabasesTest, DamagedEntriesConcernThatDatabaseAlone) {
  damage(
      "INSERT INTO eindb_tensors (name, dtype) VALUES ('broken', 'FLOAT64'); INSERT INTO eindb_dimensions SELECT "
      "tensor_id, 0, 'i', -4, 1 FROM eindb_tensors WHERE name = 'broken'");
  const auto error = refused("EINSUM Z[i] = other.broken[i]");
  EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
  EXPECT_NE(error.message().find("other.db: the catalog's entry of tensor broken is damaged"), std::string::npos)
      << error.message();
  EXPECT_NE(error.hint().find("DETACH other"), std::string::npos) << error.hint();
  EXPECT_EQ(refused("SELECT * FROM other.broken").kind(), ErrorKind::Corrupt);
  EXPECT_EQ(refused("SHOW TENSORS").kind(), ErrorKind::Corrupt);
  EXPECT_EQ(value("EINSUM s = SUM(X[i]) + SUM(other.X[i])"), 88);
  run("CREATE TENSOR broken AS EINSUM broken[i 3] = 1");
  EXPECT_EQ(value("EINSUM s = SUM(broken[i])"), 3);
  EXPECT_EQ(value("SELECT SUM(val) FROM broken"), 3);
  run("DROP TENSOR broken");
  run("DETACH other");
  run("SHOW TENSORS");
}

TEST_P(AttachedDatabasesTest, ATensorAndATableOfOneNameAreAnError) {
  damage("CREATE TABLE X (a)");
  EXPECT_EQ(refused("SELECT * FROM other.X").kind(), ErrorKind::DuplicateName);
  EXPECT_EQ(value("SELECT SUM(val) FROM X"), 8);
  EXPECT_EQ(value("EINSUM s = SUM(other.X[i])"), 80);
  run("DROP TENSOR X");
  EXPECT_EQ(refused("SELECT * FROM X").kind(), ErrorKind::DuplicateName);
}

TEST_P(AttachedDatabasesTest, TensorsAtWorkersAreRefusedByName) {
  damage(
      "CREATE TABLE eindb_shardings (tensor_id INTEGER PRIMARY KEY, replicas INTEGER NOT NULL); "
      "INSERT INTO eindb_tensors (name, dtype) VALUES ('S', 'FLOAT64'); "
      "INSERT INTO eindb_shardings SELECT tensor_id, 1 FROM eindb_tensors WHERE name = 'S'; "
      "CREATE TABLE eindb_tiles_S (tile_id INTEGER PRIMARY KEY, tile BLOB)");
  for (const char* sql : {"EINSUM s = other.S", "SELECT * FROM other.S", "SELECT * FROM S", "DESCRIBE other.S",
                          "CREATE TENSOR S AS EINSUM S = other.S", "COPY other.S TO 's.npy'"}) {
    const auto error = refused(sql);
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << sql;
    EXPECT_NE(error.message().find("tensor other.S lies at the workers of its own database"), std::string::npos)
        << sql << ": " << error.message();
    EXPECT_NE(error.hint().find("open that database with its workers"), std::string::npos) << error.hint();
  }
  run("SHOW TENSORS");
  EXPECT_EQ(value("EINSUM s = SUM(other.X[i])"), 80);
}

// The workers of the session are those of its own database.
TEST_P(AttachedDatabasesTest, ATileThatRefersToAWorkerIsDamaged) {
  damage("UPDATE eindb_tiles_X SET tile = (SELECT CAST('EINR' AS BLOB) || zeroblob(60)) WHERE tile_id = 1");
  EXPECT_EQ(refused("EINSUM s = SUM(other.X[i])").kind(), ErrorKind::Corrupt);
  EXPECT_EQ(refused("SELECT SUM(val) FROM other.X").kind(), ErrorKind::Corrupt);
}

TEST_P(AttachedDatabasesTest, FilesOfALaterReleaseAreRefused) {
  const auto path = scratch.file("later.db");
  run("COPY (EINSUM Z[i 2] = i) TO '" + scratch.file("z.npy") + "'");
  {
    Session later(path);
    run(later, "CREATE TENSOR X AS EINSUM X[i 2] = i");
  }
  {
    SqliteConnection connection(path, SqliteConnection::Access::ReadWrite);
    connection.execute("UPDATE eindb_settings SET value = 99 WHERE name = 'schema_version'");
  }
  const auto error = refused("ATTACH '" + path + "' AS later");
  EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
  EXPECT_NE(error.message().find("a later eindb made it"), std::string::npos) << error.message();
  EXPECT_FALSE(is_of_open_database(AT_FDCWD, path));
  EXPECT_EQ(refused("EINSUM s = SUM(later.X[i])").kind(), ErrorKind::UnknownName);
}

TEST_P(AttachedDatabasesTest, FilesCountAsOpenAsLongAsTheyAreAttached) {
  const auto path = scratch.file("third.db");
  {
    Session third(path);
    run(third, "CREATE TENSOR X AS EINSUM X[i 2] = 5");
  }
  EXPECT_FALSE(is_of_open_database(AT_FDCWD, path));
  run("ATTACH '" + path + "' AS third");
  EXPECT_TRUE(is_of_open_database(AT_FDCWD, path));
  EXPECT_EQ(refused("COPY X TO '" + path + "' (FORMAT npy)").kind(), ErrorKind::Permission);
  EXPECT_TRUE(db.has_state());
  run("DETACH third");
  EXPECT_FALSE(is_of_open_database(AT_FDCWD, path));
  const auto garbage = scratch.file("garbage");
  write_file(garbage, std::string(5000, 'x'));
  const auto error = refused("ATTACH '" + garbage + "' AS garbage");
  EXPECT_EQ(error.kind(), ErrorKind::Corrupt);
  EXPECT_EQ(error.message(), "cannot attach " + garbage + ": the file is not a database");
  EXPECT_FALSE(is_of_open_database(AT_FDCWD, garbage));
}

TEST_P(AttachedDatabasesTest, AFileOfTheSameNameThatIsAttachedNextIsAnother) {
  const auto path = scratch.file("third.db");
  {
    Session third(path);
    run(third, "CREATE TENSOR X PARTITION (4) AS EINSUM X[i 8] = 7");
  }
  for (int n = 0; n < 5; ++n) {
    EXPECT_EQ(value("EINSUM s = SUM(other.X[i])"), n % 2 == 0 ? 80 : 56);
    EXPECT_EQ(value("SELECT SUM(val) FROM other.X"), n % 2 == 0 ? 80 : 56);
    run("DETACH other");
    run("ATTACH '" + (n % 2 == 0 ? path : other_path) + "' AS other");
  }
}

TEST_P(AttachedDatabasesTest, NoMoreFilesThanSqliteTakes) {
  for (int n = 0; n < 9; ++n) {
    const auto path = scratch.file("more" + std::to_string(n) + ".db");
    {
      Session more(path);
      run(more, "CREATE TENSOR X AS EINSUM X[i 2] = 1");
    }
    run("ATTACH '" + path + "' AS more" + std::to_string(n));
  }
  EXPECT_EQ(value("EINSUM s = SUM(more8.X[i])"), 2);
  EXPECT_EQ(refused("ATTACH '" + scratch.file("more0.db") + "' AS again").kind(), ErrorKind::DuplicateName);
  const auto path = scratch.file("last.db");
  { const Session last(path); }
  const auto error = refused("ATTACH '" + path + "' AS last");
  EXPECT_NE(error.message().find("too many attached databases"), std::string::npos) << error.message();
  EXPECT_EQ(error.hint(), "DETACH one of them first");
}

TEST_P(AttachedDatabasesTest, ManyThreadsReadThem) {
  run(other, "CREATE OR REPLACE TENSOR M PARTITION (8, 8) AS EINSUM M[i 64, j 64] = i + j");
  run("CREATE TENSOR M PARTITION (8, 8) AS EINSUM M[i 64, j 64] = i - j");
  run("SET parallelism = 8");
  run("SET tile_cache_size = 0");
  const auto both = value("EINSUM s = SUM(other.M[i,j] * M[j,k] * other.M[k,l])");
  run("CREATE TENSOR N AS EINSUM N[i,j] = other.M[i,j]");
  EXPECT_EQ(both, value("EINSUM s = SUM(N[i,j] * M[j,k] * N[k,l])"));
}

}  // namespace
}  // namespace eindb
