// The wrapper around SQLite: typed access, errors, transactions, and the limits of a user's SQL.

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class SqliteTest : public ::testing::Test {
 protected:
  /// Compiles and runs one statement as a user.
  void run_user(std::string_view sql) {
    auto user = db.prepare_user(sql);
    if (user.statement) user.statement->run();
  }

  SqliteConnection db{":memory:", SqliteConnection::Access::Create};
};

TEST_F(SqliteTest, ValuesOfEachTypeComeBackAsTheyWere) {
  const std::vector<std::byte> blob{std::byte{0}, std::byte{255}};
  auto select = db.prepare("SELECT ?, ?, ?, ?, ?");
  select.bind(1, std::int64_t{-5}).bind(2, 1.5).bind(3, std::string_view("a\0b", 3)).bind(4, blob).bind_null(5);
  ASSERT_TRUE(select.step());
  EXPECT_EQ(select.integer(0), -5);
  EXPECT_EQ(select.real(1), 1.5);
  EXPECT_EQ(select.text(2), std::string("a\0b", 3));
  EXPECT_TRUE(std::ranges::equal(select.blob(3), blob));
  EXPECT_TRUE(select.is_null(4));
  EXPECT_EQ(std::get<std::vector<std::byte>>(select.value(3)), blob);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(select.value(4)));
  EXPECT_FALSE(select.step());
}

TEST_F(SqliteTest, AValueOfAnotherTypeIsCorrupt) {
  auto select = db.prepare("SELECT 'x' AS extent");
  ASSERT_TRUE(select.step());
  EXPECT_ERROR(select.integer(0), ErrorKind::Corrupt, "column extent");
  EXPECT_ERROR(select.blob(0), ErrorKind::Corrupt, "no blob");
}

TEST_F(SqliteTest, UserStatementsComeOneByOne) {
  const std::string_view sql = "SELECT 1 AS a; SELECT 2;";
  auto first = db.prepare_user(sql);
  ASSERT_TRUE(first.statement.has_value());
  EXPECT_TRUE(first.statement->is_read_only());
  EXPECT_EQ(first.statement->column_name(0), "a");
  EXPECT_EQ(sql.substr(first.tail), " SELECT 2;");
  EXPECT_FALSE(db.prepare_user("  -- nothing\n").statement.has_value());
  db.execute("CREATE TABLE t(x INTEGER)");
  EXPECT_FALSE(db.prepare_user("INSERT INTO t VALUES (1)").statement->is_read_only());
  EXPECT_EQ(db.prepare_user("SELECT x FROM t").statement->declared_type(0), "INTEGER");
}

TEST_F(SqliteTest, ErrorsOfAPersonsSqlHaveAPlace) {
  const auto error = error_of([&] { db.prepare_user("SELECT nix FROM sqlite_schema"); });
  EXPECT_EQ(error.kind(), ErrorKind::Sql);
  EXPECT_EQ(error.span(), (SourceSpan{7, 10}));
}

TEST_F(SqliteTest, SqlOfAPersonCannotWriteEindbTables) {
  db.execute("CREATE TABLE eindb_tensors(a); CREATE TABLE t(a)");
  for (const char* sql :
       {"INSERT INTO eindb_tensors VALUES (1)", "DELETE FROM EINDB_Tensors", "UPDATE \"eindb_tensors\" SET a = 1",
        "DROP TABLE eindb_tensors", "CREATE TABLE eindb_x(a)", "CREATE TEMP TABLE eindb_tensors(a)",
        "CREATE VIEW eindb_v AS SELECT 1", "CREATE INDEX i ON eindb_tensors(a)", "ALTER TABLE eindb_tensors ADD b",
        "ALTER TABLE t RENAME TO Eindb_y", "CREATE TRIGGER x AFTER INSERT ON eindb_tensors BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE eindb_f USING fts5(a)"}) {
    SCOPED_TRACE(sql);
    EXPECT_ERROR(run_user(sql), ErrorKind::ReadOnly, "belong to eindb");
  }
  run_user("SELECT * FROM eindb_tensors");
  run_user("CREATE TABLE mine(eindb_column)");
  db.execute("INSERT INTO eindb_tensors VALUES (1)");
}

