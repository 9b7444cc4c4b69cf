// Sharded tensors below the engine: tiles at workers are part of the transactions of the coordinator's file, wherever a
// transaction is interrupted, and no garbage remains.

#include "storage/shards/sharded_contents.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "storage/encoding/tile_codec.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/read_snapshot.hpp"
#include "storage/tiles/stored_references.hpp"
#include "storage/tiles/tile_store.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tests/storage/local_shards.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kShardedTiles = 8;
// They lie in runs over three workers, and second copies one worker further on.
constexpr std::int64_t kAtWorker0 = 2;
constexpr std::int64_t kSecondAtWorker0 = 3;

TileStore store_of(const std::string& name, int replicas = 1) {
  return {name, {"i"}, DType::Int64, TileGrid(Shape({2 * kShardedTiles}), {kShardedTiles}), replicas};
}

Tile tile_of(std::int64_t value) {
  auto tile = Tile::zeros(DType::Int64, Shape({2}));
  tile.mutable_data<std::int64_t>()[0] = value;
  return tile;
}

class ShardedContentsTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }

  void start(std::size_t workers = 3) {
    shards = std::make_shared<LocalShards>(scratch.file(""), workers);
    database.emplace(scratch.file("a.db"));
    database->use_shards(shards);
  }
  /// The coordinator restarts, then the workers ask for decisions.
  void restart() {
    database.reset();
    shards.reset();
    start();
    shards->resolve(*database);
    ShardedContents::of(database->connection())->settle();
  }

  SqliteConnection& db() { return database->connection(); }

  void write(const TileStore& store, std::int64_t value, std::int64_t tiles = kShardedTiles) {
    TileWriter writer(db(), store);
    for (std::int64_t id = 0; id < tiles; ++id) writer.write(id, tile_of(value));
  }
  void make(const TileStore& store, std::int64_t value) {
    SqliteTransaction transaction(db());
    store.create(db());
    write(store, value);
    transaction.commit();
    database->settle_shards();
  }
  void change(const TileStore& store, std::int64_t value, std::int64_t tiles = kShardedTiles) {
    SqliteTransaction transaction(db());
    write(store, value, tiles);
    transaction.commit();
    database->settle_shards();
  }
  std::int64_t value(const TileStore& store, std::int64_t id) {
    const auto tile = store.read(db(), id);
    return tile == nullptr ? 0 : *tile->data<std::int64_t>();
  }
  /// The common value of all tiles; -1 if they differ.
  std::int64_t value(const TileStore& store) {
    for (std::int64_t id = 1; id < kShardedTiles; ++id)
      if (value(store, id) != value(store, 0)) return -1;
    return value(store, 0);
  }
  std::int64_t rows(const std::string& table) { return db().query_integer("SELECT COUNT(*) FROM " + table); }
  void expect_nothing_pending() {
    EXPECT_EQ(rows("eindb_shard_transactions"), 0);
    EXPECT_EQ(rows("eindb_shard_participants"), 0);
    EXPECT_EQ(rows("eindb_shard_garbage"), 0);
    for (std::size_t n = 0; n < 3; ++n) EXPECT_TRUE(shards->worker(n).undecided().empty());
  }

  ScratchDirectory scratch;
  std::shared_ptr<LocalShards> shards;
  std::optional<DatabaseFile> database;
  TileStore a = store_of("A");
};

TEST_F(ShardedContentsTest, TilesLieAtWorkersAndReferencesInTheFile) {
  make(a, 7);
  EXPECT_EQ(value(a), 7);
  EXPECT_EQ(shards->contents(), kShardedTiles);
  EXPECT_EQ(shards->worker(0).usage().contents, kAtWorker0);
  EXPECT_LT(db().query_integer("SELECT MAX(LENGTH(tile)) FROM eindb_tiles_A"), 100);
  expect_nothing_pending();
  restart();
  EXPECT_EQ(value(a), 7);
}

TEST_F(ShardedContentsTest, WithoutWorkersAnErrorSaysWhatIsMissing) {
  make(a, 7);
  database.emplace(scratch.file("a.db"));
  const auto error = error_of([&] { a.read(db(), 0); });
  EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
  EXPECT_NE(error.hint().find("--workers"), std::string::npos);
  SqliteTransaction transaction(db());
  EXPECT_ERROR(TileWriter(db(), a), ErrorKind::Unsupported, "tensor A is sharded");
  a.drop(db());  // garbage for a later session with workers
  transaction.commit();
  restart();
  EXPECT_EQ(shards->contents(), 0);
  expect_nothing_pending();
}

