// The cache of decoded tiles: its contents, and that no statement sees a stale tile.

#include "engine/tensors/tile_cache.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/error.hpp"
#include "engine/session.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kElementsOfTile = 8192;
constexpr std::int64_t kTileBytes = kElementsOfTile * 8;
constexpr std::int64_t kEntryBytes = kTileBytes + 1024;  // at most, including the cache's overhead

std::int64_t tile_bytes() { return kTileBytes; }
TilePtr tile() { return std::make_shared<const Tile>(Tile::zeros(DType::Int64, Shape({kElementsOfTile}))); }

TEST(TileCache, GivesATileAgainInTheSameStatementAndTheNext) {
  TileCache cache;
  int reads = 0;
  for (int n = 0; n < 3; ++n) {
    const auto memory = MemoryBudget::create(10 * kEntryBytes);
    const TileCache::Statement statement(cache, memory, 7, 10 * kEntryBytes);
    cache.number_of("A");
    for (int again = 0; again < 2; ++again)
      EXPECT_NE(cache.read(0, 4, tile_bytes, [&] { return ++reads, tile(); }), nullptr);
    EXPECT_EQ(cache.read(0, 5, tile_bytes, [&] { return ++reads, nullptr; }), nullptr);
    EXPECT_GE(memory->used(), kTileBytes);
    EXPECT_EQ(cache.idle_bytes(), 0);
  }
  EXPECT_EQ(reads, 2);
  EXPECT_GE(cache.idle_bytes(), kTileBytes);
}

TEST(TileCache, ForgetsAnotherStateOfTheDatabase) {
  TileCache cache;
  int reads = 0;
  for (const std::uint64_t version : {1, 1, 2, 1}) {
    const TileCache::Statement statement(cache, MemoryBudget::create(10 * kEntryBytes), version, 10 * kEntryBytes);
    cache.read(cache.number_of("A"), 0, tile_bytes, [&] { return ++reads, tile(); });
  }
  EXPECT_EQ(reads, 3);
}

TEST(TileCache, KeepsItsCapacityBetweenStatementsAndTheLimitWithin) {
  TileCache cache;
  {
    const auto memory = MemoryBudget::create(4 * kEntryBytes);
    const TileCache::Statement statement(cache, memory, 1, 2 * kEntryBytes);
    cache.number_of("A");
    for (std::int64_t id = 0; id < 20; ++id) cache.read(0, id, tile_bytes, tile);
    EXPECT_GE(memory->used(), 3 * kTileBytes);
    EXPECT_LE(memory->peak(), 4 * kEntryBytes);
  }
  EXPECT_LE(cache.idle_bytes(), 2 * kEntryBytes);
  EXPECT_GE(cache.idle_bytes(), kTileBytes);
  // Idle tiles are evicted if a statement needs memory.
  const auto memory = MemoryBudget::create(4 * kEntryBytes);
  const TileCache::Statement statement(cache, memory, 1, 0);
  const MemoryReservation all(memory, 4 * kEntryBytes);
  EXPECT_EQ(cache.idle_bytes(), 0);
}

TEST(TileCache, AReadThatFailsIsTriedAgain) {
  TileCache cache;
  const auto memory = MemoryBudget::create(4 * kEntryBytes);
  const TileCache::Statement statement(cache, memory, 1, kEntryBytes);
  cache.number_of("A");
  EXPECT_ERROR(cache.read(0, 0, tile_bytes, []() -> TilePtr { throw Error(ErrorKind::Corrupt, "damaged"); }),
               ErrorKind::Corrupt, "damaged");
  EXPECT_EQ(memory->used(), 0);
  EXPECT_NE(cache.read(0, 0, tile_bytes, tile), nullptr);
}