TEST_F(SqliteTest, SqlOfAPersonCannotReadSecrets) {
  db.execute(
      "CREATE TABLE eindb_users(name PRIMARY KEY, verifier); INSERT INTO eindb_users VALUES ('ann', 'secret');"
      "CREATE TABLE eindb_secrets(name, secret); CREATE TABLE t(a)");
  for (const char* sql :
       {"SELECT verifier FROM eindb_users", "SELECT * FROM main.EINDB_Users", "SELECT COUNT(*) FROM eindb_users",
        "SELECT rowid FROM \"eindb_users\"", "SELECT secret FROM eindb_secrets", "EXPLAIN SELECT * FROM eindb_users",
        "WITH u AS (SELECT * FROM eindb_users) SELECT 1 FROM u", "SELECT (SELECT verifier FROM eindb_users)",
        "INSERT INTO t SELECT verifier FROM eindb_users", "CREATE TABLE copy AS SELECT * FROM eindb_users",
        "UPDATE t SET a = (SELECT verifier FROM eindb_users)",
        "DELETE FROM t WHERE a IN (SELECT verifier FROM eindb_users)",
        "UPDATE t SET a = u.verifier FROM eindb_users AS u"}) {
    SCOPED_TRACE(sql);
    EXPECT_ERROR(run_user(sql), ErrorKind::Permission, "cannot be read");
  }
  EXPECT_EQ(db.query_text("SELECT verifier FROM eindb_users"), "secret") << "eindb itself can";
}

TEST_F(SqliteTest, NothingOfAPersonReadsSecretsForThem) {
  db.execute("CREATE TABLE eindb_users(name PRIMARY KEY, verifier); INSERT INTO eindb_users VALUES ('ann', 'secret')");
  run_user("CREATE VIEW v AS SELECT verifier FROM eindb_users");
  EXPECT_ERROR(run_user("SELECT * FROM v"), ErrorKind::Permission, "cannot be read");
  run_user("CREATE TABLE t(a)");
  run_user("CREATE TRIGGER r AFTER INSERT ON t BEGIN UPDATE t SET a = (SELECT verifier FROM eindb_users); END");
  EXPECT_ERROR(run_user("INSERT INTO t VALUES (1)"), ErrorKind::Permission, "cannot be read");
  // An extension's table compiles SQL of its own when it is used.
  run_user("CREATE VIRTUAL TABLE f USING fts5(verifier, content='eindb_users')");
  EXPECT_ANY_THROW(run_user("INSERT INTO f(f) VALUES ('rebuild')"));
  EXPECT_ANY_THROW(run_user("SELECT * FROM f"));
  // A foreign key check would reveal the existence of rows.
  run_user("PRAGMA foreign_keys = ON");
  run_user("CREATE TABLE child(name REFERENCES eindb_users(name))");
  EXPECT_ERROR(run_user("INSERT INTO child VALUES ('bob')"), ErrorKind::Permission, "cannot be read");
}

TEST_F(SqliteTest, AStatementThatIsCompiledAgainCannotReadSecrets) {
  const ScratchDirectory scratch;
  SqliteConnection reader(scratch.file("a.db"), SqliteConnection::Access::Create);
  reader.execute("CREATE TABLE eindb_users(verifier); CREATE VIEW v AS SELECT 1 AS verifier");
  auto select = reader.prepare_user("SELECT * FROM v");
  SqliteConnection other(scratch.file("a.db"), SqliteConnection::Access::Create);
  other.execute("DROP VIEW v; CREATE VIEW v AS SELECT verifier FROM eindb_users");
  EXPECT_ERROR(select.statement->step(), ErrorKind::Permission, "cannot be read");
}

TEST_F(SqliteTest, NoTriggerReachesEindbTables) {
  db.execute("CREATE TABLE eindb_tensors(a); CREATE TABLE t(a)");
  // Through a user's table, and through a trigger that came with the file.
  run_user("CREATE TRIGGER mine AFTER INSERT ON t BEGIN DELETE FROM eindb_tensors; END");
  EXPECT_ERROR(run_user("INSERT INTO t VALUES (1)"), ErrorKind::ReadOnly, "belong to eindb");
  db.execute("CREATE TRIGGER hostile AFTER INSERT ON eindb_tensors BEGIN INSERT INTO t VALUES (1); END");
  EXPECT_ERROR(db.execute("INSERT INTO eindb_tensors VALUES (1)"), ErrorKind::ReadOnly, "trigger");
  run_user("DROP TRIGGER hostile");
  db.execute("INSERT INTO eindb_tensors VALUES (1)");
}