TEST_F(ShardedContentsTest, WhatIsReplacedIsDropped) {
  make(a, 1);
  change(a, 2, 3);
  EXPECT_EQ(value(a, 0), 2);
  EXPECT_EQ(value(a, 3), 1);
  EXPECT_EQ(shards->contents(), kShardedTiles);
  change(a, 0, 3);  // all zero: no content at all
  EXPECT_EQ(shards->contents(), kShardedTiles - 3);
  SqliteTransaction transaction(db());
  a.drop(db());
  transaction.commit();
  database->settle_shards();
  EXPECT_EQ(shards->contents(), 0);
  expect_nothing_pending();
}

TEST_F(ShardedContentsTest, ARollbackLeavesTheOldState) {
  make(a, 1);
  {
    SqliteTransaction undone(db());
    write(a, 2);
    EXPECT_EQ(value(a), 2);  // a transaction sees its own writes
  }
  EXPECT_EQ(value(a), 1);
  EXPECT_EQ(shards->contents(), kShardedTiles);
  change(a, 3);
  EXPECT_EQ(value(a), 3);
  expect_nothing_pending();
}

TEST_F(ShardedContentsTest, SavepointsTakeBackTheirPart) {
  make(a, 1);
  SqliteTransaction transaction(db());
  write(a, 2, 2);
  {
    SqliteTransaction undone(db());
    write(a, 3);
  }
  EXPECT_EQ(value(a, 0), 2);
  EXPECT_EQ(value(a, 2), 1);
  write(a, 4, 1);
  transaction.commit();
  database->settle_shards();
  EXPECT_EQ(value(a, 0), 4);
  EXPECT_EQ(value(a, 1), 2);
  EXPECT_EQ(value(a, 2), 1);
  EXPECT_EQ(shards->contents(), kShardedTiles);
  expect_nothing_pending();
}

TEST_F(ShardedContentsTest, ATransactionOfWhichASavepointLeftNothingEnds) {
  make(a, 1);
  SqliteTransaction transaction(db());
  {
    SqliteTransaction undone(db());
    write(a, 3);
  }
  db().execute("CREATE TABLE t (x)");
  transaction.commit();
  database->settle_shards();
  EXPECT_EQ(value(a), 1);
  EXPECT_EQ(shards->contents(), kShardedTiles);
  expect_nothing_pending();
}

// Any statement may commit: SQLite's own savepoints end transactions too.
TEST_F(ShardedContentsTest, AnySqlThatCommitsCommitsTheWorkers) {
  make(a, 1);
  db().execute("SAVEPOINT s");
  write(a, 2);
  db().execute("RELEASE s");
  db().execute("BEGIN");
  write(a, 3, 1);
  db().execute("END");
  database->settle_shards();
  restart();
  EXPECT_EQ(value(a, 0), 3);
  EXPECT_EQ(value(a, 1), 2);
  EXPECT_EQ(shards->contents(), kShardedTiles);
  expect_nothing_pending();
}

TEST_F(ShardedContentsTest, ASnapshotKeepsWhatItReads) {
  make(a, 1);
  DatabaseFile other(scratch.file("a.db"));
  other.use_shards(shards);
  {
    ReadSnapshot snapshot(other, 2);
    EXPECT_EQ(*snapshot.read(a, 0)->data<std::int64_t>(), 1);
    change(a, 2);
    EXPECT_EQ(value(a), 2);
    EXPECT_EQ(*snapshot.read(a, 5)->data<std::int64_t>(), 1);
    EXPECT_EQ(shards->contents(), 2 * kShardedTiles);
    EXPECT_TRUE(ShardedContents::of(db())->is_unsettled());
  }
  database->settle_shards();
  EXPECT_EQ(shards->contents(), kShardedTiles);
  EXPECT_EQ(value(a), 2);
  expect_nothing_pending();
}

