// Parallel readers see one state of the database, regardless of concurrent commits.

#include "storage/tiles/read_snapshot.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kSnapshotTiles = 16;

TileStore store() { return {"A", {"i"}, DType::Int64, TileGrid(Shape({kSnapshotTiles}), {kSnapshotTiles})}; }

/// Sets every element to `value`.
void write_all(SqliteConnection& db, std::int64_t value) {
  auto tile = Tile::zeros(DType::Int64, Shape({1}));
  tile.mutable_data<std::int64_t>()[0] = value;
  TileWriter writer(db, store());
  for (std::int64_t id = 0; id < kSnapshotTiles; ++id) writer.write(id, tile);
}

void make_tensor(DatabaseFile& database, std::int64_t value) {
  SqliteTransaction transaction(database.connection());
  store().create(database.connection());
  write_all(database.connection(), value);
  transaction.commit();
}

void change_tensor(DatabaseFile& database, std::int64_t value) {
  SqliteTransaction transaction(database.connection());
  write_all(database.connection(), value);
  transaction.commit();
}

std::int64_t element(ReadSnapshot& snapshot, std::int64_t id) {
  return *snapshot.read(store(), id)->data<std::int64_t>();
}

class ReadSnapshotTest : public ::testing::Test {
 protected:
  ScratchDirectory scratch;
  std::string path = scratch.file("a.db");
  DatabaseFile database{path};
};

TEST_F(ReadSnapshotTest, ManyThreadsRead) {
  make_tensor(database, 7);
  for (const bool in_memory : {false, true}) {
    DatabaseFile memory(":memory:");
    if (in_memory) make_tensor(memory, 7);
    ReadSnapshot snapshot(in_memory ? memory : database, 4);
    std::atomic<std::int64_t> sum = 0;
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
          for (std::int64_t id = 0; id < kSnapshotTiles; ++id) sum += element(snapshot, id);
        });
    }
    EXPECT_EQ(sum, 8 * kSnapshotTiles * 7);
    EXPECT_LE(snapshot.reader_count(), in_memory ? 0U : 4U);
  }
}

TEST_F(ReadSnapshotTest, CommitsOfOthersDoNotShow) {
  make_tensor(database, 1);
  DatabaseFile other(path);
  ReadSnapshot snapshot(database, 4);
  EXPECT_EQ(element(snapshot, 0), 1);
  change_tensor(other, 2);
  EXPECT_EQ(element(snapshot, 1), 1);
  EXPECT_EQ(*store().read(database.connection(), 2)->data<std::int64_t>(), 1);
}

TEST_F(ReadSnapshotTest, TheNextSnapshotIsNew) {
  make_tensor(database, 1);
  DatabaseFile other(path);
  { EXPECT_EQ(element(*std::make_unique<ReadSnapshot>(database, 2), 0), 1); }
  change_tensor(other, 2);
  ReadSnapshot snapshot(database, 2);
  EXPECT_EQ(element(snapshot, 0), 2);
}

TEST_F(ReadSnapshotTest, LateReadersJoinOnlyTheSameState) {
  make_tensor(database, 1);
  DatabaseFile other(path);
  ReadSnapshot snapshot(database, 8);
  change_tensor(other, 2);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        for (int n = 0; n < 200; ++n) wrong += element(snapshot, n % kSnapshotTiles) != 1;
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(snapshot.reader_count(), 0U);  // all tasks read through the connection
}

TEST_F(ReadSnapshotTest, ReadersRunBesideAWriteThatHasChangedNothing) {
  make_tensor(database, 1);
  SqliteTransaction transaction(database.connection());
  ReadSnapshot snapshot(database, 2);
  write_all(database.connection(), 5);
  EXPECT_EQ(element(snapshot, 0), 1);  // the value at the start of the statement
  EXPECT_EQ(snapshot.reader_count(), 1U);
}

TEST_F(ReadSnapshotTest, TemporaryTilesAreReadByTheirConnection) {
  make_tensor(database, 1);
  const TileStore temporary("A", {"i"}, DType::Int64, store().grid(), 0, "temp");
  auto tile = Tile::zeros(DType::Int64, Shape({1}));
  tile.mutable_data<std::int64_t>()[0] = 2;
  {
    SqliteTransaction transaction(database.connection());
    temporary.create(database.connection());
    for (std::int64_t id = 0; id < kSnapshotTiles; ++id) TileWriter(database.connection(), temporary).write(id, tile);
    transaction.commit();
  }
  ReadSnapshot snapshot(database, 4);
  EXPECT_TRUE(snapshot.is_apart());
  std::atomic<std::int64_t> sum = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (std::int64_t id = 0; id < kSnapshotTiles; ++id)
          sum += element(snapshot, id) + 10 * *snapshot.read(temporary, id)->data<std::int64_t>();
      });
    }
  }
  EXPECT_EQ(sum, 4 * kSnapshotTiles * 21);
}

TEST_F(ReadSnapshotTest, ATransactionThatOnlyReadsHasNoReadersBesideIt) {
  make_tensor(database, 1);
  DatabaseFile reader(path, DatabaseFile::Access::ReadOnly);
  SqliteTransaction transaction(reader.connection());
  ReadSnapshot snapshot(reader, 4);
  EXPECT_FALSE(snapshot.is_apart());
  change_tensor(database, 2);
  const auto first = element(snapshot, 0);
  for (std::int64_t id = 1; id < kSnapshotTiles; ++id) EXPECT_EQ(element(snapshot, id), first);
}

TEST_F(ReadSnapshotTest, UncommittedChangesAreSeen) {
  make_tensor(database, 1);
  SqliteTransaction transaction(database.connection());
  write_all(database.connection(), 5);
  ReadSnapshot snapshot(database, 2);
  EXPECT_EQ(snapshot.reader_count(), 0U);
  EXPECT_EQ(element(snapshot, 0), 5);
}

TEST_F(ReadSnapshotTest, ItLeavesTheConnectionAsItWas) {
  make_tensor(database, 1);
  {
    ReadSnapshot snapshot(database, 2);
    EXPECT_TRUE(database.connection().in_transaction());
  }
  EXPECT_FALSE(database.connection().is_active());
  change_tensor(database, 3);
}

TEST_F(ReadSnapshotTest, ConcurrentCommitsNeverMix) {
  make_tensor(database, 0);
  change_tensor(database, 1);
  std::jthread writer([&](const std::stop_token& stop) {
    DatabaseFile other(path);
    for (std::int64_t value = 2; !stop.stop_requested(); ++value) change_tensor(other, value);
  });
  for (int n = 0; n < 50; ++n) {
    ReadSnapshot snapshot(database, 3);
    const auto first = element(snapshot, 0);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (std::int64_t id = 0; id < kSnapshotTiles; ++id) EXPECT_EQ(element(snapshot, id), first);
      });
    threads.clear();
    EXPECT_EQ(*store().read(database.connection(), 5)->data<std::int64_t>(), first);
  }
}

}  // namespace
}  // namespace eindb
