// A copy that follows a database by its log is the database, whatever was sent of it, and refuses what does not follow.
#include "storage/worker_file/standby_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "storage/sqlite/sqlite_connection.hpp"
#include "storage/sqlite/write_ahead_log.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

namespace fs = std::filesystem;

using Access = SqliteConnection::Access;

// A database, and the sending end of a copy of it, which knows nothing of threads and wires.
class StandbyCopyTest : public ::testing::Test {
 protected:
  StandbyCopyTest() : database(scratch.file("d.db"), Access::Create), copy(scratch.file("standby")) {
    database.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (n, text)");
  }

  void insert(int count) {
    for (int n = 0; n < count; ++n)
      database.execute("INSERT INTO t VALUES (" + std::to_string(++rows) + ", hex(randomblob(3000)))");
  }
  std::vector<std::byte> header() { return read_log(database, 0, kLogHeaderBytes); }
  std::vector<std::byte> frames(std::uint32_t from, std::uint32_t to) {
    const auto bytes = LogChain(header()).frame_bytes();
    return read_log(database, static_cast<std::int64_t>(kLogHeaderBytes + from * bytes), (to - from) * bytes);
  }
  void send(std::uint32_t from, std::uint32_t to, StandbyCopy::Of of = StandbyCopy::Of::Copy) {
    copy.append(of, there, header(), frames(from, to));
    LogChain chain(header());
    for (std::uint32_t n = 0; n < to; ++n) EXPECT_TRUE(chain.take(frames(n, n + 1)));
    there = chain.place();
  }
  void copy_whole() {
    copy.begin();
    const auto file = read_database_file(database, 0, std::size_t{1} << 30U);
    const auto half = file.size() / 2;
    copy.add_bytes(0, std::span(file).first(half));
    copy.add_bytes(static_cast<std::int64_t>(half), std::span(file).subspan(half));
    there = {};
    if (const auto end = log_end(database).frames; end > 0) send(0, end, StandbyCopy::Of::NewCopy);
    copy.finish();
  }
  std::int64_t rows_of_copy() {
    const auto path = scratch.file("taken" + std::to_string(++taken) + ".db");
    StandbyCopy::take(scratch.file("standby"), path);
    SqliteConnection made(path, Access::ReadWrite);
    EXPECT_EQ(made.query_text("PRAGMA integrity_check"), "ok");
    const auto newest = made.query_integer("SELECT MAX(n) FROM t");
    EXPECT_EQ(made.query_integer("SELECT COUNT(*) FROM t"), newest);
    return newest;
  }

  ScratchDirectory scratch;
  SqliteConnection database;
  StandbyCopy copy;
  LogPlace there;
  int rows = 0;
  int taken = 0;
};

TEST_F(StandbyCopyTest, FollowsTheLog) {
  EXPECT_EQ(copy.place(), std::nullopt);
  insert(3);
  copy_whole();
  EXPECT_EQ(rows_of_copy(), 3);
  insert(20);
  const auto end = log_end(database).frames;
  send(there.frames, end);
  EXPECT_EQ(copy.place(), there);
  EXPECT_EQ(rows_of_copy(), 23);
}

TEST_F(StandbyCopyTest, BeginsAnewWithTheLog) {
  insert(5);
  copy_whole();
  for (int round = 0; round < 3; ++round) {
    const auto before = log_end(database);
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    insert(2);
    const auto end = log_end(database);
    EXPECT_NE(end.generation, before.generation);
    EXPECT_EQ(end.transactions, before.transactions + 2);
    send(0, end.frames);
    EXPECT_EQ(rows_of_copy(), rows);
  }
}

TEST_F(StandbyCopyTest, IsFoundAgainByAnotherProcess) {
  insert(5);
  copy_whole();
  insert(2);
  send(there.frames, log_end(database).frames);
  StandbyCopy other(scratch.file("standby"));
  EXPECT_EQ(other.place(), there);
}

// A transaction of which some frames are missing has not happened.
TEST_F(StandbyCopyTest, TakesWholeTransactions) {
  insert(2);
  copy_whole();
  database.execute("BEGIN");
  insert(40);
  database.execute("COMMIT");
  const auto end = log_end(database).frames;
  ASSERT_GT(end, there.frames + 3);
  for (auto frame = there.frames; frame + 1 < end; ++frame) {
    send(frame, frame + 1);
    if (frame % 5 == 0) {
      EXPECT_EQ(rows_of_copy(), 2);
    }
  }
  send(end - 1, end);
  EXPECT_EQ(rows_of_copy(), 42);
}

