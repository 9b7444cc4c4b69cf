// The catalog: names, atomic changes, and database files with invalid content.

#include "catalog/catalog.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "catalog/tensor_tables.hpp"
#include "storage/sqlite/schema_version.hpp"
#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/database_file.hpp"
#include "storage/tiles/tile_writer.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

using Names = std::vector<std::string>;

class CatalogTest : public ::testing::Test {
 protected:
  template <class Action>
  void change(Action&& action) {
    SqliteTransaction transaction(db);
    std::forward<Action>(action)();
    transaction.commit();
  }

  void create(const std::string& name) {
    change([&] { catalog.create(name, DType::Float32, {"i", "j"}, TileGrid(Shape({4, 6}), {2, 3})); });
  }

  /// The error of a failing change, which is rolled back.
  template <class Action>
  Error change_error(Action&& action) {
    return error_of([&] { change(std::forward<Action>(action)); });
  }

  DatabaseFile database{":memory:"};
  SqliteConnection& db = database.connection();
  Catalog catalog{db};
};

TEST_F(CatalogTest, WhatIsCreatedIsFound) {
  EXPECT_FALSE(catalog.find("A").has_value());
  create("MyTensor");
  const auto info = catalog.get("mytensor");
  EXPECT_EQ(info.name, "MyTensor");
  EXPECT_EQ(info.dtype, DType::Float32);
  EXPECT_EQ(info.labels, (Names{"i", "j"}));
  EXPECT_EQ(info.grid, TileGrid(Shape({4, 6}), {2, 3}));
  EXPECT_EQ(info.dense_bytes(), 96);
  EXPECT_EQ(info.store().read(db, 5), nullptr);
}

TEST_F(CatalogTest, ScalarsEmptyTensorsAndOddNames) {
  change([&] {
    catalog.create("s", DType::Int64, {}, TileGrid());
    catalog.create("empty", DType::Complex128, {"I", "i"}, TileGrid(Shape({0, 5}), {1, 5}));
    catalog.create("it's \"odd\"; DROP TABLE x", DType::Float64, {"tile", "a b"}, TileGrid(Shape({1, 1}), {1, 1}));
  });
  EXPECT_EQ(catalog.get("S").grid.rank(), 0U);
  EXPECT_EQ(catalog.get("empty").labels, (Names{"I", "i"}));
  EXPECT_EQ(catalog.get("it's \"odd\"; DROP TABLE x").labels[0], "tile");
  EXPECT_EQ(catalog.names(), (Names{"empty", "it's \"odd\"; DROP TABLE x", "s"}));
}

TEST_F(CatalogTest, AnUnknownNameSuggestsTheNearest) {
  EXPECT_NE(error_of([&] { catalog.get("A"); }).hint().find("no tensors yet"), std::string::npos);
  create("weights");
  const auto error = error_of([&] { catalog.get("wieghts"); });
  EXPECT_EQ(error.kind(), ErrorKind::UnknownName);
  EXPECT_EQ(error.hint(), "did you mean weights?");
}

TEST_F(CatalogTest, ANameIsTakenOnce) {
  create("A");
  const auto again = [&](const std::string& name) {
    return change_error([&] { catalog.create(name, DType::Float32, {}, TileGrid()); }).kind();
  };
  EXPECT_EQ(again("a"), ErrorKind::DuplicateName);
  db.execute("CREATE TABLE plain(x); CREATE VIEW seen AS SELECT 1");
  EXPECT_EQ(again("Plain"), ErrorKind::DuplicateName);
  EXPECT_EQ(again("SEEN"), ErrorKind::DuplicateName);
}

TEST_F(CatalogTest, NamesThatCannotBe) {
  const auto kind = [&](const std::string& name) {
    return change_error([&] { catalog.create(name, DType::Float32, {}, TileGrid()); }).kind();
  };
  EXPECT_EQ(kind(""), ErrorKind::Value);
  EXPECT_EQ(kind("Eindb_x"), ErrorKind::Value);
  EXPECT_EQ(kind("sqlite_x"), ErrorKind::Value);
  EXPECT_EQ(kind(std::string("a\0b", 3)), ErrorKind::Value);
  EXPECT_EQ(kind(std::string(kMaxNameLength + 1, 'x')), ErrorKind::Value);
  const auto label = [&](const std::string& text) {
    return change_error([&] { catalog.create("L", DType::Float32, {text}, TileGrid(Shape({1}), {1})); }).kind();
  };
  EXPECT_EQ(label(""), ErrorKind::Label);
  EXPECT_EQ(label(std::string(kMaxNameLength + 1, 'x')), ErrorKind::Label);
  EXPECT_TRUE(catalog.names().empty());
  create(std::string(kMaxNameLength, 'x'));
}

