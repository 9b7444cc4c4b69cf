// Tiles move between workers below the engine: wherever a move is interrupted, and whatever happens beside it, every
// tile can be read, and no copy is left over.

#include "storage/tiles/tile_mover.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/read_snapshot.hpp"
#include "storage/tiles/stored_references.hpp"
#include "storage/tiles/tile_store.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tests/storage/local_shards.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kTilesThatMove = 8;
constexpr std::size_t kMoverWorkers = 4;

TileStore store_that_moves(int replicas) {
  return {"M", {"i"}, DType::Int64, TileGrid(Shape({2 * kTilesThatMove}), {kTilesThatMove}), replicas};
}

class TileMoverTest : public ::testing::Test {
 protected:
  void SetUp() override { start(); }

  void start() {
    shards = std::make_shared<LocalShards>(scratch->file(""), kMoverWorkers);
    database.emplace(scratch->file("m.db"));
    database->use_shards(shards);
    own.emplace(scratch->file("m.db"));
    own->use_shards(shards);
    mover.emplace(*own);
  }
  /// The coordinator restarts, then the workers ask for decisions.
  void restart() {
    mover.reset();
    own.reset();
    database.reset();
    shards.reset();
    start();
    shards->resolve(*database);
    ShardedContents::of(database->connection())->settle();
  }
  void start_anew() {
    mover.reset();
    own.reset();
    database.reset();
    shards.reset();
    scratch.emplace();
    start();
  }

  SqliteConnection& db() { return database->connection(); }

  void make(int replicas) {
    store = store_that_moves(replicas);
    SqliteTransaction transaction(db());
    // The rows that the catalog writes of a sharded tensor.
    db().execute(
        "CREATE TABLE IF NOT EXISTS eindb_tensors (tensor_id INTEGER PRIMARY KEY, name TEXT);"
        "CREATE TABLE IF NOT EXISTS eindb_shardings (tensor_id INTEGER PRIMARY KEY, replicas INTEGER);"
        "INSERT INTO eindb_tensors VALUES (1, 'M')");
    db().prepare("INSERT INTO eindb_shardings VALUES (1, ?)").bind(1, std::int64_t{replicas}).run();
    store->create(db());
    write(7);
    transaction.commit();
    database->settle_shards();
  }
  void write(std::int64_t value, std::int64_t tiles = kTilesThatMove) {
    TileWriter writer(db(), *store);
    for (std::int64_t id = 0; id < tiles; ++id) {
      auto tile = Tile::zeros(DType::Int64, Shape({2}));
      tile.mutable_data<std::int64_t>()[0] = value + id;
      writer.write(id, tile);
    }
  }
  void expect_values(std::int64_t value) {
    for (std::int64_t id = 0; id < kTilesThatMove; ++id) {
      const auto tile = store->read(db(), id);
      ASSERT_NE(tile, nullptr) << id;
      EXPECT_EQ(*tile->data<std::int64_t>(), value + id);
    }
  }
  void leave(std::size_t n, bool leaves = true) {
    SqliteTransaction transaction(db());
    ShardedContents::of(db())->set_leaving(shard_worker(n), leaves);
    transaction.commit();
  }
  ShardWorker shard_worker(std::size_t n) { return {shards->worker(n).id(), "worker-" + std::to_string(n)}; }
  TilePlace place_of(const ShardWorker& worker) const {
    const bool is_lost = missed && worker.data == *missed;
    return {.worker = worker,
            .standing = is_lost ? TilePlace::Standing::Missed : TilePlace::Standing::Stays,
            .is_there = !is_lost,
            .takes = !is_lost,
            .bytes_free = 1 << 20};
  }
  TileMover::Census look(std::int64_t least_imbalance = 1 << 20) {
    const auto workers = shards->workers();
    return mover->look([this](const ShardWorker& worker) { return place_of(worker); }, workers, least_imbalance);
  }
  /// Moves until nothing is left. Returns what was done.
  MovedTiles move(std::int64_t bytes = 200, std::int64_t least_imbalance = 1 << 20) {
    MovedTiles done;
    for (auto census = look(least_imbalance); !census.plan.moves.empty(); census = look(least_imbalance)) {
      for (std::size_t next = 0; next < census.plan.moves.size();) next += mover->move_some(census, next, bytes, done);
      own->settle_shards();
    }
    return done;
  }
  void expect_nothing_pending(std::int64_t copies) {
    for (const auto* table : {"eindb_shard_transactions", "eindb_shard_participants", "eindb_shard_garbage"})
      EXPECT_EQ(db().query_integer("SELECT COUNT(*) FROM " + std::string(table)), 0) << table;
    for (std::size_t n = 0; n < kMoverWorkers; ++n) EXPECT_TRUE(shards->worker(n).undecided().empty());
    EXPECT_EQ(shards->contents(), copies);
  }

