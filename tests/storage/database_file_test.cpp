// Opening databases: files that are created, accepted or refused, and the errors.

#include "storage/tiles/database_file.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "storage/sqlite/schema_version.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

class DatabaseFileTest : public ::testing::Test {
 protected:
  ScratchDirectory scratch;
  std::string path = scratch.file("my.db");
};

TEST_F(DatabaseFileTest, ANewFileIsSetUpForTiles) {
  DatabaseFile database(path);
  auto& db = database.connection();
  EXPECT_EQ(db.query_integer("PRAGMA page_size"), 65536);
  EXPECT_EQ(db.query_text("PRAGMA journal_mode"), "wal");
  EXPECT_EQ(db.query_integer("PRAGMA synchronous"), 2);
  EXPECT_EQ(db.query_integer("PRAGMA foreign_keys"), 0);
  EXPECT_EQ(db.query_integer("PRAGMA application_id"), 0x45494E44);
  EXPECT_EQ(db.query_integer("PRAGMA user_version"), kSchemaVersion);
  EXPECT_GE(db.query_integer("PRAGMA mmap_size"), std::int64_t{1} << 30);
  EXPECT_TRUE(database.has_parallel_readers());
}

TEST_F(DatabaseFileTest, AFileThatGivesItsFreePagesBackIsSetUpLikewise) {
  DatabaseFile database(path, DatabaseFile::Access::ReadWrite, DatabaseFile::FreePages::GivenBack);
  auto& db = database.connection();
  EXPECT_EQ(db.query_integer("PRAGMA page_size"), 65536);
  EXPECT_EQ(db.query_integer("PRAGMA auto_vacuum"), 2);
  EXPECT_EQ(db.query_text("PRAGMA journal_mode"), "wal");
}

TEST_F(DatabaseFileTest, ItIsOnePlainFileAfterClosing) {
  { DatabaseFile(path).connection().execute("CREATE TABLE t(a); INSERT INTO t VALUES (7)"); }
  EXPECT_EQ(scratch.file_count(), 1U);
  EXPECT_EQ(DatabaseFile(path).connection().query_integer("SELECT a FROM t"), 7);
}

TEST_F(DatabaseFileTest, InMemoryLeavesNoFileAndIsPrivate) {
  DatabaseFile one(":memory:");
  DatabaseFile two(":memory:");
  one.connection().execute("CREATE TABLE t(a)");
  EXPECT_FALSE(two.connection().has_table("t", {"a"}));
  EXPECT_FALSE(fs::exists(":memory:"));
  EXPECT_FALSE(one.has_parallel_readers());
}

TEST_F(DatabaseFileTest, ADatabaseOfSomebodyElseIsLeftAsItIs) {
  {
    SqliteConnection other(path, SqliteConnection::Access::Create);
    other.execute("PRAGMA user_version = 99; CREATE TABLE t(a); INSERT INTO t VALUES (7)");
  }
  DatabaseFile database(path);
  EXPECT_EQ(database.connection().query_integer("SELECT a FROM t"), 7);
  EXPECT_EQ(database.connection().query_integer("PRAGMA user_version"), 99);
  EXPECT_EQ(database.connection().query_integer("PRAGMA application_id"), 0);
  EXPECT_FALSE(database.has_parallel_readers());  // it has no write-ahead log
}

TEST_F(DatabaseFileTest, AnEmptyFileBecomesADatabase) {
  write_file(path, "");
  EXPECT_EQ(DatabaseFile(path).connection().query_integer("PRAGMA page_size"), 65536);
}

TEST_F(DatabaseFileTest, AFileThatIsNoDatabaseIsRefusedAndKept) {
  write_file(path, "i,j\n1,2\n");
  EXPECT_ERROR(DatabaseFile{path}, ErrorKind::Corrupt, path + ": the file is not a database");
  EXPECT_EQ(read_file(path), "i,j\n1,2\n");
}

/// The header of a rollback journal which states that the file had no page before.
std::string journal_of_a_first_page() {
  std::string journal("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  journal += std::string(
      "\0\0\0\0"
      "\x12\x34\x56\x78"
      "\0\0\0\0"
      "\0\0\2\0"
      "\0\1\0\0",
      20);
  journal.resize(512, '\0');
  return journal;
}

TEST_F(DatabaseFileTest, AMachineThatWentDownWhileTheFirstPageWasWrittenLeavesANewDatabase) {
  for (const auto& page : {std::string(65536, '\xAB'), std::string(65536, '\0'), std::string("SQLite for")}) {
    write_file(path, page);
    write_file(path + "-journal", journal_of_a_first_page());
    EXPECT_ERROR(DatabaseFile(path, DatabaseFile::Access::ReadOnly), ErrorKind::ReadOnly, "has to be undone first");
    EXPECT_EQ(read_file(path), page);
    DatabaseFile database(path);
    EXPECT_EQ(database.connection().query_integer("PRAGMA page_size"), 65536);
    EXPECT_EQ(database.connection().query_integer("PRAGMA application_id"), 0x45494E44);
    EXPECT_TRUE(database.has_parallel_readers());
  }
}