TEST_F(ShardedContentsTest, CopiesAreReadWhereTheFirstIsLostOrDamaged) {
  const auto b = store_of("B", 2);
  make(b, 5);
  EXPECT_EQ(shards->contents(), 2 * kShardedTiles);
  for (std::size_t lost = 0; lost < 3; ++lost) {
    shards->lose(lost);
    EXPECT_EQ(value(b), 5);
    shards->find_again(lost);
  }
  // Only worker 0 loses its contents.
  std::vector<ContentId> all;
  for (const auto& [tile, reference] : read_references(db(), b)) all.push_back(reference.content);
  shards->worker(0).drop(ranges_of(all), kAnyEpoch);
  EXPECT_EQ(shards->contents(), 2 * kShardedTiles - kAtWorker0 - kSecondAtWorker0);
  EXPECT_EQ(value(b), 5);
  EXPECT_EQ(shards->contents(), 2 * kShardedTiles - kSecondAtWorker0) << "what was read is there again";
  EXPECT_GT(shards->noticed(), 0);
  const auto noticed = shards->noticed();
  EXPECT_EQ(value(b), 5);
  EXPECT_EQ(shards->noticed(), noticed) << "and is as it was written";
  shards->lose(0);
  shards->lose(1);
  const auto error = error_of([&] { value(b); });
  EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
  EXPECT_NE(error.message().find(" of tensor B (worker-"), std::string::npos) << error.message();
  SqliteTransaction transaction(db());
  EXPECT_ERROR(TileWriter(db(), b), ErrorKind::WorkerLost, "keeps 2 copies");
}

// As if each were read alone, also where a copy is damaged or a worker lost.
TEST_F(ShardedContentsTest, SeveralTilesAreFetchedTogether) {
  const auto b = store_of("B", 2);
  make(a, 7);
  make(b, 5);
  change(b, 0, 1);  // tile 0 is all zero
  std::vector<TileStore::WantedTile> wanted;
  for (std::int64_t tile = 0; tile < kShardedTiles; ++tile) wanted.push_back({&b, tile, DType::Int64});
  wanted.push_back({&a, 2, DType::Int64});
  const auto expect_all = [&](int times) {
    const auto before = shards->times_fetched_together();
    const auto tiles = TileStore::load_all(db(), wanted);
    EXPECT_EQ(shards->times_fetched_together() - before, times);
    ASSERT_EQ(tiles.size(), wanted.size());
    EXPECT_EQ(tiles.front(), nullptr);
    for (std::size_t n = 1; n < tiles.size(); ++n)
      EXPECT_EQ(*tiles[n]->data<std::int64_t>(), n == tiles.size() - 1 ? 7 : 5);
  };
  expect_all(1);
  shards->lose(2);
  expect_all(1);
  shards->find_again(2);
  std::vector<ContentId> all;
  for (const auto& [tile, reference] : read_references(db(), b)) all.push_back(reference.content);
  const auto contents = shards->contents();
  shards->worker(0).drop(ranges_of(all), kAnyEpoch);
  EXPECT_LT(shards->contents(), contents);
  expect_all(1);
  EXPECT_EQ(shards->contents(), contents - kSecondAtWorker0) << "what was read is there again";
  shards->lose(0);
  shards->lose(1);
  EXPECT_ERROR(TileStore::load_all(db(), wanted), ErrorKind::WorkerLost, "no worker has tile");
}

// However many tiles it changes; and what a savepoint takes back is counted anew.
TEST_F(ShardedContentsTest, ATransactionIsOneEpoch) {
  make(a, 1);
  ShardLog log(db());
  const auto before = log.epoch().number;
  {
    SqliteTransaction transaction(db());
    write(a, 2);
    transaction.commit();
  }
  EXPECT_EQ(log.epoch().number, before + 1);
  {
    SqliteTransaction transaction(db());
    {
      SqliteTransaction taken_back(db());
      write(a, 3);
    }
    EXPECT_EQ(log.epoch().number, before + 1);
    write(a, 4);
    transaction.commit();
  }
  EXPECT_EQ(log.epoch().number, before + 2);
  {
    SqliteTransaction taken_back(db());
    write(a, 5);
  }
  {
    SqliteTransaction transaction(db());
    write(a, 6);
    transaction.commit();
  }
  EXPECT_EQ(log.epoch().number, before + 3);
}