TEST_F(SqliteTest, SqlOfAPersonCannotHarmTheFile) {
  for (const char* sql : {"PRAGMA writable_schema = 1", "PRAGMA journal_mode = OFF", "PRAGMA user_version = 9",
                          "PRAGMA query_only = 1", "PRAGMA mmap_size(0)"}) {
    SCOPED_TRACE(sql);
    EXPECT_ERROR(run_user(sql), ErrorKind::Permission, "pragma");
  }
  EXPECT_ERROR(run_user("ATTACH '/tmp/x.db' AS x"), ErrorKind::Permission, "ATTACH");
  EXPECT_ERROR(run_user("SELECT load_extension('x')"), ErrorKind::Permission, "extensions");
  run_user("PRAGMA table_info(sqlite_schema)");
  run_user("PRAGMA journal_mode");
  run_user("PRAGMA foreign_keys = ON");
}

TEST_F(SqliteTest, NobodySeesTheBytesOfTheFile) {
  db.execute("CREATE TABLE eindb_users(name); INSERT INTO eindb_users VALUES ('ann')");
  EXPECT_ANY_THROW(run_user("SELECT data FROM sqlite_dbpage"));
  EXPECT_ANY_THROW(run_user("CREATE VIRTUAL TABLE pages USING sqlite_dbpage"));
}

TEST_F(SqliteTest, SqlOfClientsDoesLess) {
  const ScratchDirectory scratch;
  SqliteConnection file(scratch.file("a.db"), SqliteConnection::Access::Create);
  file.restrict_to_clients();
  const auto run = [&](const std::string& sql) { file.prepare_user(sql).statement->run(); };
  run("CREATE TABLE t(a)");
  for (const auto& sql :
       {"VACUUM INTO '" + scratch.file("copy.db") + "'", std::string("PRAGMA foreign_keys = ON"),
        std::string("PRAGMA wal_checkpoint"), std::string("PRAGMA optimize"), std::string("PRAGMA database_list"),
        std::string("PRAGMA cache_size"), std::string("SELECT * FROM pragma_database_list"),
        std::string("CREATE VIRTUAL TABLE v USING dbstat"), std::string("SELECT fts3_tokenizer('simple')")}) {
    SCOPED_TRACE(sql);
    EXPECT_ERROR(run(sql), ErrorKind::Permission, "");
  }
  EXPECT_EQ(scratch.file_count(), 1U);
  for (const char* sql : {"VACUUM", "PRAGMA table_info(t)", "PRAGMA page_size", "SELECT * FROM pragma_index_list('t')",
                          "CREATE VIRTUAL TABLE v USING fts5(a)", "INSERT INTO v VALUES ('x')"}) {
    SCOPED_TRACE(sql);
    run(sql);
  }
}

TEST_F(SqliteTest, WhoWritesOnAnOldStateIsToBeginAgain) {
  const ScratchDirectory scratch;
  SqliteConnection one(scratch.file("a.db"), SqliteConnection::Access::Create);
  one.execute("PRAGMA journal_mode = WAL; CREATE TABLE t(a); BEGIN");
  one.query_integer("SELECT COUNT(*) FROM t");
  SqliteConnection other(scratch.file("a.db"), SqliteConnection::Access::Create);
  other.execute("INSERT INTO t VALUES (1)");
  EXPECT_FALSE(one.has_written());
  EXPECT_ERROR(one.execute("INSERT INTO t VALUES (2)"), ErrorKind::Conflict, "since this transaction began");
  one.execute("ROLLBACK; BEGIN; INSERT INTO t VALUES (2)");
  EXPECT_TRUE(one.has_written());
}

TEST_F(SqliteTest, VacuumMayCopyEindbTables) {
  const ScratchDirectory scratch;
  SqliteConnection file(scratch.file("a.db"), SqliteConnection::Access::Create);
  file.execute(
      "CREATE TABLE eindb_t(a INTEGER PRIMARY KEY, b); INSERT INTO eindb_t VALUES (7, 'x');"
      "CREATE TABLE eindb_users(a); INSERT INTO eindb_users VALUES (8)");
  file.prepare_user("VACUUM").statement->run();
  auto into = file.prepare_user("VACUUM INTO '" + scratch.file("copy.db") + "'");
  into.statement->run();
  SqliteConnection copy(scratch.file("copy.db"), SqliteConnection::Access::ReadOnly);
  EXPECT_EQ(copy.query_integer("SELECT a FROM eindb_t"), 7);
  EXPECT_EQ(copy.query_integer("SELECT a FROM eindb_users"), 8);
  EXPECT_ERROR(file.prepare_user("SELECT a FROM eindb_users"), ErrorKind::Permission, "cannot be read");
}