  std::optional<ScratchDirectory> scratch{std::in_place};
  std::shared_ptr<LocalShards> shards;
  std::optional<DatabaseFile> database;
  std::optional<DatabaseFile> own;  // the mover's
  std::optional<TileMover> mover;
  std::optional<TileStore> store;
  std::optional<DataId> missed;
};

TEST_F(TileMoverTest, ALeavingWorkerIsEmptiedAndDrained) {
  make(1);
  leave(0);
  const auto before = shards->worker(0).usage().contents;
  EXPECT_GT(before, 0);
  EXPECT_TRUE(look().drained.empty());
  EXPECT_EQ(move().tiles, before);
  EXPECT_EQ(shards->worker(0).usage().contents, 0);
  EXPECT_TRUE(look().drained.contains(shards->worker(0).id()));
  shards->lose(0);
  expect_values(7);
  shards->find_again(0);
  expect_nothing_pending(kTilesThatMove);
}

TEST_F(TileMoverTest, NewTilesGoElsewhereFromTheMarkOn) {
  make(1);
  leave(0);
  move();
  {
    SqliteTransaction transaction(db());
    write(20);
    transaction.commit();
  }
  database->settle_shards();
  EXPECT_EQ(shards->worker(0).usage().contents, 0);
  expect_values(20);
  leave(0, false);
  {
    SqliteTransaction transaction(db());
    write(30);
    transaction.commit();
  }
  database->settle_shards();
  EXPECT_GT(shards->worker(0).usage().contents, 0);
  expect_values(30);
}

// A statement that was planned before the worker began to leave must not store there afterwards.
TEST_F(TileMoverTest, AWorkerThatLeavesIsRefusedWhenContentsAreAnnounced) {
  make(1);
  leave(0);
  SqliteTransaction transaction(db());
  const auto worker = shard_worker(0);
  EXPECT_ERROR(ShardedContents::of(db())->announce(1, {&worker, 1}), ErrorKind::WorkerLost, "is being drained");
}

TEST_F(TileMoverTest, CopiesOfAMissedWorkerAreMadeElsewhere) {
  make(2);
  missed = shards->worker(1).id();
  shards->lose(1);
  const auto done = move();
  EXPECT_GT(done.tiles, 0);
  for (const auto& [tile, reference] : read_references(db(), *store)) EXPECT_EQ(reference.workers.size(), 2U);
  // Each of the others may be lost now.
  for (const std::size_t other : {0, 2, 3}) {
    shards->lose(other);
    expect_values(7);
    shards->find_again(other);
  }
  // It comes back with copies that nothing refers to.
  EXPECT_GT(db().query_integer("SELECT COUNT(*) FROM eindb_shard_garbage"), 0);
  shards->find_again(1);
  EXPECT_GT(shards->worker(1).usage().contents, 0);
  ShardedContents::of(db())->settle();
  EXPECT_EQ(shards->worker(1).usage().contents, 0);
  expect_values(7);
  expect_nothing_pending(2 * kTilesThatMove);
}

TEST_F(TileMoverTest, ANewWorkerGetsItsShare) {
  shards->lose(3);
  make(1);
  shards->find_again(3);
  EXPECT_EQ(shards->worker(3).usage().contents, 0);
  move(1, 0);
  EXPECT_EQ(shards->worker(3).usage().contents, kTilesThatMove / 4);
  expect_values(7);
  expect_nothing_pending(kTilesThatMove);
}

// Back and forth: a content comes to a worker again from which it was dropped.
TEST_F(TileMoverTest, AContentComesBackToAWorker) {
  make(1);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t n = 0; n + 1 < kMoverWorkers; ++n) leave(n);
    move();
    EXPECT_EQ(shards->worker(3).usage().contents, kTilesThatMove);
    leave(0, false);
    leave(3);
    move();
    EXPECT_EQ(shards->worker(0).usage().contents, kTilesThatMove);
    leave(3, false);
    expect_values(7);
    expect_nothing_pending(kTilesThatMove);
  }
}

// Two sessions have read the same garbage. One drops it, the content comes back, then the other drops it.
TEST_F(TileMoverTest, ALateDropDoesNotRemoveACopyThatCameLater) {
  make(1);
  leave(0);
  move(1 << 20);
  const auto epoch = ShardLog(db()).epoch_number();
  leave(0, false);
  for (const std::size_t n : {1, 2, 3}) leave(n);
  move(1 << 20);
  EXPECT_EQ(shards->worker(0).usage().contents, kTilesThatMove);
  std::vector<ContentId> all;
  for (const auto& [tile, reference] : read_references(db(), *store)) all.push_back(reference.content);
  EXPECT_TRUE(shards->drop(shard_worker(0), ranges_of(all), epoch));
  EXPECT_EQ(shards->worker(0).usage().contents, kTilesThatMove);
  expect_values(7);
}