TEST_F(DatabaseFileTest, AMachineThatWentDownWhileItWasSetUpLeavesANewDatabase) {
  for (const char* step : {"PRAGMA auto_vacuum = INCREMENTAL", "PRAGMA journal_mode = WAL"}) {
    { SqliteConnection(path, SqliteConnection::Access::Create).execute(step); }
    {
      DatabaseFile database(path);
      EXPECT_EQ(database.connection().query_text("PRAGMA journal_mode"), "wal") << step;
      EXPECT_EQ(database.connection().query_integer("PRAGMA application_id"), 0x45494E44) << step;
    }
    EXPECT_EQ(scratch.file_count(), 1U) << step;
    fs::remove(path);
  }
}

TEST_F(DatabaseFileTest, ADamagedDatabaseIsRefused) {
  { DatabaseFile{path}; }
  auto bytes = read_file(path);
  write_file(path, bytes.substr(0, 16) + std::string(84, '\xFF') + bytes.substr(100));
  EXPECT_ERROR(DatabaseFile{path}, ErrorKind::Corrupt, path);
  write_file(path, bytes.substr(0, 40));
  EXPECT_ERROR(DatabaseFile{path}, ErrorKind::Corrupt, path);
}

TEST_F(DatabaseFileTest, ALaterSchemaVersionIsRefused) {
  { DatabaseFile(path).connection().execute("PRAGMA user_version = 1000"); }
  EXPECT_ERROR(DatabaseFile{path}, ErrorKind::Unsupported, "schema version 1000");
  const auto foreign = scratch.file("foreign.db");
  {
    SqliteConnection other(foreign, SqliteConnection::Access::Create);
    other.execute("CREATE TABLE eindb_settings(name, value); INSERT INTO eindb_settings VALUES ('schema_version', 3)");
  }
  EXPECT_ERROR(DatabaseFile{foreign}, ErrorKind::Unsupported, "schema version 3");
}

TEST_F(DatabaseFileTest, PathsThatCannotBeAreExplained) {
  EXPECT_ERROR(DatabaseFile{scratch.file("no/such/my.db")}, ErrorKind::Io, "no/such does not exist");
  EXPECT_ERROR(DatabaseFile{scratch.file("")}, ErrorKind::Io, "it is a directory");
  write_file(scratch.file("plain"), "x");
  EXPECT_ERROR(DatabaseFile{scratch.file("plain/my.db")}, ErrorKind::Io, "plain is not a directory");
  EXPECT_ERROR(DatabaseFile{"/dev/null"}, ErrorKind::Io, "not a regular file");
  EXPECT_ERROR(DatabaseFile{""}, ErrorKind::Io, "empty");
  EXPECT_ERROR(DatabaseFile{"/proc/eindb.db"}, ErrorKind::Io, "cannot open /proc/eindb.db");
}

TEST_F(DatabaseFileTest, ReadOnlyCreatesNothing) {
  EXPECT_ERROR(DatabaseFile(path, DatabaseFile::Access::ReadOnly), ErrorKind::Io, "does not exist");
  EXPECT_EQ(scratch.file_count(), 0U);
}

TEST_F(DatabaseFileTest, ReadOnlyRefusesToWrite) {
  { DatabaseFile(path).connection().execute("CREATE TABLE t(a)"); }
  const auto before = read_file(path);
  {
    DatabaseFile database(path, DatabaseFile::Access::ReadOnly);
    EXPECT_EQ(database.connection().query_integer("SELECT COUNT(*) FROM t"), 0);
    EXPECT_ERROR(database.connection().execute("INSERT INTO t VALUES (1)"), ErrorKind::ReadOnly, path);
  }
  EXPECT_EQ(read_file(path), before);
  DatabaseFile memory(":memory:", DatabaseFile::Access::ReadOnly);
  EXPECT_ERROR(memory.connection().execute("CREATE TABLE t(a)"), ErrorKind::ReadOnly, "");
}

TEST_F(DatabaseFileTest, ReadOnlyRefusesWhatAnyoneWouldRefuse) {
  write_file(path, "nonsense that is longer than a magic");
  EXPECT_ERROR(DatabaseFile(path, DatabaseFile::Access::ReadOnly), ErrorKind::Corrupt, "not a database");
}

TEST_F(DatabaseFileTest, ReadersAreReused) {
  DatabaseFile database(path);
  auto reader = database.borrow_reader();
  const auto* first = reader.get();
  EXPECT_ERROR(reader->execute("CREATE TABLE t(a)"), ErrorKind::ReadOnly, path);
  database.give_back(std::move(reader));
  EXPECT_EQ(database.borrow_reader().get(), first);
}

// SQLite does not wait for a lock that it needs to set up the write-ahead log.
TEST(NewDatabaseFile, SeveralThatMakeItAtOnceAllHaveIt) {
  constexpr int kThreads = 4;
  for (int round = 0; round < 30; ++round) {
    const ScratchDirectory directory;
    const auto path = directory.file("new.db");
    std::barrier begin(kThreads);
    std::vector<std::thread> threads;
    for (int n = 0; n < kThreads; ++n) {
      threads.emplace_back([&, n] {
        begin.arrive_and_wait();
        try {
          DatabaseFile file(path);
          file.connection().execute("CREATE TABLE t" + std::to_string(n) + " (a)");
        } catch (const Error& error) {
          ADD_FAILURE() << "round " << round << ": " << error.message();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(DatabaseFile(path).connection().query_integer("SELECT COUNT(*) FROM sqlite_schema"), kThreads);
  }
}

}  // namespace
}  // namespace eindb
