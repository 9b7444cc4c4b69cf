// Tiles in tables: round trips, absent tiles, damaged rows, names that SQL would confuse, and interrupted transactions.

#include "storage/tiles/tile_store.hpp"

#include <gtest/gtest.h>

#include <random>

#include "storage/encoding/tile_codec.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/tiles/read_snapshot.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

TileStore store_of(const std::string& name, DType type, const Shape& shape, const Partition& partition) {
  std::vector<std::string> labels;
  for (std::size_t d = 0; d < shape.rank(); ++d) labels.push_back("l" + std::to_string(d));
  return {name, labels, type, TileGrid(shape, partition)};
}

class TileStoreTest : public ::testing::TestWithParam<const char*> {
 protected:
  ScratchDirectory scratch;
  std::string path = std::string(GetParam()) == "file" ? scratch.file("a.db") : GetParam();
  DatabaseFile database{path};
  SqliteConnection& db = database.connection();
  std::mt19937_64 random{11};

  /// Creates and fills the tensor; returns the tiles expected when reading.
  std::vector<Tile> fill(const TileStore& store) {
    SqliteTransaction transaction(db);
    store.create(db);
    std::vector<Tile> tiles;
    {
      TileWriter writer(db, store);
      for (std::int64_t id = 0; id < store.grid().tile_count(); ++id) {
        tiles.push_back(random_tile(random, store.dtype(), store.grid().tile_shape(store.grid().key_of(id))));
        writer.write(id, tiles.back());
      }
    }
    transaction.commit();
    return tiles;
  }
};

INSTANTIATE_TEST_SUITE_P(, TileStoreTest, ::testing::Values("file", ":memory:"),
                         [](const auto& tested) { return std::string(tested.param) == "file" ? "File" : "Memory"; });

TEST_P(TileStoreTest, RoundTripsRandomGrids) {
  int number = 0;
  for (const auto type : kAllTypes) {
    for (int n = 0; n < 6; ++n) {
      std::vector<std::int64_t> extents;
      Partition partition;
      for (std::uint64_t d = random() % 5; d > 0; --d) {
        extents.push_back(static_cast<std::int64_t>(random() % 9) + 1);
        partition.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(extents.back())) + 1);
      }
      const auto store = store_of("T" + std::to_string(++number), type, Shape(extents), partition);
      const auto tiles = fill(store);
      for (std::size_t id = 0; id < tiles.size(); ++id) {
        const auto read = store.read(db, static_cast<std::int64_t>(id));
        if (tiles[id].is_all_zero()) EXPECT_EQ(read, nullptr);
        else EXPECT_TRUE(read != nullptr && same_tile(*read, tiles[id]));
      }
    }
  }
}

TEST_P(TileStoreTest, LargeTilesSpanManyPages) {
  const auto store = store_of("A", DType::Float64, Shape({1024, 1024}), {2, 2});
  const auto tiles = fill(store);
  for (std::int64_t id = 0; id < 4; ++id)
    EXPECT_TRUE(same_tile(*store.read(db, id), tiles[static_cast<std::size_t>(id)]));
}

TEST_P(TileStoreTest, ZeroTilesHaveNoRow) {
  const auto store = store_of("A", DType::Float32, Shape({4}), {2});
  fill(store);
  {
    SqliteTransaction transaction(db);
    TileWriter writer(db, store);
    writer.write(1, Tile::zeros(DType::Float32, Shape({2})));
    writer.write(1, Tile::zeros(DType::Float32, Shape({2})));
    transaction.commit();
  }
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM eindb_tiles_A"), 1);
  EXPECT_EQ(store.read(db, 1), nullptr);
  // Minus zero is distinct from zero.
  auto negative = Tile::zeros(DType::Float32, Shape({2}));
  negative.mutable_data<float>()[0] = -0.0F;
  SqliteTransaction transaction(db);
  TileWriter(db, store).write(1, negative);
  transaction.commit();
  EXPECT_TRUE(same_tile(*store.read(db, 1), negative));
}

TEST_P(TileStoreTest, RowsHaveTheirKey) {
  fill(store_of("A", DType::Int64, Shape({4, 6}), {2, 3}));
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM eindb_tiles_A WHERE tile_id = l0 * 3 + l1"), 6);
}

