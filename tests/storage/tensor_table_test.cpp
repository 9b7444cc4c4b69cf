// Tensors as SQL tables. SQLite is the oracle: every query gives the same result over an ordinary table of the same
// cells.

#include "storage/cells/tensor_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <sstream>

#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tensor/dense_tensor.hpp"
#include "tests/storage/random_tile.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

/// Tiles in memory; counts the reads.
class CountingReader final : public TileReader {
 public:
  CountingReader(std::vector<TilePtr> tiles, std::int64_t kept) : tiles_(std::move(tiles)), kept_(kept) {}
  TilePtr read(std::int64_t tile_id) override {
    read_.push_back(tile_id);
    return tiles_.at(static_cast<std::size_t>(tile_id));
  }
  std::int64_t kept_bytes() const override { return kept_; }
  void attach() override { ++attached_; }
  void detach() noexcept override { --attached_; }

  /// Distinct tiles read since the last call.
  std::set<std::int64_t> take() {
    std::set<std::int64_t> out(read_.begin(), read_.end());
    read_.clear();
    return out;
  }
  std::size_t count() const { return read_.size(); }
  int attached() const { return attached_; }

 private:
  std::vector<TilePtr> tiles_;
  std::int64_t kept_;
  std::vector<std::int64_t> read_;
  int attached_ = 0;
};

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

using Rows = std::vector<std::vector<std::string>>;

