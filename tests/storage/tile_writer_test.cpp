// Tiles that change from one format to another where they are stored, and tiles that are written as lists of cells.

#include "storage/tiles/tile_writer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/database_file.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

CellList cells_of(std::vector<std::uint32_t> numbers, const std::vector<double>& values) {
  CellList cells{.numbers = std::move(numbers), .values = std::vector<std::byte>(values.size() * sizeof(double))};
  std::memcpy(cells.values.data(), values.data(), cells.values.size());
  return cells;
}

class TileWriterTest : public ::testing::Test {
 protected:
  static TileStore store_of(const TileGrid& grid, FormatChoice formats = FormatChoice::Auto,
                            StoredType type = DType::Float64) {
    return {"A", {"i", "j"}, type, grid, 0, std::string(kMainSchema), formats};
  }

  std::int64_t stored_bytes() { return db.query_integer("SELECT SUM(LENGTH(tile)) FROM eindb_tiles_A"); }

  ScratchDirectory scratch;
  DatabaseFile database{scratch.file("a.db")};
  SqliteConnection& db = database.connection();
  std::mt19937_64 random{5};
};

// A part of a tile is written over a dense tile alone: what else is there has other bytes in other formats.
TEST_F(TileWriterTest, PartsAreWrittenOverTilesOfAllFormats) {
  const TileGrid grid(Shape({20, 30}), {1, 1});
  const std::array<FormatChoice, 3> choices{FormatChoice::Auto, FormatChoice::Dense, FormatChoice::Sparse};
  SqliteTransaction transaction(db);
  store_of(grid).create(db);
  auto tile = Tile::zeros(DType::Float64, grid.shape());
  tile.mutable_data<double>()[0] = 1;
  {
    TileWriter(db, store_of(grid)).write(0, tile);
    for (int round = 0; round < 400; ++round) {
      TileWriter writer(db, store_of(grid, choices[random() % 3]));
      const auto begin = static_cast<std::int64_t>(random() % 600);
      const auto end = begin + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(601 - begin));
      const auto value = static_cast<double>(random() % 4);
      for (auto n = begin; n < end; ++n)
        tile.mutable_data<double>()[n] = random() % 8 == 0 ? static_cast<double>(random()) : value;
      if (tile.is_all_zero()) tile.mutable_data<double>()[begin] = 1;
      writer.replace(0, tile, begin, std::max(end, begin + 1));
      ASSERT_TRUE(same_tile(*store_of(grid).read(db, 0), tile)) << round;
    }
  }
  transaction.commit();
}

TEST_F(TileWriterTest, AListOfCellsIsTheTileThatHasThem) {
  SqliteTransaction transaction(db);
  const auto store = store_of(TileGrid(Shape({1000, 1000}), {2, 2}));
  store.create(db);
  {
    TileWriter writer(db, store);
    writer.write(1, cells_of({0, 77, 249999}, {1.5, -0.0, 2.5}));
    writer.write(2, cells_of({5, 6}, {0.0, 0.0}));
    writer.write(3, cells_of({}, {}));
  }
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM eindb_tiles_A"), 1);
  EXPECT_LT(stored_bytes(), 100);
  auto expected = Tile::zeros(DType::Float64, Shape({500, 500}));
  expected.mutable_data<double>()[0] = 1.5;
  expected.mutable_data<double>()[77] = -0.0;
  expected.mutable_data<double>()[249999] = 2.5;
  EXPECT_TRUE(same_tile(*store.read(db, 1), expected));
  { TileWriter(db, store).write(1, cells_of({}, {})); }
  EXPECT_EQ(store.read(db, 1), nullptr);
  transaction.commit();
}

TEST_F(TileWriterTest, CellsStandInTheRoomOfTilesWithEdges) {
  SqliteTransaction transaction(db);
  const auto store = store_of(TileGrid(Shape({4, 6}), {1, 2}, {10, 4}));
  store.create(db);
  auto expected = Tile::zeros(DType::Float64, Shape({4, 2}));
  expected.mutable_data<double>()[3] = 7;
  expected.mutable_data<double>()[6] = 8;
  for (const auto formats : {FormatChoice::Dense, FormatChoice::Sparse}) {
    TileWriter(db, store_of(store.grid(), formats)).write(1, cells_of({3, 6}, {7, 8}));
    EXPECT_TRUE(same_tile(*store.read(db, 1), expected));
    TileWriter(db, store_of(store.grid(), formats)).write(1, expected);
    EXPECT_TRUE(same_tile(*store.read(db, 1), expected));
  }
  transaction.commit();
}

TEST_F(TileWriterTest, EncodingsWithScalesTakeListsToo) {
  SqliteTransaction transaction(db);
  const auto store = store_of(TileGrid(Shape({8, 32}), {1, 1}), FormatChoice::Sparse, with_encoding(Encoding::Q80));
  store.create(db);
  CellList cells{.numbers = {40}, .values = std::vector<std::byte>(sizeof(float))};
  const float value = 127;
  std::memcpy(cells.values.data(), &value, sizeof(value));
  { TileWriter(db, store).write(0, cells); }
  EXPECT_EQ(store.read(db, 0)->data<float>()[40], value);
  transaction.commit();
}

}  // namespace
}  // namespace eindb
