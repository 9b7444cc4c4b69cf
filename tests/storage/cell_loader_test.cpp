// Cells in any order become tiles: compared with a dense oracle, with memory limits that force every path of the
// loader.

#include "storage/cells/cell_loader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "storage/cells/cell_locator.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/open_tiles.hpp"
#include "tensor/dense_tensor.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using Key = std::vector<std::int64_t>;

TEST(CellLocator, PositionsCountTheCellsOfOneTileAfterTheOther) {
  for (const auto& [extents, parts] : std::vector<std::pair<Key, Partition>>{{{2, 4}, {1, 2}},
                                                                             {{7}, {3}},
                                                                             {{5, 7, 4}, {2, 3, 4}},
                                                                             {{}, {}},
                                                                             {{1, 1, 9}, {1, 1, 2}},
                                                                             {{70001, 2}, {70000, 1}}}) {
    const TileGrid grid{Shape(extents), parts};
    CellLocator locator(grid);
    std::int64_t position = 0;
    for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
      const auto begin = grid.tile_begin(grid.key_of(id));
      const auto shape = grid.tile_shape(grid.key_of(id));
      Key index(grid.rank(), 0);
      std::int64_t offset = 0;
      do {
        Key key(begin);
        for (std::size_t d = 0; d < key.size(); ++d) key[d] += index[d];
        const auto place = locator.locate(key);
        ASSERT_EQ(place.tile_id, id);
        ASSERT_EQ(place.offset, offset);
        ASSERT_EQ(place.position(), position);
        ASSERT_EQ(locator.key_at(position), key);
        const auto back = locator.at(position);
        ASSERT_EQ(back.place.tile_id, id);
        ASSERT_EQ(back.place.offset, offset);
        ASSERT_EQ(back.size, shape.element_count());
        ++offset;
        ++position;
      } while (next_index(index, shape.extents()));
    }
  }
}

TEST(CellLocator, LargeShapesDoNotOverflow) {
  const TileGrid grid(Shape({std::int64_t{1} << 31U, std::int64_t{1} << 31U}), {std::int64_t{1} << 20U, 1 << 10});
  CellLocator locator(grid);
  const Key last{(std::int64_t{1} << 31U) - 1, (std::int64_t{1} << 31U) - 1};
  EXPECT_EQ(locator.locate(last).position(), (std::int64_t{1} << 62U) - 1);
  EXPECT_EQ(locator.key_at((std::int64_t{1} << 62U) - 1), last);
  EXPECT_FALSE(locator.outside(last));
  EXPECT_EQ(locator.outside(Key{0, std::int64_t{1} << 31U}), 1U);
  EXPECT_EQ(locator.outside(Key{-1, 0}), 0U);
}

struct Case {
  Key extents;
  Partition parts;
  std::int64_t memory = 1 << 20;
  double density = 0.5;
};

class CellLoaderTest : public ::testing::Test {
 protected:
  /// Every cell with probability `density`; one in ten is given as zero.
  std::vector<KeyedCell> random_cells(const Shape& shape, double density, bool complex = false) {
    std::vector<KeyedCell> cells;
    Key index(shape.rank(), 0);
    std::uniform_real_distribution<double> uniform(-1, 1);
    do {
      if (std::abs(uniform(random)) >= density) continue;
      const auto value = static_cast<std::int64_t>(random() % 1000);
      cells.push_back({.key = index, .value = value < 100 ? 0 : value, .line = 0});
      if (complex) cells.back().value = std::complex<double>(uniform(random), uniform(random));
    } while (next_index(index, shape.extents()));
    return cells;
  }

  void number(std::vector<KeyedCell>& cells) {
    for (std::size_t n = 0; n < cells.size(); ++n) cells[n].line = static_cast<std::int64_t>(n + 1);
  }