std::string text_of(const SqliteValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return "r" + std::to_string(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return "'" + *text + "'";
  return std::holds_alternative<std::monostate>(value) ? "NULL" : "blob";
}

class TensorTableTest : public ::testing::Test {
 protected:
  Rows query(const std::string& sql) {
    auto user = db.prepare_user(sql);
    Rows rows;
    while (user.statement->step()) {
      auto& row = rows.emplace_back();
      for (int c = 0; c < user.statement->column_count(); ++c) row.push_back(text_of(user.statement->value(c)));
    }
    return rows;
  }
  Rows sorted_query(const std::string& sql) {
    auto rows = query(sql);
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  /// Registers the tensor as A, and stores its cells in the ordinary table T.
  void show(const DenseTensor& dense, const TileGrid& grid, std::int64_t kept = kAll) {
    std::vector<std::string> labels;
    for (std::size_t d = 0; d < grid.rank(); ++d) labels.emplace_back(1, static_cast<char>('i' + d));
    auto tiles = split(dense, grid);
    for (auto& tile : tiles)
      if (tile->is_all_zero()) tile = nullptr;
    reader = std::make_shared<CountingReader>(std::move(tiles), kept);
    tables.clear();
    tables.emplace_back(
        db, TensorTable{.name = "A", .labels = labels, .dtype = dense.dtype(), .grid = grid, .tiles = reader});
    make_ordinary(dense, labels);
  }

  /// Like show(), all zero and without the table T.
  void show_absent(const TileGrid& grid) {
    reader = std::make_shared<CountingReader>(std::vector<TilePtr>(static_cast<std::size_t>(grid.tile_count())), kAll);
    tables.clear();
    tables.emplace_back(
        db, TensorTable{.name = "A", .labels = {"i", "j"}, .dtype = DType::Float64, .grid = grid, .tiles = reader});
  }

  void make_ordinary(const DenseTensor& dense, const std::vector<std::string>& labels) {
    std::string columns;
    std::string marks;
    for (const auto& label : labels) {
      columns += label + " INTEGER, ";
      marks += "?, ";
    }
    db.execute("DROP TABLE IF EXISTS T; CREATE TABLE T (" + columns + "val REAL)");
    auto insert = db.prepare("INSERT INTO T VALUES (" + marks + "?)");
    const auto& shape = dense.shape();
    std::vector<std::int64_t> index(shape.rank(), 0);
    for (std::int64_t n = 0; n < shape.element_count(); ++n) {
      for (std::size_t d = 0; d < index.size(); ++d) insert.bind(static_cast<int>(d) + 1, index[d]);
      insert.bind(static_cast<int>(index.size()) + 1, dense.data<double>()[n]).run();
      next_index(index, shape.extents());
    }
  }

  SqliteConnection db{":memory:", SqliteConnection::Access::Create};
  std::shared_ptr<CountingReader> reader;
  std::vector<VisibleTable> tables;
};

/// Generates random conditions on labels and values, unusual ones included.
class RandomSql {
 public:
  RandomSql(std::uint64_t seed, std::size_t rank) : random_(seed), rank_(rank) {}

  std::size_t below(std::size_t n) { return random_() % n; }
  std::string label() { return std::string(1, static_cast<char>('i' + below(rank_))); }

  std::string value() {
    static const std::vector<std::string> kOdd{"1.5",
                                               "-0.5",
                                               "2.0",
                                               "'2'",
                                               "'1.5'",
                                               "' 3 '",
                                               "'x'",
                                               "''",
                                               "NULL",
                                               "x'00'",
                                               "1e300",
                                               "-1e300",
                                               "9e999",
                                               "-9e999",
                                               "'1e0'",
                                               "9223372036854775807",
                                               "-9223372036854775808",
                                               "(SELECT MAX(p) FROM o)",
                                               "(SELECT s FROM o WHERE p = 2)",
                                               "2 + 1",
                                               "-(-1)",
                                               "'0x1'",
                                               "2.9999999999999999"};
    if (below(3) == 0) return kOdd[below(kOdd.size())];
    return std::to_string(static_cast<int>(below(9)) - 1);
  }

  std::string condition(int depth = 0) {
    static const std::vector<std::string> kComparisons{"=", "<", "<=", ">", ">=", "==", "<>", " IS ", " IS NOT "};
    switch (below(depth < 2 ? 10 : 6)) {
      case 0: return label() + " BETWEEN " + value() + " AND " + value();
      case 1: return label() + " IN (" + value() + ", " + value() + ", " + value() + ")";
      case 2: return value() + kComparisons[below(5)] + label();
      case 3: return label() + (below(2) == 0 ? " IN (SELECT p FROM o)" : " IN (SELECT s FROM o)");
      case 4: return label() + (below(4) == 0 ? " IS NULL" : kComparisons[below(kComparisons.size())] + label());
      case 6: return "(" + condition(depth + 1) + " OR " + condition(depth + 1) + ")";
      case 7: return "NOT (" + condition(depth + 1) + ")";
      case 8:
      case 9: return "(" + condition(depth + 1) + " AND " + condition(depth + 1) + ")";
      case 5:
        if (below(2) == 0) return "val" + kComparisons[below(kComparisons.size())] + value();
        [[fallthrough]];
      default: return label() + kComparisons[below(kComparisons.size())] + value();
    }
  }

  std::string order() {
    std::string out;
    for (std::size_t n = 0, count = 1 + below(rank_); n < count; ++n)
      out += (n == 0 ? "" : ", ") + label() + (below(3) == 0 ? " DESC" : "");
    return out;
  }

 private:
  std::mt19937_64 random_;
  std::size_t rank_;
};

std::string over(const std::string& table, std::string sql) {
  for (auto at = sql.find('@'); at != std::string::npos; at = sql.find('@')) sql.replace(at, 1, table);
  return sql;
}

TEST_F(TensorTableTest, EveryQueryGivesWhatAnOrdinaryTableGives) {
  db.execute("CREATE TABLE o (p INTEGER, s TEXT, r REAL)");
  db.execute(
      "INSERT INTO o VALUES (0,'0',0.5),(1,'1.0',1),(2,'two',2),(3,'3',1.5),(3,NULL,NULL),(NULL,' 1',-1),(9,'2',9)");
  std::mt19937_64 random(7);
  int compared = 0;
  for (std::uint64_t tensor = 0; tensor < 30; ++tensor) {
    const auto rank = 1 + random() % 4;
    std::vector<std::int64_t> extents;
    Partition parts;
    for (std::size_t d = 0; d < rank; ++d) {
      extents.push_back(static_cast<std::int64_t>(random() % 7) + (random() % 10 == 0 ? 0 : 1));
      parts.push_back(1 + static_cast<std::int64_t>(
                              random() % static_cast<std::uint64_t>(std::max<std::int64_t>(1, extents.back()))));
    }
    const TileGrid grid(Shape(extents), parts);
    auto dense = random_tile(random, DType::Float64, grid.shape());
    for (std::int64_t n = 0; n < grid.shape().element_count() / 2; ++n) dense.mutable_data<double>()[n] = 0;
    show(dense, grid, random() % 2 == 0 ? kAll : 64);

    RandomSql sql(random(), rank);
    for (int n = 0; n < 50; ++n, ++compared) {
      const auto where = sql.condition();
      const auto key = sql.label();
      const auto order = sql.order();
      std::string keys;
      std::istringstream words(order);
      for (std::string word; words >> word;)
        if (word != "DESC" && word != "DESC,") keys += (keys.empty() ? "" : ", ") + word.substr(0, 1);
      const std::vector<std::string> unordered{
          "SELECT * FROM @ WHERE " + where,
          "SELECT COUNT(*), SUM(" + key + ") FROM @ WHERE " + where,
          "SELECT MAX(" + key + "), COUNT(*), SUM(val), MIN(val) FROM @ WHERE " + where + " GROUP BY " + keys,
          "SELECT DISTINCT " + order.substr(0, 1) + ", " + key + " FROM @ WHERE " + where,
          "SELECT o.p, x.* FROM o LEFT JOIN @ AS x ON x." + key + " = o.s AND " + where,
          "SELECT o.p, x.val FROM o LEFT JOIN @ AS x ON x." + key + " = o.p WHERE " + where,
          "SELECT o.p, x." + key + " FROM @ AS x, o WHERE x." + key + " < o.r AND " + where,
          "SELECT x.val, y.val FROM @ AS x JOIN @ AS y ON x." + key + " = y." + key + " + 1 WHERE x." + key + " > 2",
          "SELECT p, (SELECT SUM(val) FROM @ WHERE " + key + " = p) FROM o",
      };
      const auto& chosen = unordered[sql.below(unordered.size())];
      SCOPED_TRACE(chosen + " of " + grid.shape().to_string() + bracketed(parts));
      ASSERT_EQ(sorted_query(over("A", chosen)), sorted_query(over("T", chosen)));

      for (const auto& ordered :
           {"SELECT " + keys + " FROM @ WHERE " + where + " ORDER BY " + order,
            "SELECT " + keys + " FROM @ WHERE " + where + " ORDER BY " + order + " LIMIT 5 OFFSET 2",
            "SELECT " + keys + ", SUM(val) FROM @ WHERE " + where + " GROUP BY " + keys + " ORDER BY " + order}) {
        SCOPED_TRACE(ordered);
        ASSERT_EQ(query(over("A", ordered)), query(over("T", ordered)));
      }
    }
    ASSERT_EQ(reader->attached(), 0);
  }
  EXPECT_EQ(compared, 1500);
}

TEST_F(TensorTableTest, OnlyTilesThatCanMatchAreRead) {
  std::mt19937_64 random(1);
  const TileGrid grid(Shape({8, 12}), {4, 3});  // tiles of 2 x 4
  show(random_tile(random, DType::Float64, grid.shape()), grid);
  const auto tiles_of = [&](const std::string& sql) {
    query(sql);
    return reader->take();
  };
  using Ids = std::set<std::int64_t>;
  EXPECT_EQ(tiles_of("SELECT SUM(val) FROM A").size(), 12U);
  EXPECT_EQ(tiles_of("SELECT COUNT(*) FROM A"), Ids{});
  EXPECT_EQ(tiles_of("SELECT i, j FROM A WHERE i > j"), Ids{});
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE i = 5 AND j = 7"), Ids{7});
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE i = 5"), (Ids{6, 7, 8}));
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE j < 4"), (Ids{0, 3, 6, 9}));
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE j BETWEEN 3 AND 4 AND i >= 6.5"), (Ids{9, 10}));
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE i IN (0, 7) AND j = 0"), (Ids{0, 9}));
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE i = 100"), Ids{});
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE i = 1.5"), Ids{});
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE i < 0 OR j > 11"), Ids{});
  EXPECT_EQ(tiles_of("SELECT val FROM A ORDER BY i, j LIMIT 4"), Ids{0});
  EXPECT_EQ(tiles_of("SELECT val FROM A ORDER BY i DESC, j DESC LIMIT 1"), Ids{11});
  EXPECT_EQ(tiles_of("SELECT val FROM A WHERE j = 9 ORDER BY i LIMIT 1"), Ids{2});
}

TEST_F(TensorTableTest, AScanReadsEachTileOnce) {
  std::mt19937_64 random(1);
  const TileGrid grid(Shape({8, 12}), {4, 3});
  show(random_tile(random, DType::Float64, grid.shape()), grid);
  query("SELECT SUM(val) FROM A");
  EXPECT_EQ(reader->count(), 12U);
}

TEST_F(TensorTableTest, OrderIsTakenFromTheTilesWhereItIsCheap) {
  std::mt19937_64 random(1);
  const TileGrid grid(Shape({8, 12}), {4, 3});
  const auto dense = random_tile(random, DType::Float64, grid.shape());
  const auto sorts = [&](const std::string& sql) {
    const auto plan = query("EXPLAIN QUERY PLAN " + sql);
    return plan.back().back().find("TEMP B-TREE") != std::string::npos;
  };
  for (const std::int64_t kept : {kAll, std::int64_t{64}}) {
    show(dense, grid, kept);
    const bool small = kept == 64;  // one tile
    EXPECT_EQ(sorts("SELECT val FROM A ORDER BY i, j"), small);
    EXPECT_EQ(sorts("SELECT i, SUM(val) FROM A GROUP BY i"), small);
    EXPECT_FALSE(sorts("SELECT i, COUNT(*) FROM A GROUP BY i"));  // needs no tiles
    EXPECT_FALSE(sorts("SELECT val FROM A WHERE i = 3 ORDER BY j"));
    EXPECT_FALSE(sorts("SELECT val FROM A WHERE j = 3 ORDER BY i DESC"));
    EXPECT_TRUE(sorts("SELECT val FROM A ORDER BY val"));
  }
}

TEST_F(TensorTableTest, PlansShowWhatIsPushedDown) {
  std::mt19937_64 random(1);
  const TileGrid grid(Shape({8, 12}), {4, 3});
  show(random_tile(random, DType::Float64, grid.shape()), grid);
  const auto plan = query("EXPLAIN QUERY PLAN SELECT val FROM A WHERE i >= 2 AND j = 3 AND val > 0").front().back();
  EXPECT_NE(plan.find("j=?"), std::string::npos) << plan;
  EXPECT_NE(plan.find("i>=?"), std::string::npos) << plan;
  EXPECT_EQ(plan.find("val"), std::string::npos) << plan;
}

TEST_F(TensorTableTest, AScanCanBeCancelled) {
  Cancellation cancellation;
  db.watch(&cancellation);
  const TileGrid grid(Shape({1'000'000'000, 1'000'000'000}), {1, 1});
  show_absent(grid);
  cancellation.reset(std::chrono::milliseconds(50));
  EXPECT_ERROR(query("SELECT SUM(val) FROM A"), ErrorKind::Cancelled, "statement_timeout");
  cancellation.reset(std::chrono::milliseconds(50));
  EXPECT_ERROR(query("SELECT COUNT(*) FROM A WHERE val < 1"), ErrorKind::Cancelled, "statement_timeout");
  // No zero is greater than 1: absent tiles are left out as a whole, and others can be cancelled too.
  cancellation.reset(std::chrono::milliseconds(0));
  EXPECT_EQ(query("SELECT COUNT(*) FROM A WHERE val > 1").front().back(), "0");
  tables.clear();
  tables.emplace_back(db, TensorTable{.name = "A",
                                      .labels = {"i", "j"},
                                      .dtype = DType::Float64,
                                      .grid = TileGrid(grid.shape(), {1'000'000, 1'000'000}),
                                      .tiles = std::make_shared<HeldTileReader>([](std::int64_t) { return nullptr; })});
  cancellation.reset(std::chrono::milliseconds(50));
  EXPECT_ERROR(query("SELECT COUNT(*) FROM A WHERE val > 1"), ErrorKind::Cancelled, "statement_timeout");
}

TEST_F(TensorTableTest, AnErrorOfAReaderArrivesAsItIs) {
  class Failing final : public TileReader {
   public:
    TilePtr read(std::int64_t) override { throw Error(ErrorKind::Corrupt, "tile 0 is damaged"); }
    std::int64_t kept_bytes() const override { return kAll; }
  };
  tables.emplace_back(db, TensorTable{.name = "A",
                                      .labels = {"i"},
                                      .dtype = DType::Float64,
                                      .grid = TileGrid(Shape({4}), {2}),
                                      .tiles = std::make_shared<Failing>()});
  EXPECT_ERROR(query("SELECT SUM(val) FROM A"), ErrorKind::Corrupt, "tile 0 is damaged");
  EXPECT_EQ(query("SELECT COUNT(*) FROM A"), (Rows{{"4"}}));
}

TEST_F(TensorTableTest, AStatementKeepsItsTableWhenTheNameGoes) {
  std::mt19937_64 random(1);
  const TileGrid grid(Shape({8, 12}), {4, 3});
  show(random_tile(random, DType::Float64, grid.shape()), grid);
  auto select = db.prepare_user("SELECT val FROM A");
  ASSERT_TRUE(select.statement->step());
  tables.clear();
  reader.reset();
  int rows = 1;
  while (select.statement->step()) ++rows;
  EXPECT_EQ(rows, 96);
  EXPECT_ERROR(db.prepare_user("SELECT val FROM A"), ErrorKind::Sql, "no such table: A");
}

/// A stored tensor of tiles of one cell.
class StoredTileReaderTest : public ::testing::Test {
 protected:
  void create(std::int64_t tiles) {
    store.emplace("A", std::vector<std::string>{"i"}, DType::Float64, TileGrid(Shape({tiles}), {tiles}));
    SqliteTransaction transaction(db);
    store->create(db);
    transaction.commit();
  }
  void write(std::int64_t tile_id) {
    SqliteTransaction transaction(db);
    TileWriter(db, *store).write(tile_id, random_tile(random, DType::Float64, Shape({1})));
    transaction.commit();
  }

  SqliteConnection db{":memory:", SqliteConnection::Access::Create};
  std::optional<TileStore> store;
  std::mt19937_64 random{3};
};

TEST_F(StoredTileReaderTest, TilesAreKeptUntilSomethingIsWritten) {
  create(4);
  for (std::int64_t id = 0; id < 4; ++id) write(id);

  int verified = 0;
  StoredTileReader reader(db, *store, 300, [&] { ++verified; });  // room for two tiles with their overhead
  reader.attach();
  reader.begin_scan();
  const auto first = reader.read(0);
  const auto second = reader.read(1);
  EXPECT_EQ(reader.read(0), first);
  reader.read(2);  // the second tile was used least recently
  EXPECT_EQ(reader.read(0), first);
  EXPECT_NE(reader.read(1), second);

  const auto kept = reader.read(0);
  reader.begin_scan();
  EXPECT_EQ(reader.read(0), kept);
  write(3);
  reader.begin_scan();
  EXPECT_NE(reader.read(0), kept);
  const auto last = reader.read(0);
  reader.detach();
  reader.attach();
  EXPECT_NE(reader.read(0), last);
  reader.detach();
  EXPECT_EQ(verified, 2);
}

TEST_F(StoredTileReaderTest, AbsentTilesAreAskedForOnceUntilSomethingIsWritten) {
  create(100000);
  write(50000);

  StoredTileReader reader(db, *store, 300, [] {});
  reader.attach();
  reader.begin_scan();
  for (std::int64_t id = 0; id < 100000; ++id) EXPECT_EQ(reader.read(id) != nullptr, id == 50000);
  EXPECT_EQ(reader.read(7), nullptr);
  write(9);  // amid the scan
  EXPECT_EQ(reader.read(8), nullptr);
  EXPECT_NE(reader.read(9), nullptr);
  EXPECT_EQ(reader.read(10), nullptr);
  EXPECT_NE(reader.read(50000), nullptr);
  reader.detach();
}

}  // namespace
}  // namespace eindb