TEST_P(TileStoreTest, LabelsThatSqlConfusesGetNumbers) {
  const std::vector<std::string> labels{"i", "I", "tile", "Tile_ID", "a\"b", "i_2", "sel ect"};
  const TileStore store("odd \"name\"", labels, DType::Float32,
                        TileGrid(Shape(std::vector<std::int64_t>(7, 2)), Partition(7, 1)));
  const auto tiles = fill(store);
  EXPECT_TRUE(same_tile(*store.read(db, 0), tiles[0]));
  constexpr std::array<std::string_view, 2> kReserved{"tile_id", "tile"};
  EXPECT_EQ(column_names(labels, kReserved),
            (std::vector<std::string>{"i", "I_2", "tile_2", "Tile_ID_2", "a\"b", "i_2_2", "sel ect"}));
}

TEST_P(TileStoreTest, RenameAndDrop) {
  const auto store = store_of("A", DType::Int64, Shape({4}), {2});
  const auto tiles = fill(store);
  SqliteTransaction transaction(db);
  store.rename(db, "B");
  const auto renamed = store_of("B", DType::Int64, Shape({4}), {2});
  EXPECT_TRUE(same_tile(*renamed.read(db, 1), tiles[1]));
  renamed.drop(db);
  transaction.commit();
  EXPECT_FALSE(db.has_table("eindb_tiles_B", {"tile"}));
}

TEST_P(TileStoreTest, AFailureHalfWayLeavesTheOldState) {
  const auto store = store_of("A", DType::Int64, Shape({4}), {2});
  const auto tiles = fill(store);
  try {
    SqliteTransaction transaction(db);
    TileWriter writer(db, store);
    writer.write(0, random_tile(random, DType::Int64, Shape({2})));
    writer.write(1, Tile::zeros(DType::Int64, Shape({2})));
    throw std::runtime_error("killed");
  } catch (const std::runtime_error&) {
  }
  for (std::int64_t id = 0; id < 2; ++id)
    EXPECT_TRUE(same_tile(*store.read(db, id), tiles[static_cast<std::size_t>(id)]));
}

TEST_P(TileStoreTest, DamagedRowsNameTensorAndKey) {
  const auto store = store_of("A", DType::Int64, Shape({2, 4}), {1, 2});
  fill(store);
  const auto after = [&](const std::string& sql) {
    db.execute(sql);
    return error_of([&] { store.read(db, 1); });
  };
  for (const char* sql :
       {"UPDATE eindb_tiles_A SET tile = x'00' WHERE tile_id = 1",
        "UPDATE eindb_tiles_A SET tile = zeroblob(72) WHERE tile_id = 1",
        "UPDATE eindb_tiles_A SET tile = 'text that is long enough for a header' WHERE tile_id = 1"}) {
    const auto error = after(sql);
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt) << sql;
    EXPECT_NE(error.message().find("tile [0, 1] of tensor A"), std::string::npos) << error.message();
  }
  EXPECT_EQ(after("UPDATE eindb_tiles_A SET tile = 5 WHERE tile_id = 1").kind(), ErrorKind::Corrupt);
  EXPECT_EQ(after("UPDATE eindb_tiles_A SET tile = NULL WHERE tile_id = 1").kind(), ErrorKind::Corrupt);
}

TEST_P(TileStoreTest, ATileBeyondTheRowLimitIsRefused) {
  const auto store = store_of("A", DType::Float64, Shape({std::int64_t{1} << 27}), {1});
  SqliteTransaction transaction(db);
  store.create(db);
  TileWriter writer(db, store);
  const auto huge = Tile::uninitialized(DType::Float64, Shape({std::int64_t{1} << 27}));  // its memory is never touched
  EXPECT_ERROR(writer.write(0, huge), ErrorKind::Unsupported, "tile [0] of tensor A");
}

TEST_P(TileStoreTest, TooManyDimensionsAreRefused) {
  EXPECT_ERROR(store_of("A", DType::Float32, Shape(std::vector<std::int64_t>(65, 1)), Partition(65, 1)),
               ErrorKind::Unsupported, "65 dimensions");
  fill(store_of("B", DType::Float32, Shape(std::vector<std::int64_t>(64, 1)), Partition(64, 1)));
}

}  // namespace
}  // namespace eindb