  CellLoader::Statistics load(const std::vector<KeyedCell>& cells, const TileStore& store, std::int64_t memory,
                              bool distinct = false) {
    SqliteTransaction transaction(connection);
    store.create(connection);
    CellLoader::Statistics statistics;
    {
      CellLoader loader(connection, store, cancellation,
                        {.memory = memory,
                         .spill_directory = scratch.file(""),
                         .base = 0,
                         .distinct_keys = distinct,
                         .place = [](std::int64_t line) { return "line " + std::to_string(line); }});
      for (const auto& cell : cells) loader.add(cell);
      loader.finish();
      statistics = loader.statistics();
    }
    transaction.commit();
    return statistics;
  }

  template <class T>
  void expect_cells(const std::vector<KeyedCell>& cells, const TileStore& store) {
    auto expected = Tile::zeros(dtype_of<T>, store.grid().shape());
    const auto strides = store.grid().shape().row_major_strides();
    for (const auto& cell : cells) {
      const auto offset = std::inner_product(cell.key.begin(), cell.key.end(), strides.begin(), std::int64_t{0});
      expected.template mutable_data<T>()[offset] = *to_element<T>(cell.value);
    }
    std::vector<TilePtr> tiles;
    for (std::int64_t id = 0; id < store.grid().tile_count(); ++id) tiles.push_back(store.read(connection, id));
    const auto actual = assemble(tiles, store.grid(), dtype_of<T>);
    EXPECT_TRUE(std::ranges::equal(actual.bytes(), expected.bytes()));
    store.drop(connection);
  }

  static TileStore store_of(const Case& c, DType type = DType::Float64) {
    std::vector<std::string> labels;
    for (std::size_t d = 0; d < c.extents.size(); ++d) labels.push_back("i" + std::to_string(d));
    return {"X", labels, type, TileGrid(Shape(c.extents), c.parts)};
  }

  ScratchDirectory scratch;
  SqliteConnection connection{scratch.file("x.db"), SqliteConnection::Access::Create};
  Cancellation cancellation;
  std::mt19937_64 random{7};
};

TEST_F(CellLoaderTest, AnyOrderAnyMemoryGivesTheSameTensor) {
  const std::vector<Case> cases{{{40, 50}, {4, 5}},           {{40, 50}, {4, 5}, 4096},
                                {{40, 50}, {40, 50}, 1024},   {{9, 8, 7}, {2, 2, 2}, 4096},
                                {{2000}, {1}, 1 << 20, 1.0},  {{2000}, {2000}, 64, 0.3},
                                {{300, 200}, {30, 1}, 65536}, {{}, {}, 1024, 1.0},
                                {{0, 5}, {1, 1}, 1024, 1.0},  {{100, 100}, {1, 10}, 65536, 1.0}};
  for (const auto& c : cases) {
    SCOPED_TRACE(bracketed(c.extents) + " cut " + bracketed(c.parts) + " in " + std::to_string(c.memory));
    auto cells =
        Shape(c.extents).element_count() == 0 ? std::vector<KeyedCell>{} : random_cells(Shape(c.extents), c.density);
    const auto store = store_of(c);
    load(cells, store, c.memory);
    expect_cells<double>(cells, store);
    std::ranges::reverse(cells);
    load(cells, store, c.memory);
    expect_cells<double>(cells, store);
    std::ranges::shuffle(cells, random);
    load(cells, store, c.memory);
    expect_cells<double>(cells, store);
    load(cells, store, c.memory, true);
    expect_cells<double>(cells, store);
  }
}

TEST_F(CellLoaderTest, EveryType) {
  const Case c{{60, 30}, {6, 3}, 8192};
  auto cells = random_cells(Shape(c.extents), 0.4);
  std::ranges::shuffle(cells, random);
  const auto check = [&](auto zero, const std::vector<KeyedCell>& given) {
    using T = decltype(zero);
    const auto store = store_of(c, dtype_of<T>);
    load(given, store, c.memory);
    expect_cells<T>(given, store);
  };
  check(float{}, cells);
  check(std::int64_t{}, cells);
  check(std::complex<float>{}, cells);
  const auto complex = random_cells(Shape(c.extents), 0.4, true);
  check(std::complex<float>{}, complex);
  check(std::complex<double>{}, complex);
}

