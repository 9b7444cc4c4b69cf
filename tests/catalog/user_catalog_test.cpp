// Users in the database: names, rolled-back changes, and foreign tables.

#include "catalog/user_catalog.hpp"

#include <gtest/gtest.h>

#include "storage/sqlite/sqlite_transaction.hpp"
#include "storage/tiles/database_file.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class UserCatalogTest : public ::testing::Test {
 protected:
  void put(const StoredUser& user) {
    SqliteTransaction transaction(db);
    users.put(user);
    transaction.commit();
  }

  DatabaseFile database{":memory:"};
  SqliteConnection& db = database.connection();
  UserCatalog users{db};
};

TEST_F(UserCatalogTest, NamesMatchInAnyCase) {
  EXPECT_TRUE(users.empty());
  EXPECT_TRUE(users.list().empty());
  EXPECT_FALSE(users.find("ann").has_value());
  const StoredUser ann{.name = "Ann", .verifier = "v", .role = UserRole::ReadOnly};
  const StoredUser bob{.name = "bob", .verifier = "w", .role = UserRole::ReadWrite};
  put(ann);
  put(bob);
  EXPECT_FALSE(users.empty());
  EXPECT_EQ(users.find("ANN"), ann);
  EXPECT_EQ(users.list(), (std::vector{ann, bob}));
  put({.name = "ann", .verifier = "x", .role = UserRole::ReadWrite});
  EXPECT_EQ(users.find("ann"), (StoredUser{.name = "Ann", .verifier = "x", .role = UserRole::ReadWrite}))
      << "the name stays as it was made";
  SqliteTransaction transaction(db);
  EXPECT_TRUE(users.drop("aNN"));
  EXPECT_FALSE(users.drop("ann"));
  transaction.commit();
  EXPECT_EQ(users.list(), std::vector{bob});
}

TEST_F(UserCatalogTest, ChangesAreUndoneWithTheirTransaction) {
  {
    SqliteTransaction undone(db);
    users.put({.name = "ann", .verifier = "v", .role = UserRole::ReadOnly});
    users.set_secret("s");
  }
  EXPECT_TRUE(users.empty());
  EXPECT_FALSE(users.secret().has_value());
}

TEST_F(UserCatalogTest, TheSecretIsBytes) {
  const std::string secret("\0\xff\0", 3);
  {
    SqliteTransaction transaction(db);
    users.set_secret(secret);
    transaction.commit();
  }
  EXPECT_EQ(users.secret(), secret);
}

TEST_F(UserCatalogTest, DamageIsNotTakenForAnEmptyTable) {
  db.execute("CREATE TABLE eindb_users(name, password)");
  EXPECT_ERROR(users.empty(), ErrorKind::Corrupt, "no table of eindb's");
  EXPECT_ERROR(users.find("ann"), ErrorKind::Corrupt, "no table of eindb's");
  db.execute("DROP TABLE eindb_users; CREATE VIEW eindb_users AS SELECT 1 AS name, 2 AS verifier, 3 AS role");
  EXPECT_ERROR(users.empty(), ErrorKind::Corrupt, "no table of eindb's");
  db.execute("DROP VIEW eindb_users; CREATE TABLE eindb_users(name, verifier, role)");
  db.execute("INSERT INTO eindb_users VALUES ('ann', 'v', 'superuser')");
  EXPECT_ERROR(users.find("ann"), ErrorKind::Corrupt, "role");
  db.execute("UPDATE eindb_users SET verifier = NULL");
  EXPECT_ERROR(users.find("ann"), ErrorKind::Corrupt, "verifier");
}

}  // namespace
}  // namespace eindb
