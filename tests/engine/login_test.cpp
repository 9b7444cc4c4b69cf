// Tests the data that a server checks passwords against.

#include <gtest/gtest.h>

#include "engine/session.hpp"
#include "storage/sqlite/sqlite_connection.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class LoginTest : public ::testing::Test {
 protected:
  bool fits(const std::string& name, const std::string& password) {
    const auto verifier = session.find_login(name).verifier;
    return make_verifier(password, verifier.salt, verifier.iterations).text() == verifier.text();
  }

  ScratchDirectory scratch;
  std::string path = scratch.file("a.db");
  Session session{path};
};

TEST_F(LoginTest, UsersHaveTheirPasswordsAndRoles) {
  EXPECT_FALSE(session.has_users());
  session.execute("CREATE USER Ann PASSWORD 'it''s' READ ONLY");
  session.execute("CREATE USER bob PASSWORD 'b'");
  EXPECT_TRUE(session.has_users());
  EXPECT_TRUE(session.find_login("ann").known);
  EXPECT_EQ(session.find_login("ann").role, UserRole::ReadOnly);
  EXPECT_EQ(session.find_login("bob").role, UserRole::ReadWrite);
  EXPECT_TRUE(fits("ANN", "it's"));
  EXPECT_FALSE(fits("ann", "its"));

  session.execute("ALTER USER ann READ WRITE");
  EXPECT_EQ(session.find_login("ann").role, UserRole::ReadWrite);
  EXPECT_TRUE(fits("ann", "it's")) << "a role alone leaves the password";
  session.execute("ALTER USER ann PASSWORD 'other'");
  EXPECT_EQ(session.find_login("ann").role, UserRole::ReadWrite) << "and the other way round";
  EXPECT_TRUE(fits("ann", "other"));
  session.execute("DROP USER ann");
  EXPECT_FALSE(session.find_login("ann").known);
}

TEST_F(LoginTest, UnknownUsersLookLikeOthers) {
  session.execute("CREATE USER ann PASSWORD 'x'");
  const auto login = session.find_login("nobody");
  EXPECT_FALSE(login.known);
  EXPECT_EQ(login.verifier.salt.size(), session.find_login("ann").verifier.salt.size());
  EXPECT_EQ(login.verifier.iterations, session.find_login("ann").verifier.iterations);
  EXPECT_NE(login.verifier.salt, session.find_login("somebody").verifier.salt);
  // The decoy stays the same after other changes, and when the database is opened again.
  session.execute("ALTER USER ann PASSWORD 'y'");
  Session again(path, {.read_only = true});
  EXPECT_EQ(again.find_login("nobody").verifier.text(), login.verifier.text());
}

TEST_F(LoginTest, VerifiersMove) {
  const auto verifier = make_verifier("pencil", "a salt of others", 1000).text();
  session.execute("CREATE USER ann PASSWORD '" + verifier + "'");
  EXPECT_EQ(session.find_login("ann").verifier.text(), verifier);
  EXPECT_TRUE(fits("ann", "pencil"));
  EXPECT_FALSE(fits("ann", verifier));
}

TEST_F(LoginTest, DamageIsAnError) {
  session.execute("CREATE USER ann PASSWORD 'x'");
  SqliteConnection db(path, SqliteConnection::Access::ReadWrite);
  db.execute("UPDATE eindb_users SET verifier = 'x'");
  EXPECT_ERROR(session.find_login("ann"), ErrorKind::Corrupt, "damaged");
  db.execute("DELETE FROM eindb_secrets");
  EXPECT_ERROR(session.find_login("bob"), ErrorKind::Corrupt, "secret");
  session.execute("ALTER USER ann PASSWORD 'x'");
  EXPECT_TRUE(fits("ann", "x"));
  EXPECT_FALSE(session.find_login("bob").known);
}

TEST_F(LoginTest, NoNameIsTooOddToLookUp) {
  session.execute("CREATE USER ann PASSWORD 'x'");
  for (const auto& name : {std::string(), std::string("a\0n", 3), std::string("\xff\xfe"), std::string(10000, 'a'),
                           std::string("' OR 1 = 1 --")})
    EXPECT_FALSE(session.find_login(name).known) << name;
}

}  // namespace
}  // namespace eindb
