// A scan of a tensor's rows gives what looking each of them up gives, whatever their formats and sizes.

#include "storage/tiles/stored_rows.hpp"

#include <gtest/gtest.h>

#include <random>

#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/tiles/tile_writer.hpp"

namespace eindb {
namespace {

class StoredRowsTest : public ::testing::Test {
 protected:
  DatabaseFile database{":memory:"};
  SqliteConnection& connection = database.connection();
  std::mt19937_64 random{5};

  // A third of the tiles is absent, others have few cells or all, in rows of up to 32 KiB.
  TileStore filled(const std::string& name, TileGrid grid) {
    TileStore store(name, {"i", "j"}, DType::Float64, std::move(grid));
    SqliteTransaction transaction(connection);
    store.create(connection);
    {
      TileWriter writer(connection, store);
      for (std::int64_t id = 0; id < store.grid().tile_count(); ++id) {
        const auto kind = random() % 6;
        if (kind < 2) continue;
        auto tile = Tile::zeros(DType::Float64, store.grid().tile_shape(store.grid().key_of(id)));
        for (std::int64_t n = 0; n < tile.shape().element_count(); ++n)
          if (random() % (kind == 2 ? 1 : kind == 3 ? 4 : 100) == 0)
            tile.mutable_data<double>()[n] = static_cast<double>(random() % 9) - 4;
        writer.write(id, tile);
      }
    }
    transaction.commit();
    return store;
  }

  void check_row(StoredRows& rows, const TileStore& store, std::int64_t id) {
    EXPECT_EQ(rows.label(), store.label(connection, id));
    const auto scanned = rows.load_cells(DType::Float64);
    const auto looked_up = store.load_cells(connection, id, DType::Float64);
    EXPECT_EQ(scanned.numbers, looked_up.numbers);
    EXPECT_EQ(scanned.values, looked_up.values);
  }
};

TEST_F(StoredRowsTest, AreThoseOfTheTable) {
  int tensors = 0;
  for (const auto& grid : {TileGrid(Shape({400, 400}), {40, 20}), TileGrid(Shape({200, 200}), {4, 4})}) {
    const auto store = filled("T" + std::to_string(tensors++), grid);
    StoredTileIds ids(connection, store);
    StoredRows rows(connection, store);
    for (auto id = ids.next(0); id; id = ids.next(*id + 1)) {
      ASSERT_EQ(rows.seek(*id), id);
      check_row(rows, store, *id);
    }
    for (int n = 0; n < 300; ++n) {
      const auto from = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(grid.tile_count()));
      const auto found = rows.seek(from);
      ASSERT_EQ(found, ids.next(from));
      if (found) check_row(rows, store, *found);
    }
    EXPECT_EQ(rows.seek(grid.tile_count()), std::nullopt);
  }
}

TEST_F(StoredRowsTest, DamagedRowsAreErrors) {
  const auto store = filled("T", TileGrid(Shape({40, 40}), {4, 4}));
  connection.execute("UPDATE eindb_tiles_T SET tile = substr(tile, 1, 9)");
  StoredRows rows(connection, store);
  const auto found = rows.seek(0);
  ASSERT_TRUE(found.has_value());
  EXPECT_THROW(rows.load_cells(DType::Float64), Error);
  connection.execute("UPDATE eindb_tiles_T SET tile = 7");
  StoredRows numbers(connection, store);
  ASSERT_EQ(numbers.seek(0), found);
  EXPECT_EQ(numbers.label(), std::nullopt);
  EXPECT_THROW(numbers.load_cells(DType::Float64), Error);
}

}  // namespace
}  // namespace eindb