TEST_F(ShardedContentsTest, MendingReadsAllCopies) {
  const auto b = store_of("B", 2);
  make(b, 5);
  const auto references = read_references(db(), b);
  std::vector<ContentId> all;
  for (const auto& [tile, reference] : references) all.push_back(reference.content);
  for (std::size_t n = 0; n < 3; ++n) {
    shards->worker(n).drop(ranges_of(all), kAnyEpoch);
    const auto left = shards->contents();
    for (std::int64_t tile = 0; tile < kShardedTiles; ++tile) b.mend(db(), tile);
    EXPECT_LE(left, shards->contents());
    EXPECT_EQ(shards->contents(), 2 * kShardedTiles) << "worker " << n;
  }
  // The transaction that writes copies fails if one of them is lost; it is not repaired.
  {
    SqliteTransaction transaction(db());
    write(b, 6);
    all.clear();
    for (const auto& [tile, reference] : read_references(db(), b)) all.push_back(reference.content);
    shards->worker(0).drop(ranges_of(all), kAnyEpoch);
    EXPECT_EQ(value(b), 6);
    EXPECT_ERROR(transaction.commit(), ErrorKind::WorkerLost, "started anew");
  }
  EXPECT_EQ(value(b), 5);
  // No worker has it: the error says so.
  for (std::size_t n = 0; n < 3; ++n) shards->worker(n).drop(ranges_of({references[0].reference.content}), kAnyEpoch);
  b.mend(db(), 0);
  EXPECT_ERROR(value(b, 0), ErrorKind::Corrupt, "no worker has tile [0] of tensor B");
}

// A copy is mended by the bytes of another, in whatever format a tile would be written now.
TEST_F(ShardedContentsTest, MendingKeepsTheFormat) {
  const TileStore b("B", {"i"}, DType::Int64, TileGrid(Shape({2 * kShardedTiles}), {kShardedTiles}), 2,
                    std::string(kMainSchema), FormatChoice::Sparse);
  make(b, 5);
  std::vector<ContentId> all;
  for (const auto& [tile, reference] : read_references(db(), b)) all.push_back(reference.content);
  shards->worker(0).drop(ranges_of(all), kAnyEpoch);
  for (std::int64_t tile = 0; tile < kShardedTiles; ++tile) store_of("B", 2).mend(db(), tile);
  EXPECT_EQ(shards->contents(), 2 * kShardedTiles);
  EXPECT_EQ(value(b), 5);
}

TEST_F(ShardedContentsTest, AWorkerThatIsAwayIsToldLater) {
  make(a, 1);
  {
    SqliteTransaction transaction(db());
    write(a, 2);
    transaction.commit();
  }
  shards->lose(1);
  database->settle_shards();
  EXPECT_EQ(rows("eindb_shard_participants"), 1);
  EXPECT_GT(rows("eindb_shard_garbage"), 0);
  shards->find_again(1);
  ShardedContents::of(db())->settle();
  EXPECT_EQ(value(a), 2);
  EXPECT_EQ(shards->contents(), kShardedTiles);
  expect_nothing_pending();
}

TEST_F(ShardedContentsTest, ALostWorkerMakesTheCommitARollback) {
  make(a, 1);
  SqliteTransaction transaction(db());
  write(a, 2);
  shards->lose(1);
  EXPECT_ERROR(transaction.commit(), ErrorKind::WorkerLost, "worker-1");
  EXPECT_FALSE(db().in_transaction());
  shards->find_again(1);
  EXPECT_EQ(value(a), 1);
}

// Two-phase commit is stopped at every step, then restarted.
TEST_F(ShardedContentsTest, StoppedAnywhereThereIsTheOldStateOrTheNew) {
  const auto b = store_of("B", 2);
  make(b, 1);
  std::int64_t now = 1;
  int old_states = 0;
  int new_states = 0;
  for (int step = 0;; ++step) {
    shards->stop_at(step);
    try {
      SqliteTransaction transaction(db());
      write(b, now + 1);
      {
        SqliteTransaction undone(db());
        write(b, -7, 1);
      }
      transaction.commit();
      database->settle_shards();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
    }
    const bool stopped = shards->has_stopped();
    restart();
    const auto found = value(b);
    ASSERT_TRUE(found == now || found == now + 1) << step;
    ++(found == now ? old_states : new_states);
    now = found;
    ASSERT_EQ(shards->contents(), 2 * kShardedTiles) << step;
    expect_nothing_pending();
    if (!stopped) break;
  }
  EXPECT_GT(old_states, 2 * 2 * kShardedTiles);
  EXPECT_GT(new_states, 6);
}