TEST_F(TileMoverTest, ARowThatChangesBesideTheMoveKeepsItsChange) {
  make(1);
  leave(0);
  const auto census = look();
  {
    SqliteTransaction transaction(db());
    write(40, 1);
    transaction.commit();
  }
  database->settle_shards();  // the content that was to move is gone
  MovedTiles done;
  for (std::size_t next = 0; next < census.plan.moves.size();) next += mover->move_some(census, next, 1 << 20, done);
  EXPECT_EQ(done.tiles, static_cast<std::int64_t>(census.plan.moves.size()) - 1);
  EXPECT_EQ(done.failed, 0);
  EXPECT_EQ(shards->noticed(), 0) << "nothing is damaged";
  own->settle_shards();
  database->settle_shards();
  EXPECT_EQ(*store->read(db(), 0)->data<std::int64_t>(), 40);
  EXPECT_EQ(*store->read(db(), 1)->data<std::int64_t>(), 8);
  expect_nothing_pending(kTilesThatMove);
}

TEST_F(TileMoverTest, ATensorThatIsDroppedBesideTheMoveStaysDropped) {
  make(1);
  leave(0);
  const auto census = look();
  {
    SqliteTransaction transaction(db());
    store->drop(db());
    db().execute("DELETE FROM eindb_shardings");
    transaction.commit();
  }
  MovedTiles done;
  for (std::size_t next = 0; next < census.plan.moves.size();) next += mover->move_some(census, next, 1 << 20, done);
  EXPECT_EQ(done.tiles, 0);
  own->settle_shards();
  database->settle_shards();
  expect_nothing_pending(0);
}

TEST_F(TileMoverTest, AStateThatSomebodyReadsKeepsItsCopies) {
  make(1);
  leave(0);
  DatabaseFile other(scratch->file("m.db"));
  other.use_shards(shards);
  {
    ReadSnapshot snapshot(other, 1);
    EXPECT_EQ(*snapshot.read(*store, 7)->data<std::int64_t>(), 14);
    const auto before = shards->worker(0).usage().contents;
    MovedTiles done;
    const auto census = look();
    for (std::size_t next = 0; next < census.plan.moves.size();) next += mover->move_some(census, next, 1 << 20, done);
    own->settle_shards();
    EXPECT_EQ(shards->worker(0).usage().contents, before);
    EXPECT_TRUE(look().drained.empty()) << "somebody may still read there";
    for (std::int64_t id = 0; id < kTilesThatMove; ++id)
      EXPECT_EQ(*snapshot.read(*store, id)->data<std::int64_t>(), 7 + id);
  }
  own->settle_shards();
  EXPECT_FALSE(look().drained.empty());
  expect_nothing_pending(kTilesThatMove);
}

TEST_F(TileMoverTest, ADamagedCopyIsNotCopied) {
  make(2);
  const auto first = read_references(db(), *store).front().reference;
  const auto holder = ShardLog(db()).worker(first.workers[0]);
  std::size_t at = 0;
  while (shards->worker(at).id() != holder.data) ++at;
  shards->worker(at).drop(ranges_of({first.content}), kAnyEpoch);
  const std::vector<std::byte> other(first.bytes, std::byte{1});
  shards->worker(at).repair({first.content, "M", other, {}});
  leave(at);
  move();
  EXPECT_GT(shards->noticed(), 0);
  leave(at, false);
  for (std::size_t n = 0; n < kMoverWorkers; ++n) {
    shards->lose(n);
    expect_values(7);
    shards->find_again(n);
  }
}

// Stops everything at each step in turn.
TEST_F(TileMoverTest, WhereverAMoveIsInterruptedNothingIsLostOrLeftOver) {
  for (const int replicas : {1, 2}) {
    bool stopped = true;
    for (int step = 0; stopped; ++step) {
      start_anew();
      make(replicas);
      leave(0);
      shards->stop_at(step);
      try {
        move(60);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::WorkerLost);
      }
      stopped = shards->has_stopped();
      restart();
      expect_values(7);
      move();
      EXPECT_EQ(shards->worker(0).usage().contents, 0) << "step " << step;
      expect_values(7);
      ShardedContents::of(db())->settle();
      expect_nothing_pending(replicas * kTilesThatMove);
    }
  }
}

// Two movers of one file, as two processes have them.
TEST_F(TileMoverTest, TwoMoversDoNoHarm) {
  make(2);
  leave(0);
  DatabaseFile second_file(scratch->file("m.db"));
  second_file.use_shards(shards);
  TileMover second(second_file);
  const auto census = look();
  const auto workers = shards->workers();
  const auto same = second.look([this](const ShardWorker& worker) { return place_of(worker); }, workers, 1 << 20);
  MovedTiles done;
  for (std::size_t next = 0; next < census.plan.moves.size();) next += mover->move_some(census, next, 100, done);
  for (std::size_t next = 0; next < same.plan.moves.size();) next += second.move_some(same, next, 100, done);
  own->settle_shards();
  second_file.settle_shards();
  expect_values(7);
  move();
  expect_values(7);
  expect_nothing_pending(2 * kTilesThatMove);
}

}  // namespace
}  // namespace eindb
