// The files below SQLite: a log whose restart is delayed by short readers, and a disk that cannot be read.

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "storage/tiles/database_file.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

/// Two connections that read in turn: each ends after the other has begun, so that one always reads.
class OverlappingReaders {
 public:
  explicit OverlappingReaders(const std::string& path) {
    for (int n = 0; n < 2; ++n) threads_[n] = std::thread([this, n, path] { read(n, path); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return began_ >= 0; });
  }
  ~OverlappingReaders() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  OverlappingReaders(const OverlappingReaders&) = delete;
  OverlappingReaders& operator=(const OverlappingReaders&) = delete;

  /// Returns when the other connection reads.
  void take_turns() {
    std::unique_lock lock(mutex_);
    turn_ = 1 - began_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return began_ == turn_; });
  }

 private:
  void read(int number, const std::string& path) {
    SqliteConnection connection(path, SqliteConnection::Access::ReadOnly);
    connection.set_busy_timeout(std::chrono::seconds(60));
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return ends_ || (turn_ == number && began_ != number); });
      if (ends_) return;
      connection.execute("BEGIN");
      connection.query_integer("SELECT COUNT(*) FROM t");
      began_ = number;
      changed_.notify_all();
      // Short reads, which continue while the writer waits for them.
      const auto other_began = [&] { return ends_ || began_ != number; };
      if (!changed_.wait_for(lock, std::chrono::milliseconds(10), other_began)) turn_ = 1 - number;
      changed_.notify_all();
      changed_.wait(lock, other_began);
      connection.execute("COMMIT");
    }
  }

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  int turn_ = 0;    // the reader whose turn it is
  int began_ = -1;  // the reader that began last
  bool ends_ = false;
  std::array<std::thread, 2> threads_;
};

class SqliteFiles : public ::testing::Test {
 protected:
  ScratchDirectory scratch;
  std::string path = scratch.file("a.db");
};

TEST_F(SqliteFiles, TheLogBeginsAnewThoughReadersOverlap) {
  constexpr std::int64_t kPage = 512;
  constexpr std::int64_t kCommits = 8000;
  SqliteConnection writer(path, SqliteConnection::Access::Create);
  writer.execute("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  writer.execute("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (0)");
  writer.set_busy_timeout(std::chrono::seconds(60));
  std::uintmax_t longest = 0;
  {
    OverlappingReaders readers(path);
    for (std::int64_t n = 0; n < kCommits; ++n) {
      writer.execute_kept("UPDATE t SET a = a + 1");
      readers.take_turns();
      longest = std::max(longest, fs::file_size(path + "-wal"));
    }
  }
  // Each commit adds a page to the log, some of which it keeps.
  EXPECT_LT(longest, std::uintmax_t{kCommits / 2 * (kPage + 24)});
  EXPECT_EQ(writer.query_integer("SELECT a FROM t"), kCommits);
  EXPECT_EQ(writer.query_text("PRAGMA integrity_check"), "ok");
}

TEST_F(SqliteFiles, AReaderOfAnOldStateKeepsItAndHoldsNobodyUp) {
  constexpr std::int64_t kCommits = 5000;
  SqliteConnection writer(path, SqliteConnection::Access::Create);
  writer.execute("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  writer.execute("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (0)");
  SqliteConnection reader(path, SqliteConnection::Access::ReadOnly);
  reader.execute("BEGIN");
  EXPECT_EQ(reader.query_integer("SELECT a FROM t"), 0);
  for (std::int64_t n = 0; n < kCommits; ++n) writer.execute_kept("UPDATE t SET a = a + 1");
  EXPECT_EQ(reader.query_integer("SELECT a FROM t"), 0);
  reader.execute("COMMIT");
  writer.execute_kept("UPDATE t SET a = a + 1");
  EXPECT_EQ(fs::file_size(path + "-wal"), 0U);
  EXPECT_EQ(reader.query_integer("SELECT a FROM t"), kCommits + 1);
}

/// While it exists, SQLite's reads of files fail like those of a broken disk.
class BrokenDisk {
 public:
  BrokenDisk() {
    set("read", reinterpret_cast<sqlite3_syscall_ptr>(&fail));
    for (const char* call : {"pread", "pread64"}) set(call, reinterpret_cast<sqlite3_syscall_ptr>(&fail_at));
  }
  ~BrokenDisk() {
    for (const char* call : {"read", "pread", "pread64"}) set(call, nullptr);  // restores the originals
  }
  BrokenDisk(const BrokenDisk&) = delete;
  BrokenDisk& operator=(const BrokenDisk&) = delete;

 private:
  static ssize_t fail(int /*file*/, void* /*target*/, std::size_t /*size*/) {
    errno = EIO;
    return -1;
  }
  static ssize_t fail_at(int file, void* target, std::size_t size, off_t offset) {
    constexpr off_t kBehindAll = off_t{1} << 40;  // the system answers reads there without the disk
    return offset < kBehindAll ? fail(file, target, size) : 0;
  }
  static void set(const char* call, sqlite3_syscall_ptr function) {
    auto* files = sqlite3_vfs_find("unix");
    files->xSetSystemCall(files, call, function);
  }
};

TEST_F(SqliteFiles, ADiskThatCannotBeReadIsNoDamage) {
  {
    DatabaseFile database(path);
    database.connection().execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)");
    for (int n = 0; n < 20; ++n) database.connection().execute("INSERT INTO t (b) VALUES (randomblob(100000))");
  }
  DatabaseFile database(path);
  database.limit_memory(1, 1, 1);  // disables mapping, so that pages are read by system calls
  auto& connection = database.connection();
  EXPECT_EQ(connection.query_integer("SELECT COUNT(*) FROM sqlite_schema"), 1);
  {
    const BrokenDisk broken;
    EXPECT_ERROR(connection.query_integer("SELECT SUM(LENGTH(HEX(b))) FROM t"), ErrorKind::Io,
                 "cannot be read (Input/output error)");
  }
  EXPECT_EQ(connection.query_integer("SELECT SUM(LENGTH(HEX(b))) FROM t"), 20 * 200000);
}

TEST_F(SqliteFiles, DamageAfterABrokenDiskIsDamage) {
  {
    DatabaseFile database(path);
    database.connection().execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)");
    for (int n = 0; n < 20; ++n) database.connection().execute("INSERT INTO t (b) VALUES (randomblob(100000))");
  }
  DatabaseFile database(path);
  database.limit_memory(1, 1, 1);
  auto& connection = database.connection();
  const char* const all = "SELECT SUM(LENGTH(HEX(b))) FROM t";
  {
    const BrokenDisk broken;
    EXPECT_ERROR(connection.query_integer(all), ErrorKind::Io, "cannot be read");
  }
  // Uses SQLite to find the root page of the table, since no other code may open the file.
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection.handle(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  const std::string zeros(65536, '\0');
  for (int page = 1; page < 10; ++page)
    ASSERT_EQ(file->pMethods->xWrite(file, zeros.data(), static_cast<int>(zeros.size()), page * 65536), SQLITE_OK);
  EXPECT_ERROR(connection.query_integer(all), ErrorKind::Corrupt, "");
}

}  // namespace
}  // namespace eindb