TEST_F(ShardedContentsTest, NumbersAreNotGivenTwice) {
  make(a, 1);
  const auto largest = [&] {
    std::int64_t out = 0;
    for (const auto& [tile, reference] : read_references(db(), a)) out = std::max(out, number(reference.content));
    return out;
  };
  auto before = largest();
  for (int round = 0; round < 3; ++round) {
    {
      SqliteTransaction undone(db());
      write(a, 9);
      before = std::max(before, largest());
    }
    restart();
    change(a, round + 2);
    EXPECT_GT(largest(), before);
    before = largest();
  }
}

TEST_F(ShardedContentsTest, WorkersPutResultsThemselves) {
  SqliteTransaction transaction(db());
  a.create(db());
  const auto workers = shards->workers();
  auto& contents = *ShardedContents::of(db());
  {
    TileWriter writer(db(), a);
    const auto first = contents.announce(kShardedTiles, workers);
    for (std::int64_t id = 0; id < kShardedTiles; id += 2) {
      const auto tile = tile_of(id + 1);
      const EncodedTile encoded(tile);
      const ContentId content{number(first) + id};
      const auto worker = static_cast<std::size_t>(id) % 3;
      const OutgoingContent put{content, "A", encoded.header(), encoded.values()};
      shards->worker(worker).put(contents.transaction(), std::span(&put, 1));
      writer.refer(id, {content, encoded.size(), encoded.checksum(), {workers[worker]}});
    }
  }
  transaction.commit();
  database->settle_shards();
  restart();
  for (std::int64_t id = 0; id < kShardedTiles; ++id) EXPECT_EQ(value(a, id), id % 2 == 0 ? id + 1 : 0);
  EXPECT_EQ(shards->contents(), kShardedTiles / 2);
  expect_nothing_pending();
}

// Contents of a failed attempt are neither counted nor kept at workers; earlier contents of the transaction are.
TEST_F(ShardedContentsTest, AFailedAttemptIsTakenBack) {
  SqliteTransaction transaction(db());
  a.create(db());
  auto& contents = *ShardedContents::of(db());
  const auto put = [&](ContentId content, std::size_t worker) {
    const auto tile = tile_of(7);
    const EncodedTile encoded(tile);
    const OutgoingContent one{content, "A", encoded.header(), encoded.values()};
    shards->worker(worker).put(contents.transaction(), std::span(&one, 1));
    TileWriter(db(), a).refer(0, {content, encoded.size(), encoded.checksum(), {shards->workers()[worker]}});
  };
  put(contents.announce(1, shards->workers()), 0);
  {
    SqliteTransaction undone(db());
    const ShardedContents::Attempt failed(contents, 1, shards->workers());
    put(failed.first(), 0);
  }
  EXPECT_EQ(shards->contents(), 1);
  contents.prepare();
  shards->lose(0);  // the loss no longer matters
  transaction.commit();
  shards->find_again(0);
  restart();
  EXPECT_EQ(value(a, 0), 7);
  expect_nothing_pending();
}