TEST_F(CatalogTest, SizesThatOverflow) {
  const Shape shape({std::int64_t{1} << 61});
  const auto error = change_error([&] { catalog.create("A", DType::Float64, {"i"}, TileGrid(shape, {1})); });
  EXPECT_EQ(error.kind(), ErrorKind::Shape);
  const Shape deep(std::vector<std::int64_t>(65, 1));
  const auto rank =
      change_error([&] { catalog.create("A", DType::Float64, Names(65, "i"), TileGrid(deep, Partition(65, 1))); });
  EXPECT_EQ(rank.kind(), ErrorKind::Unsupported);
}

TEST_F(CatalogTest, DropAndRename) {
  create("A");
  create("B");
  change([&] { catalog.rename("a", "C"); });
  EXPECT_EQ(catalog.names(), (Names{"B", "C"}));
  EXPECT_EQ(catalog.get("C").store().read(db, 0), nullptr);
  change([&] { catalog.rename("C", "c"); });  // only the case
  EXPECT_EQ(catalog.get("C").name, "c");
  EXPECT_EQ(change_error([&] { catalog.rename("B", "C"); }).kind(), ErrorKind::DuplicateName);
  change([&] { catalog.drop("b"); });
  EXPECT_EQ(catalog.names(), Names{"c"});
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM eindb_dimensions"), 2);
  EXPECT_EQ(change_error([&] { catalog.drop("b"); }).kind(), ErrorKind::UnknownName);
}

TEST(CatalogOfTwo, ChangesOfAnotherConnectionAreSeen) {
  const ScratchDirectory scratch;
  DatabaseFile one(scratch.file("a.db"));
  DatabaseFile two(scratch.file("a.db"));
  Catalog mine(one.connection());
  Catalog theirs(two.connection());
  const auto change_theirs = [&](auto&& action) {
    SqliteTransaction transaction(two.connection());
    action();
    transaction.commit();
  };
  EXPECT_TRUE(mine.names().empty());
  auto last = mine.version();
  const auto changed = [&] { return std::exchange(last, mine.version()) != last; };
  change_theirs([&] { theirs.create("A", DType::Int64, {"i"}, TileGrid(Shape({2}), {1})); });
  EXPECT_TRUE(mine.find("a").has_value());
  EXPECT_TRUE(changed());
  change_theirs([&] { theirs.rename("A", "B"); });
  EXPECT_FALSE(mine.find("A").has_value());
  EXPECT_EQ(mine.names(), Names{"B"});
  EXPECT_TRUE(changed());
  change_theirs([&] { theirs.drop("B"); });
  EXPECT_TRUE(mine.list().empty());
}

TEST_F(CatalogTest, ABrokenViewOfAPersonDoesNotStopARename) {
  create("A");
  db.execute("CREATE VIEW broken AS SELECT * FROM nowhere");
  change([&] { catalog.rename("A", "B"); });
  EXPECT_EQ(catalog.names(), Names{"B"});
}