// The file is copied while its log is moved into it, piece by piece.
TEST_F(StandbyCopyTest, IsWholeWhateverIsWrittenMeanwhile) {
  insert(200);
  SqliteConnection reader(scratch.file("d.db"), Access::ReadWrite);
  reader.execute("BEGIN");
  EXPECT_EQ(reader.query_integer("SELECT COUNT(*) FROM t"), 200);
  copy.begin();
  constexpr std::size_t kPiece = 10'000;
  for (std::int64_t at = 0;;) {
    const auto bytes = read_database_file(reader, at, kPiece);
    if (bytes.empty()) break;
    copy.add_bytes(at, bytes);
    at += static_cast<std::int64_t>(bytes.size());
    insert(1);
    if (at % 3 == 0) database.execute("PRAGMA wal_checkpoint(PASSIVE)");
  }
  there = {};
  send(0, log_end(database).frames, StandbyCopy::Of::NewCopy);
  copy.finish();
  reader.execute("ROLLBACK");
  EXPECT_EQ(rows_of_copy(), rows);
}

TEST_F(StandbyCopyTest, RefusesWhatDoesNotFollow) {
  insert(4);
  copy_whole();
  const auto begun = there;
  insert(3);
  const auto end = log_end(database).frames;
  const auto next = frames(begun.frames, end);
  const auto refused = [&](const LogPlace& behind, std::vector<std::byte> head, std::vector<std::byte> bytes) {
    try {
      copy.append(StandbyCopy::Of::Copy, behind, head, bytes);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::Internal;
  };
  auto elsewhere = begun;
  ++elsewhere.frames;
  EXPECT_EQ(refused(elsewhere, header(), next), ErrorKind::Conflict);
  elsewhere = begun;
  ++elsewhere.checksum;
  EXPECT_EQ(refused(elsewhere, header(), next), ErrorKind::Conflict);
  EXPECT_EQ(refused(begun, {}, next), ErrorKind::Corrupt);
  EXPECT_EQ(refused(begun, header(), {next.begin(), next.end() - 1}), ErrorKind::Corrupt);
  EXPECT_EQ(refused(begun, header(), frames(begun.frames + 1, end)), ErrorKind::Corrupt);
  std::mt19937 random(1);
  for (int n = 0; n < 200; ++n) {
    auto damaged = next;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1U << random() % 8);
    EXPECT_EQ(refused(begun, header(), damaged), ErrorKind::Corrupt);
    auto head = header();
    head[random() % head.size()] ^= static_cast<std::byte>(1U << random() % 8);
    EXPECT_EQ(refused(begun, head, next), ErrorKind::Corrupt);
  }
  EXPECT_EQ(copy.place(), begun);
  send(begun.frames, end);
  EXPECT_EQ(rows_of_copy(), 7);
}

// A process may end at any moment: what is cut off at the end of the log is written anew.
TEST_F(StandbyCopyTest, GoesOnBehindWhatWasCutOff) {
  insert(4);
  copy_whole();
  const auto log = log_file_of(scratch.file("standby") + "/copy/database.db");
  const auto begun = there;
  const auto size = fs::file_size(log);
  insert(5);
  const auto end = log_end(database).frames;
  send(begun.frames, end);
  for (const std::uintmax_t more : {1U, 20U, 3000U}) {
    fs::resize_file(log, size + more);
    StandbyCopy other(scratch.file("standby"));
    EXPECT_EQ(other.place(), begun);
    EXPECT_EQ(rows_of_copy(), 4);
    other.append(StandbyCopy::Of::Copy, begun, header(), frames(begun.frames, end));
    EXPECT_EQ(rows_of_copy(), 9);
  }
}

TEST_F(StandbyCopyTest, KeepsTheFormerCopyUntilTheNextIsWhole) {
  insert(4);
  copy_whole();
  insert(1);
  copy.begin();
  copy.add_bytes(0, read_database_file(database, 0, 1000));
  EXPECT_EQ(rows_of_copy(), 4);
  StandbyCopy other(scratch.file("standby"));
  EXPECT_TRUE(other.place().has_value());
  EXPECT_THROW(other.finish(), Error);
  EXPECT_THROW(copy.add_bytes(5, std::vector<std::byte>(1)), Error);
  fs::rename(scratch.file("standby") + "/copy", scratch.file("standby") + "/copy.old");
  EXPECT_EQ(rows_of_copy(), 4);
}

TEST_F(StandbyCopyTest, IsTakenOnlyWhereNothingIs) {
  insert(1);
  EXPECT_THROW(StandbyCopy::take(scratch.file("standby"), scratch.file("new.db")), Error);
  copy_whole();
  EXPECT_THROW(StandbyCopy::take(scratch.file("standby"), scratch.file("d.db")), Error);
  EXPECT_EQ(rows_of_copy(), 1);
}

}  // namespace
}  // namespace eindb