TEST_F(ShardedContentsTest, HoldersAreThoseOfTheReferences) {
  const auto b = store_of("B", 2);
  make(b, 1);
  {
    SqliteTransaction transaction(db());
    TileWriter(db(), b).write(3, tile_of(0));
    transaction.commit();
  }
  const auto references = read_references(db(), b);
  const auto known = ShardLog(db()).workers();
  const auto rank_of = [&](WorkerNumber worker) -> std::optional<Rank> {
    const auto address = known.at(worker).address;
    if (address == "worker-2") return std::nullopt;
    return static_cast<Rank>(address.back() - '0');
  };
  const auto holders = holders_of(db(), b, references, {.rank_of = rank_of, .is_damaged = {}, .is_needed = {}});
  ASSERT_EQ(holders.tile_count(), kShardedTiles);
  EXPECT_EQ(std::vector<Rank>(holders.of(0).begin(), holders.of(0).end()), (std::vector<Rank>{0, 1}));
  EXPECT_TRUE(holders.of(3).empty());
  EXPECT_EQ(std::vector<Rank>(holders.of(7).begin(), holders.of(7).end()), (std::vector<Rank>{0}));
  const auto backwards = [&](WorkerNumber worker) { return std::optional(static_cast<Rank>(9 - *rank_of(worker))); };
  const auto first = std::vector(references.begin(), references.begin() + 1);
  const auto reversed = holders_of(db(), b, first, {.rank_of = backwards, .is_damaged = {}, .is_needed = {}});
  EXPECT_EQ(std::vector<Rank>(reversed.of(0).begin(), reversed.of(0).end()), (std::vector<Rank>{8, 9}))
      << "in the order of ranks";
  EXPECT_EQ(read_references(db(), b, {0, 3}).size(), 1U) << "tile 3 is all zero";
  EXPECT_EQ(read_references(db(), b, {0, 3}).front().reference.content, references.front().reference.content);
  const auto nobody = [](WorkerNumber) -> std::optional<Rank> { return std::nullopt; };
  const CopyRules away{.rank_of = nobody, .is_damaged = {}, .is_needed = {}};
  EXPECT_ERROR(holders_of(db(), b, references, away), ErrorKind::WorkerLost, "tile [0] of tensor B lies at worker-0");
  const auto not_read = [](std::int64_t) { return false; };
  TileHolders none;
  none.add({}, kShardedTiles);
  EXPECT_EQ(holders_of(db(), b, references, {.rank_of = nobody, .is_damaged = {}, .is_needed = not_read}), none);
  const auto at_worker_0 = [&](WorkerNumber worker, ContentId) { return known.at(worker).address == "worker-0"; };
  const auto at_0_and_1 = [](std::int64_t tile) { return tile < kAtWorker0; };
  const auto others =
      holders_of(db(), b, references, {.rank_of = rank_of, .is_damaged = at_worker_0, .is_needed = at_0_and_1});
  EXPECT_EQ(std::vector<Rank>(others.of(0).begin(), others.of(0).end()), std::vector<Rank>{1});
  const auto everywhere = [](WorkerNumber, ContentId) { return true; };
  const auto asked_again =
      holders_of(db(), b, references, {.rank_of = rank_of, .is_damaged = everywhere, .is_needed = {}});
  EXPECT_EQ(asked_again, holders) << "they say what is wrong";

  TileStore own("C", {"i"}, DType::Int64, a.grid());
  SqliteTransaction transaction(db());
  own.create(db());
  TileWriter(db(), own).write(2, tile_of(4));
  const auto of_own = holders_of_own(db(), own, 9);
  EXPECT_EQ(of_own.tile_count(), kShardedTiles);
  EXPECT_EQ(of_own.run_count(), 3U);
  EXPECT_EQ(of_own.of(2)[0], 9);
}

TEST_F(ShardedContentsTest, DamagedTablesAreToldAsSuch) {
  make(a, 1);
  shards.reset();
  db().execute("DELETE FROM eindb_workers");
  EXPECT_ERROR(value(a, 2), ErrorKind::Corrupt, "no worker number");
  db().execute("UPDATE eindb_shard_settings SET value = 1 << 40 WHERE name = 'blocks'");
  database.reset();
  EXPECT_ERROR(start(), ErrorKind::Corrupt, "no proper blocks");
  db().execute("DELETE FROM eindb_shard_settings");
  EXPECT_ERROR(ShardLog(db()).database_identity(), ErrorKind::Corrupt, "no proper identity");
}

TEST_F(ShardedContentsTest, ADamagedReferenceIsToldAsATileIs) {
  make(a, 1);
  db().execute("UPDATE eindb_tiles_A SET tile = CAST(SUBSTR(tile, 1, 39) || X'00' AS BLOB) WHERE tile_id = 2");
  EXPECT_ERROR(value(a, 2), ErrorKind::Corrupt, "tile [2] of tensor A is damaged");
  EXPECT_ERROR(read_references(db(), a), ErrorKind::Corrupt, "tensor A is damaged");
}

TEST_F(ShardedContentsTest, ATileThatIsThereTwiceIsDamage) {
  const TileStore own("B", {"i"}, DType::Int64, TileGrid(Shape({2 * kShardedTiles}), {kShardedTiles}));
  db().execute("CREATE TABLE " + own.table() + " (tile_id INTEGER, tile BLOB)");
  db().execute("INSERT INTO " + own.table() + " VALUES (3, x'00'), (5, x'00')");
  EXPECT_NO_THROW(holders_of_own(db(), own, 9));
  db().execute("INSERT INTO " + own.table() + " VALUES (3, x'00')");
  EXPECT_ERROR(holders_of_own(db(), own, 9), ErrorKind::Corrupt, "it has a tile twice");
}

}  // namespace
}  // namespace eindb