TEST_F(SqliteTest, ATransactionWithoutCommitIsUndone) {
  db.execute("CREATE TABLE t(a)");
  try {
    SqliteTransaction outer(db);
    db.execute("INSERT INTO t VALUES (1)");
    throw std::runtime_error("a failure half-way");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM t"), 0);
  EXPECT_FALSE(db.in_transaction());
}

TEST_F(SqliteTest, TransactionsNest) {
  db.execute("CREATE TABLE t(a)");
  SqliteTransaction outer(db);
  EXPECT_TRUE(db.sees_committed_state());
  db.execute("INSERT INTO t VALUES (1)");
  EXPECT_FALSE(db.sees_committed_state());
  {
    SqliteTransaction undone(db);
    db.execute("INSERT INTO t VALUES (2)");
  }
  SqliteTransaction kept(db);
  db.execute("INSERT INTO t VALUES (3)");
  kept.commit();
  outer.commit();
  EXPECT_EQ(db.query_integer("SELECT SUM(a) FROM t"), 4);
  EXPECT_FALSE(db.in_transaction());
}

TEST_F(SqliteTest, TheSchemaVersionChangesAlsoWhenAChangeIsUndone) {
  // Otherwise the next change would get the number of the undone one, and a cache could not tell them apart.
  std::uint64_t during = 0;
  {
    SqliteTransaction undone(db);
    db.execute("CREATE TABLE a(x)");
    during = db.schema_version();
  }
  EXPECT_NE(db.schema_version(), during);
  db.execute("CREATE TABLE b(x)");
  EXPECT_NE(db.schema_version(), during);
}

constexpr const char* kEndless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n";

TEST_F(SqliteTest, ACancelledStatementStops) {
  Cancellation cancellation;
  db.watch(&cancellation);
  cancellation.request();
  EXPECT_ERROR(run_user(kEndless), ErrorKind::Cancelled, "was cancelled");
  cancellation.reset(std::chrono::milliseconds(20));
  EXPECT_ERROR(run_user(kEndless), ErrorKind::Cancelled, "statement_timeout");
  cancellation.reset(std::chrono::milliseconds(0));
  run_user("SELECT 1");
}

TEST_F(SqliteTest, AnotherThreadInterrupts) {
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {  // repeated, as the statement may not have begun
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      db.interrupt();
    }
  });
  EXPECT_ERROR(run_user(kEndless), ErrorKind::Cancelled, "cancelled");
}

TEST_F(SqliteTest, ATransactionIsUndoneAfterAnInterruptWithAnOpenQuery) {
  db.execute("CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)");
  {
    SqliteTransaction transaction(db);
    db.execute("INSERT INTO t VALUES (3)");
    auto open = db.prepare("SELECT a FROM t");
    ASSERT_TRUE(open.step());
    db.interrupt();
    EXPECT_ERROR(open.step(), ErrorKind::Cancelled, "cancelled");
    auto second = db.prepare("SELECT a FROM t");
    ASSERT_TRUE(second.step());
    db.interrupt();  // stays in effect while a query is open
  }
  EXPECT_FALSE(db.in_transaction());
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM t"), 2);
}

TEST_F(SqliteTest, AWriterInTheWayIsBusy) {
  const ScratchDirectory scratch;
  SqliteConnection a(scratch.file("a.db"), SqliteConnection::Access::Create);
  SqliteConnection b(scratch.file("a.db"), SqliteConnection::Access::Create);
  b.set_busy_timeout(std::chrono::milliseconds(10));
  const SqliteTransaction first(a);
  EXPECT_ERROR(SqliteTransaction second(b), ErrorKind::Busy, "locked");
}

TEST_F(SqliteTest, APathIsNoUri) {
  const ScratchDirectory scratch;
  const auto old = std::filesystem::current_path();
  std::filesystem::current_path(scratch.file(""));
  SqliteConnection("file:x.db?mode=memory", SqliteConnection::Access::Create).execute("CREATE TABLE t(a)");
  EXPECT_TRUE(std::filesystem::exists("file:x.db?mode=memory"));
  std::filesystem::current_path(old);
}

TEST(QuoteIdentifier, DoublesQuotes) { EXPECT_EQ(quote_identifier("a\"b"), "\"a\"\"b\""); }

}  // namespace
}  // namespace eindb