// The reading task finds no room, since the other one keeps its memory until the tile is there: neither can continue.
// The first gives up, and the other reads the tile.
TEST(TileCache, WhoeverReadsForOthersDoesNotWaitForThemToMakeRoom) {
  TileCache cache;
  const auto memory = MemoryBudget::create(4 * kEntryBytes);
  const TileCache::Statement statement(cache, memory, 1, 0);
  cache.number_of("A");
  const MemoryBudget::Task task(*memory);
  const MemoryReservation held(memory, 2 * kEntryBytes);
  std::thread first([&] {
    const MemoryBudget::Task firsts_task(*memory);
    const MemoryReservation held_by_first(memory, 2 * kEntryBytes);
    EXPECT_ERROR(cache.read(0, 0, tile_bytes, tile), ErrorKind::MemoryLimit, "at least");
  });
  while (cache.misses() == 0) std::this_thread::yield();
  EXPECT_NE(cache.read(0, 0, tile_bytes, tile), nullptr);
  first.join();
}

TEST(TileCache, ManyThreadsReadEachTileOnce) {
  TileCache cache;
  std::atomic<int> reads{0};
  const auto memory = MemoryBudget::create(100 * kEntryBytes);
  const TileCache::Statement statement(cache, memory, 1, 100 * kEntryBytes);
  cache.number_of("A");
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (std::int64_t id = 0; id < 50; ++id) cache.read(0, id, tile_bytes, [&] { return ++reads, tile(); });
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(reads, 50);
}

class CachedSessions : public ::testing::Test {
 protected:
  static double sum(Session& session, const std::string& tensor) {
    auto result = session.execute("EINSUM s[] = SUM(" + tensor + "[i])");
    Row row;
    EXPECT_TRUE(result.rows->next(row));
    return std::get<double>(row.back());
  }

  ScratchDirectory scratch;
  Session mine{scratch.file("a.db")};
  Session other{scratch.file("a.db")};
};

TEST_F(CachedSessions, SeeEachOthersChanges) {
  mine.execute("CREATE TENSOR X AS EINSUM X[i 100] = 1.0");
  EXPECT_EQ(sum(mine, "X"), 100);
  EXPECT_EQ(sum(other, "X"), 100);
  other.execute("INSERT INTO TENSOR X VALUES (3, 11.0)");
  EXPECT_EQ(sum(mine, "X"), 110);
  EXPECT_EQ(sum(other, "X"), 110);
  mine.execute("DROP TENSOR X");
  mine.execute("CREATE TENSOR X AS EINSUM X[i 100] = 2.0");
  EXPECT_EQ(sum(mine, "X"), 200);
  EXPECT_EQ(sum(other, "X"), 200);
}

TEST_F(CachedSessions, SeeTheirOwnTransactionsAndWhatBecomesOfThem) {
  mine.execute("CREATE TENSOR X AS EINSUM X[i 100] = 1.0");
  EXPECT_EQ(sum(mine, "X"), 100);
  mine.execute("BEGIN");
  mine.execute("INSERT INTO TENSOR X VALUES (3, 11.0)");
  EXPECT_EQ(sum(mine, "X"), 110);
  EXPECT_EQ(sum(other, "X"), 100);
  mine.execute("SAVEPOINT here");
  mine.execute("INSERT INTO TENSOR X VALUES (4, 21.0)");
  EXPECT_EQ(sum(mine, "X"), 130);
  mine.execute("ROLLBACK TO here");
  EXPECT_EQ(sum(mine, "X"), 110);
  mine.execute("ROLLBACK");
  EXPECT_EQ(sum(mine, "X"), 100);
  mine.execute("BEGIN");
  EXPECT_EQ(sum(mine, "X"), 100);
  other.execute("INSERT INTO TENSOR X VALUES (5, 6.0)");
  EXPECT_EQ(sum(mine, "X"), 100) << "a transaction sees one state";
  mine.execute("COMMIT");
  EXPECT_EQ(sum(mine, "X"), 105);
}

}  // namespace
}  // namespace eindb