TEST_F(CatalogTest, AFailureHalfWayLeavesTheOldState) {
  create("A");
  const auto before = catalog.version();
  try {
    change([&] {
      catalog.drop("A");
      create("B");
      throw std::runtime_error("killed");
    });
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(catalog.names(), Names{"A"});
  EXPECT_EQ(catalog.get("A").store().read(db, 0), nullptr);
  EXPECT_NE(catalog.version(), before);  // a cache filled before is stale
}

TEST_F(CatalogTest, TheVersionChangesWithTheSchema) {
  auto last = catalog.version();
  const auto changed = [&] { return std::exchange(last, catalog.version()) != last; };
  EXPECT_FALSE(changed());
  create("A");
  EXPECT_TRUE(changed());
  EXPECT_FALSE(changed());
  change([&] { catalog.rename("A", "B"); });
  EXPECT_TRUE(changed());
  change([&] { catalog.drop("B"); });
  EXPECT_TRUE(changed());
}

TEST_F(CatalogTest, PublishReplacesATensor) {
  create("A");
  change([&] {
    const auto staged = catalog.stage(DType::Int64, {"k"}, TileGrid(Shape({5}), {5}), 0);
    EXPECT_EQ(catalog.names(), Names{"A"});  // staged tensors are not listed
    auto one = Tile::zeros(DType::Int64, Shape({1}));
    one.mutable_data<std::int64_t>()[0] = 7;
    TileWriter(db, staged.store()).write(3, one);
    EXPECT_EQ(catalog.publish(staged, "A").name, "A");
  });
  const auto info = catalog.get("A");
  EXPECT_EQ(info.dtype, DType::Int64);
  EXPECT_EQ(*info.store().read(db, 3)->data<std::int64_t>(), 7);
}

TEST_F(CatalogTest, ListTellsWhatIsStored) {
  create("A");
  change([&] {
    auto tile = Tile::zeros(DType::Float32, Shape({2, 2}));
    tile.mutable_data<float>()[0] = 1;
    TileWriter writer(db, catalog.get("A").store());
    writer.write(0, tile);
    writer.write(4, tile);
  });
  const auto list = catalog.list();
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].info.grid.tile_count(), 6);
  EXPECT_EQ(list[0].stored_tiles, 2);
  EXPECT_EQ(list[0].stored_bytes, 2 * (24 + 16 + 16));
}

TEST_F(CatalogTest, ASchemaVersionIsKeptInTheFile) {
  create("A");
  EXPECT_EQ(db.query_integer("SELECT value FROM eindb_settings WHERE name = 'schema_version'"), kSchemaVersion);
}

TEST_F(CatalogTest, DamagedEntriesAreCorrupt) {
  create("A");
  const auto fault = [&](const std::string& sql) {
    SqliteTransaction undone(db);
    db.execute(sql);
    const auto error = error_of([&] { catalog.find("A"); });
    EXPECT_EQ(error.kind(), ErrorKind::Corrupt) << sql;
    return error.message();
  };
  const auto dimension = [&](const std::string& change) { return fault("UPDATE eindb_dimensions SET " + change); };
  EXPECT_NE(fault("UPDATE eindb_tensors SET dtype = 'FLOAT7'").find("type is unknown"), std::string::npos);
  EXPECT_NE(fault("DELETE FROM eindb_dimensions WHERE position = 0").find("dimension 0 is missing"), std::string::npos);
  EXPECT_NE(fault("UPDATE eindb_dimensions SET position = 7 WHERE position = 1").find("dimension 1 is missing"),
            std::string::npos);
  EXPECT_NE(dimension("extent = -1").find("extent -1"), std::string::npos);
  EXPECT_NE(dimension("parts = 0").find("is cut into 0"), std::string::npos);
  EXPECT_NE(dimension("parts = 7").find("is cut into 7"), std::string::npos);
  EXPECT_NE(dimension("extent = 9223372036854775807").find("overflows"), std::string::npos);
  EXPECT_NE(dimension("extent = 9223372036854775807, parts = 9223372036854775807").find("more tiles"),
            std::string::npos);
  EXPECT_NE(dimension("extent = 'four'").find("holds no integer"), std::string::npos);
  EXPECT_NE(dimension("extent = 4.5").find("holds no integer"), std::string::npos);
  EXPECT_NE(dimension("label = ''").find("label"), std::string::npos);
  EXPECT_NE(dimension("label = x'00'").find("holds no text"), std::string::npos);
  EXPECT_NE(fault("DROP TABLE eindb_tiles_A").find("table of tiles is missing"), std::string::npos);
  EXPECT_NE(fault("DROP TABLE eindb_tiles_A; CREATE TABLE eindb_tiles_A(x)").find("missing"), std::string::npos);
  EXPECT_NE(
      fault("DROP TABLE eindb_tiles_A; CREATE VIEW eindb_tiles_A AS SELECT 1 AS tile_id, 2 AS tile").find("missing"),
      std::string::npos);
  EXPECT_NE(fault("WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) INSERT INTO "
                  "eindb_dimensions SELECT tensor_id, i, 'l', 1, 1 FROM n, eindb_tensors")
                .find("more than 64 dimensions"),
            std::string::npos);
  const auto edge = [&](const std::string& position, const std::string& size) {
    return fault("CREATE TABLE eindb_edges (tensor_id, position, edge); INSERT INTO eindb_edges SELECT tensor_id, " +
                 position + ", " + size + " FROM eindb_tensors");
  };
  EXPECT_NE(edge("2", "3").find("dimension 2 has parts of 3"), std::string::npos);
  EXPECT_NE(edge("-1", "3").find("dimension -1 has parts of 3"), std::string::npos);
  EXPECT_NE(edge("0", "0").find("dimension 0 has parts of 0"), std::string::npos);
  EXPECT_NE(edge("0", "1").find("parts of 1"), std::string::npos);
  EXPECT_NE(edge("0", "9223372036854775807").find("has 2 parts of"), std::string::npos);
  EXPECT_NE(fault("UPDATE eindb_dimensions SET parts = 1; CREATE TABLE eindb_edges (tensor_id, position, edge); INSERT "
                  "INTO eindb_edges SELECT tensor_id, 0, 9223372036854775807 FROM eindb_tensors")
                .find("larger than a row"),
            std::string::npos);
  EXPECT_TRUE(catalog.find("A").has_value());
}