TEST_F(CellLoaderTest, OrderDecidesTheWay) {
  const Case c{{400, 500}, {8, 10}, 1 << 20};
  const auto store = store_of(c);
  auto cells = random_cells(Shape(c.extents), 0.9);
  std::erase_if(cells, [](const auto& cell) { return cell.value == CellValue(std::int64_t{0}); });

  // Row-major order: the tiles of one band are open at the same time.
  auto statistics = load(cells, store, c.memory);
  expect_cells<double>(cells, store);
  EXPECT_EQ(statistics.tiles_opened, 80);
  EXPECT_EQ(statistics.tiles_reloaded, 0);
  EXPECT_FALSE(statistics.sorted);

  // Random order, with memory for some tiles: a few are reloaded, then the rest is sorted.
  std::ranges::shuffle(cells, random);
  statistics = load(cells, store, 200 << 10);
  expect_cells<double>(cells, store);
  EXPECT_TRUE(statistics.sorted);
  EXPECT_TRUE(statistics.spilled);
  EXPECT_LT(statistics.tiles_reloaded, 80 + 180000 / 64);

  // Random order, with memory for all tiles.
  statistics = load(cells, store, 64 << 20);
  expect_cells<double>(cells, store);
  EXPECT_EQ(statistics.tiles_opened, 80);
  EXPECT_FALSE(statistics.sorted);
}

// Few cells in each of many tiles: no tile is opened, and what is stored takes little more than the cells.
TEST_F(CellLoaderTest, SparseListsAreWrittenWithoutDenseTiles) {
  const Case c{{2000, 3000, 2500}, {40, 60, 50}, 16 << 20};
  const auto store = store_of(c);
  std::vector<KeyedCell> cells;
  for (std::int64_t n = 0; n < 3000; ++n)
    cells.push_back({.key = {n * 7 % 2000, n * n % 3000, n * 31 % 2500}, .value = n % 10 == 0 ? 0.0 : 0.5, .line = n});
  const auto statistics = load(cells, store, c.memory);
  EXPECT_EQ(statistics.tiles_opened, 0);
  EXPECT_GT(statistics.tiles_listed, 1000);
  EXPECT_LT(connection.query_integer("SELECT SUM(LENGTH(tile)) FROM eindb_tiles_X"), 3000 * 80);
  for (const auto& cell : cells) {
    CellLocator locator(store.grid());
    const auto place = locator.locate(cell.key);
    const auto tile = store.read(connection, place.tile_id);
    EXPECT_EQ(tile == nullptr ? 0.0 : tile->data<double>()[place.offset], *to_element<double>(cell.value));
  }
}

// The first cells lie in many tiles, since they come row by row; that there will be many tells how to load them.
TEST_F(CellLoaderTest, ManyExpectedCellsGoDirectlyIntoTheirTiles) {
  const Case c{{20, 80000}, {1, 800}, 64 << 20};
  auto cells = random_cells(Shape(c.extents), 1.0);
  for (const bool expected : {true, false}) {
    SqliteTransaction transaction(connection);
    const auto store = store_of(c);
    store.create(connection);
    CellLoaderOptions options{.memory = c.memory, .spill_directory = scratch.file(""), .distinct_keys = true};
    if (expected) options.expected_cells = [&](std::int64_t) { return static_cast<std::int64_t>(cells.size()); };
    CellLoader loader(connection, store, cancellation, options);
    for (const auto& cell : cells) loader.add(cell);
    loader.finish();
    EXPECT_EQ(loader.statistics().sorted, !expected);
  }
}

