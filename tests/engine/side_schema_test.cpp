#include "engine/sql/side_schema.hpp"

#include <gtest/gtest.h>

#include <string>

#include "common/error.hpp"
#include "storage/sqlite/sqlite_connection.hpp"

namespace eindb {
namespace {

class SideSchemaTest : public ::testing::TestWithParam<bool> {};

// After some errors, a lack of memory among them, SQLite has rolled back all transactions by itself.
TEST_P(SideSchemaTest, TellsTheFirstErrorWhereSqliteHasRolledBack) {
  SqliteConnection connection(":memory:", SqliteConnection::Access::Create);
  SideSchemas schemas;
  if (GetParam()) connection.execute("BEGIN");
  try {
    schemas.show({.name = "side", .script = "CREATE TABLE side.t (a); ROLLBACK; SELECT * FROM missing"}, connection,
                 [] {});
    FAIL() << "the script names a table that does not exist";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("missing"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(connection.in_transaction());
  schemas.show({.name = "side", .script = "CREATE TABLE side.t (a); INSERT INTO side.t VALUES (7)"}, connection, [] {});
  EXPECT_EQ(connection.query_integer("SELECT a FROM side.t"), 7);
}

INSTANTIATE_TEST_SUITE_P(Depths, SideSchemaTest, ::testing::Bool());

}  // namespace
}  // namespace eindb
