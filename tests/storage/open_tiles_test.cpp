// Elements of tiles are set, added to and cleared at random, as cells and as dense values, under every memory limit:
// compared with an array.

#include "storage/tiles/open_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>

#include "storage/sqlite/sqlite_transaction.hpp"
#include "tensor/dense_tensor.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class OpenTilesTest : public ::testing::Test {
 protected:
  ScratchDirectory scratch;
  SqliteConnection connection{scratch.file("a.db"), SqliteConnection::Access::Create};
  std::mt19937_64 random{11};
  const TileStore store{"X", {"i", "j"}, DType::Float64, TileGrid(Shape({70, 90}), {2, 1})};

  TileFormat format(std::int64_t tile) {
    const auto label = store.label(connection, tile);
    return label ? label->format : TileFormat::Constant;
  }

  std::vector<double> stored() {
    std::vector<TilePtr> tiles;
    for (std::int64_t id = 0; id < store.grid().tile_count(); ++id) tiles.push_back(store.read(connection, id));
    const auto all = assemble(tiles, store.grid(), DType::Float64);
    return {all.data<double>(), all.data<double>() + all.shape().element_count()};
  }
};

TEST_F(OpenTilesTest, ChangesAreThoseOfAnArray) {
  const auto per_tile = std::int64_t{35} * 90;
  std::vector<double> expected(static_cast<std::size_t>(2 * per_tile), 0);
  SqliteTransaction transaction(connection);
  store.create(connection);
  for (int round = 0; round < 200; ++round) {
    // Few cells at first, many later, and none in the end.
    const auto longest = round < 120 ? 3 : 400;
    const auto kind = round > 190 ? 2 : static_cast<int>(random() % 3);
    const auto memory = std::array<std::int64_t, 3>{0, 30'000, 1 << 20}[random() % 3];
    OpenTiles tiles(connection, store, memory, round == 0 ? OpenTiles::Content::Zeros : OpenTiles::Content::Stored);
    for (int n = 0; n < 10; ++n) {
      const auto tile = static_cast<std::int64_t>(random() % 2);
      const auto count = round > 190 ? per_tile : 1 + static_cast<std::int64_t>(random() % longest);
      const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(per_tile - count + 1));
      const auto values = std::span(expected).subspan(static_cast<std::size_t>(tile * per_tile + first), count);
      if (kind == 2) {
        std::fill(values.begin(), values.end(), 0.0);
        tiles.set(tile, {first, count}, nullptr);
      } else if (kind == 1) {
        for (auto& value : values) value = static_cast<double>(random() % 3);
        tiles.set(tile, {first, count}, std::as_bytes(values).data());
      } else {
        for (auto& value : values) value += 1;
        tiles.change<double>(tile, {first, count}, [](double& element, std::int64_t) { element += 1; });
      }
    }
    tiles.flush();
    ASSERT_EQ(stored(), expected) << "round " << round;
  }
  EXPECT_EQ(store.label(connection, 0), std::nullopt);
  EXPECT_EQ(store.label(connection, 1), std::nullopt);
  transaction.commit();
}

TEST_F(OpenTilesTest, TilesBecomeDenseAndSparseAgain) {
  SqliteTransaction transaction(connection);
  store.create(connection);
  const double one = 1;
  {
    OpenTiles tiles(connection, store, 0, OpenTiles::Content::Zeros);
    tiles.set(0, {5, 1}, std::as_bytes(std::span(&one, 1)).data());
    tiles.change<double>(0, {7, 1}, [](double& element, std::int64_t) { element = 2; });
    tiles.flush();
  }
  EXPECT_EQ(format(0), TileFormat::Coordinates);
  {
    OpenTiles tiles(connection, store, 0, OpenTiles::Content::Stored);
    tiles.change<double>(0, {0, 3000}, [](double& element, std::int64_t n) { element = static_cast<double>(n) + 1; });
    EXPECT_EQ(tiles.read(), 1);
    tiles.flush();
  }
  EXPECT_EQ(format(0), TileFormat::Dense);
  {
    OpenTiles tiles(connection, store, 0, OpenTiles::Content::Stored);
    tiles.set(0, {10, 3100}, nullptr);
    tiles.flush();
  }
  EXPECT_EQ(format(0), TileFormat::Coordinates);
  EXPECT_EQ(stored()[9], 10);
  EXPECT_EQ(stored()[10], 0);
  transaction.commit();
}

}  // namespace
}  // namespace eindb