TEST_F(CellLoaderTest, AKeyGivenTwiceIsFoundOnEveryWay) {
  for (const std::int64_t memory : {std::int64_t{1} << 24U, std::int64_t{1} << 14U}) {
    for (int round = 0; round < 30; ++round) {
      const Case c{{60, 50}, {6, 5}};
      auto cells = random_cells(Shape(c.extents), 0.9);
      std::ranges::shuffle(cells, random);
      auto twice = cells[random() % cells.size()];
      if (round % 3 == 0) twice.value = std::int64_t{0};
      if (round % 3 == 1) twice.value = 2.5;
      cells.insert(cells.begin() + static_cast<std::ptrdiff_t>(random() % cells.size()), twice);
      number(cells);
      const auto error = error_of([&] { load(cells, store_of(c), memory); });
      EXPECT_EQ(error.kind(), ErrorKind::Value);
      EXPECT_NE(error.message().find("the key " + key_text(twice.key, 0) + " is given twice"), std::string::npos)
          << error.message();
      const auto line = std::stoll(error.message().substr(5));
      EXPECT_EQ(cells[static_cast<std::size_t>(line - 1)].key, twice.key);
    }
  }
}

TEST_F(CellLoaderTest, FaultsNameThePlace) {
  const auto fault = [&](KeyedCell cell, DType type, const std::string& message) {
    cell.line = 12;
    EXPECT_ERROR(load({cell}, store_of({{3, 4}, {1, 2}}, type), 1 << 20), ErrorKind::Value, message);
  };
  fault({.key = {3, 0}, .value = 1.0}, DType::Float64, "line 12: the key (3, 0) lies outside the shape [3, 4]");
  fault({.key = {0, -1}, .value = 1.0}, DType::Float64, "line 12: the key (0, -1) lies outside");
  fault({.key = {0, INT64_MAX}, .value = 1.0}, DType::Float64, "lies outside");
  fault({.key = {0, 0}, .value = 1.5}, DType::Int64, "line 12: INT64 cannot hold 1.5");
  fault({.key = {0, 0}, .value = 9.3e18}, DType::Int64, "INT64 cannot hold 9.3e+18");
  fault({.key = {0, 0}, .value = 1e39}, DType::Float32, "FLOAT32 cannot hold 1e+39");
  fault({.key = {0, 0}, .value = std::complex<double>(1, 2)}, DType::Float64, "FLOAT64 cannot hold 1.0+2.0j");
  EXPECT_ERROR(load({}, store_of({{1000, 1000}, {1, 1}}), 1 << 20), ErrorKind::MemoryLimit, "8000000 bytes");
}

TEST_F(CellLoaderTest, LoadingCanBeCancelled) {
  const auto cells = random_cells(Shape({200, 200}), 1.0);
  cancellation.request();
  EXPECT_ERROR(load(cells, store_of({{200, 200}, {2, 2}}), 1 << 20), ErrorKind::Cancelled, "cancelled");
}

TEST_F(CellLoaderTest, OpenTilesChangeWhatIsStored) {
  const auto store = store_of({{10}, {10}});
  SqliteTransaction transaction(connection);
  store.create(connection);
  for (int round = 0; round < 2; ++round) {
    OpenTiles tiles(connection, store, 0, round == 0 ? OpenTiles::Content::Zeros : OpenTiles::Content::Stored);
    for (const std::int64_t id : {3, 7, 3, 0}) tiles.open(id).mutable_data<double>()[0] += 1;
    tiles.flush();
    EXPECT_EQ(tiles.written(), 4);
    EXPECT_EQ(tiles.read(), round == 0 ? 1 : 4);
  }
  EXPECT_EQ(*store.read(connection, 3)->data<double>(), 4);
  EXPECT_EQ(*store.read(connection, 0)->data<double>(), 2);
  EXPECT_EQ(store.read(connection, 1), nullptr);
  StoredTileIds ids(connection, store);
  EXPECT_EQ(ids.next(0), 0);
  EXPECT_EQ(ids.next(1), 3);
  EXPECT_EQ(ids.next(4), 7);
  EXPECT_EQ(ids.next(8), std::nullopt);
  transaction.commit();
}

}  // namespace
}  // namespace eindb
