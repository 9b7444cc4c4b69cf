// Statements that a session for clients of a server refuses, but a session of the file's owner does not.

#include "engine/settings/permissions.hpp"

#include <gtest/gtest.h>

#include "engine/session.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class PermissionsTest : public ::testing::Test {
 protected:
  static void expect_refused(Session& session, const std::string& statement) {
    SCOPED_TRACE(statement);
    EXPECT_ERROR(session.execute(statement), ErrorKind::Permission, "");
  }

  ScratchDirectory scratch;
  std::string database = scratch.file("a.db");
  std::shared_ptr<ClientPolicy> policy = std::make_shared<ClientPolicy>();
};

TEST_F(PermissionsTest, TheOwnerOfTheFileMayDoEverything) {
  Session session(database);
  session.execute("CREATE TENSOR X (i 2)");
  session.execute("COPY X TO '" + scratch.file("x.npy") + "'");
  session.execute("SET machine_file = 'somewhere'");
  session.execute("RESET machine_file");
  session.execute("CREATE USER ann PASSWORD 'a'");
  session.execute("DROP USER ann");
  session.execute("VACUUM INTO '" + scratch.file("copy.db") + "'");
}

TEST_F(PermissionsTest, AClientHasNoFilesUnlessThereIsADirectory) {
  Session session(database, {.policy = policy});
  session.act_for({.name = "ann", .role = UserRole::Admin});
  session.execute("CREATE TENSOR X (i 2)");
  for (const auto* statement : {"COPY X TO 'x.npy'", "COPY Y FROM 'x.npy'", "COPY (SELECT 1) TO 'x.csv'",
                                "COPY (EINSUM s = 1) TO 'x.npy'", "SET machine_file = 'x'", "VACUUM INTO 'x.db'"})
    expect_refused(session, statement);
  const auto error = error_of([&] { session.execute("COPY X TO 'x.npy'"); });
  EXPECT_EQ(error.span(), (SourceSpan{10, 17}));
  session.execute("PREPARE p AS COPY X TO 'x.npy'");
  expect_refused(session, "EXECUTE p");
}

TEST_F(PermissionsTest, TheDirectoryIsNotThatOfTheDatabase) {
  Session session(database);
  EXPECT_ERROR(open_files_directory(scratch.file(""), database), ErrorKind::Value, "the database lies in");
  std::filesystem::create_directory(scratch.file("files"));
  policy->files = open_files_directory(scratch.file("files"), database);
  Session client(database, {.policy = policy});
  client.act_for({.name = "ann", .role = UserRole::ReadWrite});
  client.execute("CREATE TENSOR X (i 2)");
  client.execute("COPY X TO 'x.npy'");
  EXPECT_TRUE(std::filesystem::exists(scratch.file("files/x.npy")));
  client.act_for({.name = "bob", .role = UserRole::ReadOnly});
  expect_refused(client, "COPY X TO 'y.npy'");
}

TEST_F(PermissionsTest, RolesDecideWhoManagesUsers) {
  Session session(database, {.policy = policy});
  session.act_for({.name = "root", .role = UserRole::Admin});
  session.execute("CREATE USER root PASSWORD 'r' ADMIN");
  expect_refused(session, "DROP USER root");
  session.execute("CREATE USER ann PASSWORD 'a'");
  session.act_for({.name = "Ann", .role = UserRole::ReadWrite});
  for (const auto* statement :
       {"CREATE USER bob PASSWORD 'b'", "ALTER USER ann ADMIN", "ALTER USER ann PASSWORD 'x' READ ONLY",
        "ALTER USER root PASSWORD 'x'", "DROP USER root"})
    expect_refused(session, statement);
  session.execute("ALTER USER ann PASSWORD 'x'");
}

TEST_F(PermissionsTest, WhoOnlyReadsChangesTheirOwnPasswordAllTheSame) {
  {
    Session owner(database);
    owner.execute("CREATE USER bob PASSWORD 'b' READ ONLY");
  }
  const auto salt = [&] { return Session(database).find_login("bob").verifier.text(); };
  const auto before = salt();
  Session session(database, {.read_only = true, .policy = policy});
  session.act_for({.name = "bob", .role = UserRole::ReadOnly});
  session.execute("ALTER USER bob PASSWORD 'other'");
  const auto after = salt();
  EXPECT_NE(before, after);
  policy->read_only = true;
  EXPECT_ERROR(session.execute("ALTER USER bob PASSWORD 'third'"), ErrorKind::ReadOnly, "");
  EXPECT_EQ(after, salt());
}

TEST_F(PermissionsTest, SettingsKeepToTheirBounds) {
  policy->settings = {.memory_limit = 1 << 24, .most_memory_limit = 1 << 25, .threads = 1, .most_threads = 2};
  Session session(database, {.policy = policy});
  EXPECT_EQ(session.settings().memory_limit(), 1 << 24);
  session.execute("SET memory_limit = '32MiB'; ");
  EXPECT_ERROR(session.execute("SET memory_limit = '33MiB'"), ErrorKind::Value, "memory_limit");
  EXPECT_ERROR(session.execute("SET threads = 3"), ErrorKind::Value, "threads");
  session.execute("RESET ALL");
  EXPECT_EQ(session.settings().memory_limit(), 1 << 24);
  EXPECT_EQ(session.settings().threads(), 1);
}

// Records the user and the work of each request.
class RecordingGate final : public AdmissionGate {
 public:
  std::unique_ptr<Admission> admit(const ClientUser&, const Work& work, const Cancellation&) override {
    asked.push_back(work);
    return std::make_unique<Leave>(*this, work.bytes);
  }
  std::vector<Work> asked;
  std::vector<std::int64_t> held;

 private:
  class Leave final : public Admission {
   public:
    Leave(RecordingGate& gate, std::int64_t bytes) : gate_(gate), bytes_(bytes) {}
    std::int64_t bytes() const override { return bytes_; }
    void has_run(std::int64_t kept) noexcept override { gate_.held.push_back(kept); }

   private:
    RecordingGate& gate_;
    std::int64_t bytes_;
  };
};

TEST_F(PermissionsTest, QueriesAskBeforeTheyRun) {
  const auto gate = std::make_shared<RecordingGate>();
  Session session(database, {.policy = policy, .gate = gate});
  session.execute("CREATE TENSOR A AS EINSUM A[i 400, j 400] = i + j");
  ASSERT_EQ(gate->asked.size(), 1U);
  EXPECT_TRUE(gate->asked[0].urgent) << "it is written in a transaction";
  EXPECT_EQ(gate->held, std::vector<std::int64_t>{0});
  const auto result = session.execute("EINSUM B[i,k] = SUM(A[i,j] * A[j,k])");
  ASSERT_EQ(gate->asked.size(), 2U);
  EXPECT_FALSE(gate->asked[1].urgent);
  EXPECT_GT(gate->asked[1].seconds, 0);
  EXPECT_GE(gate->asked[1].bytes, 2 * 400 * 400 * 8);
  EXPECT_GE(gate->held[1], 400 * 400 * 8) << "the result is there until it is fetched";
  EXPECT_LE(gate->held[1], gate->asked[1].bytes);
  session.execute("EXPLAIN EINSUM B[i] = SUM(A[i,j])");
  session.execute("SELECT SUM(val) FROM A");
  EXPECT_EQ(gate->asked.size(), 2U) << "what runs nothing, and SQL, is not asked for";
  session.execute("ALTER TENSOR A PARTITION (2, 2)");
  EXPECT_EQ(gate->asked.size(), 3U);
}

}  // namespace
}  // namespace eindb