TEST_F(CatalogTest, StatisticsThatCannotBeTrueAreAbsent) {
  create("A");
  EXPECT_FALSE(catalog.statistics(catalog.get("A")));
  change([&] { catalog.put_statistics(catalog.get("A"), 5, {{3, 2}, {4, 2}}); });
  const auto found = catalog.statistics(catalog.get("A"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cells, 5);
  EXPECT_EQ(found->spread, (CellSpread{{3, 2}, {4, 2}}));
  for (const std::string sql :
       {"UPDATE eindb_statistics SET cells = -1", "UPDATE eindb_statistics SET cells = 25",
        "UPDATE eindb_statistics SET cells = 7", "UPDATE eindb_statistics SET cells = 0",
        "UPDATE eindb_statistics SET cells = 'five'", "UPDATE eindb_statistics SET sampled = x'00'",
        "UPDATE eindb_statistics SET sampled = -1.0", "UPDATE eindb_statistics SET sampled = 9e999",
        "UPDATE eindb_degrees SET indices = 0", "UPDATE eindb_degrees SET indices = 9223372036854775807",
        "UPDATE eindb_degrees SET degree = 6", "UPDATE eindb_degrees SET degree = 'two'",
        "UPDATE eindb_degrees SET degree = 1.5", "UPDATE eindb_degrees SET position = position + 2",
        "DELETE FROM eindb_degrees WHERE position = 1",
        "INSERT INTO eindb_degrees SELECT tensor_id, 2, 3, 2 FROM eindb_tensors", "DROP TABLE eindb_degrees",
        "DROP TABLE eindb_statistics; CREATE VIEW eindb_statistics AS SELECT 1 AS tensor_id, 5 AS cells, NULL AS "
        "sampled",
        "DROP TABLE eindb_statistics; CREATE TABLE eindb_statistics (x)"}) {
    SqliteTransaction undone(db);
    db.execute(sql);
    EXPECT_FALSE(catalog.statistics(catalog.get("A"))) << sql;
  }
  EXPECT_TRUE(catalog.statistics(catalog.get("A")));
  change([&] { catalog.rename("A", "B"); });
  EXPECT_TRUE(catalog.statistics(catalog.get("B")));
  change([&] { catalog.drop("B"); });
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM eindb_statistics"), 0);
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM eindb_degrees"), 0);
}

TEST_F(CatalogTest, ATemporaryTensorHidesAnother) {
  TensorTables tables(db, catalog);  // has the module of the virtual tables
  create("A");
  change([&] { catalog.create("a", DType::Int64, {"n"}, TileGrid(Shape({5}), {1}), 0, kTemporarySchema); });
  const auto found = catalog.get("A");
  EXPECT_TRUE(found.is_temporary());
  EXPECT_EQ(found.name, "a");
  const auto hidden = catalog.get("main.a");
  EXPECT_FALSE(hidden.is_temporary());
  EXPECT_EQ(hidden.name, "main.A");
  EXPECT_EQ(hidden.own_name(), "A");
  EXPECT_EQ(catalog.get(hidden.name).dtype, DType::Float32);
  EXPECT_EQ(catalog.get("TEMP.a").name, "a");
  EXPECT_EQ(catalog.names(), (Names{"a", "main.A"}));
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM a"), 5);

  change([&] { catalog.rename("A", "B"); });
  EXPECT_EQ(catalog.get("A").name, "A");
  EXPECT_EQ(catalog.get("main.A").name, "A");
  EXPECT_EQ(catalog.names(), (Names{"A", "B"}));
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM temp.B"), 5);

  change([&] { catalog.publish(catalog.stage(DType::Int64, {"n"}, TileGrid(Shape({7}), {1}), 0, "temp"), "b"); });
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM b"), 7);
  change([&] { catalog.drop("B"); });
  EXPECT_FALSE(catalog.find("B").has_value());
  EXPECT_EQ(db.query_integer("SELECT COUNT(*) FROM temp.sqlite_schema WHERE tbl_name NOT LIKE 'eindb%'"), 0);
}

TEST_F(CatalogTest, TemporaryTensorsAreOfTheirConnectionAndTransaction) {
  TensorTables tables(db, catalog);
  try {
    change([&] {
      catalog.create("T", DType::Int64, {"n"}, TileGrid(Shape({5}), {1}), 0, kTemporarySchema);
      EXPECT_TRUE(catalog.find("T").has_value());
      throw std::runtime_error("undone");
    });
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(catalog.find("T").has_value());
  EXPECT_EQ(error_of([&] { db.query_integer("SELECT COUNT(*) FROM T"); }).kind(), ErrorKind::Sql);
}

TEST_F(CatalogTest, ANameWithAPointIsNotConfused) {
  TensorTables tables(db, catalog);
  create("temp.T");
  EXPECT_EQ(catalog.get("temp.T").name, "temp.T");
  change([&] { catalog.create("T", DType::Int64, {}, TileGrid(), 0, kTemporarySchema); });
  EXPECT_EQ(catalog.get("T").dtype, DType::Int64);
  EXPECT_EQ(error_of([&] { catalog.find("temp.T"); }).kind(), ErrorKind::DuplicateName);
}

TEST_F(CatalogTest, TensorsOfAttachedDatabasesHaveTheirSchema) {
  const ScratchDirectory scratch;
  const auto make = [&](const std::string& file, const std::vector<std::string>& names) {
    DatabaseFile other(scratch.file(file));
    Catalog its(other.connection());
    SqliteTransaction transaction(other.connection());
    for (const auto& name : names) its.create(name, DType::Int64, {"n"}, TileGrid(Shape({5}), {1}));
    transaction.commit();
  };
  make("one.db", {"A", "B"});
  make("two.db", {"B", "C"});
  create("A");
  const auto before = catalog.version();
  database.attach(scratch.file("one.db"), "One");
  database.attach(scratch.file("two.db"), "two");
  EXPECT_NE(catalog.version(), before);
  EXPECT_EQ(catalog.names(), (Names{"A", "One.A", "One.B", "two.B", "two.C"}));
  EXPECT_EQ(catalog.own_names(), Names{"A"});
  EXPECT_EQ(catalog.list().size(), 5U);
  EXPECT_EQ(catalog.get("A").schema, "main");
  EXPECT_EQ(catalog.get("one.a").name, "One.A");
  EXPECT_TRUE(catalog.get("one.a").is_foreign());
  EXPECT_EQ(catalog.get("one.a").own_name(), "A");
  EXPECT_EQ(catalog.get("B").name, "One.B");
  EXPECT_EQ(catalog.get("C").name, "two.C");
  EXPECT_FALSE(catalog.find_own("B").has_value());
  EXPECT_FALSE(catalog.find("one.C").has_value());
  EXPECT_EQ(catalog.get("two.C").store().read(db, 0), nullptr);

  make("one.db", {"D"});
  EXPECT_EQ(catalog.get("D").name, "One.D");
  create("B");
  EXPECT_EQ(catalog.get("B").name, "B");
  database.connection().detach("ONE");
  EXPECT_FALSE(catalog.find("D").has_value());
  EXPECT_EQ(catalog.names(), (Names{"A", "B", "two.B", "two.C"}));
  EXPECT_NE(error_of([&] { catalog.get("one.A"); }).hint().find("no database is attached as one"), std::string::npos);

  create("two.C");
  EXPECT_EQ(error_of([&] { catalog.find("two.C"); }).kind(), ErrorKind::DuplicateName);
}

TEST_F(CatalogTest, TablesThatOnlyLookLikeTheCatalog) {
  db.execute("CREATE TABLE eindb_tensors(other)");
  EXPECT_FALSE(catalog.find("A").has_value());
  EXPECT_TRUE(catalog.list().empty());
}

}  // namespace
}  // namespace eindb
