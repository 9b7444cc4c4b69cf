// Loops: their progress reports, and records of progress that do not fit the loop.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/session/session_state.hpp"
#include "engine/statements/statements.hpp"
#include "parser/parser.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class RepeatTest : public ::testing::Test {
 protected:
  RepeatTest() {
    run("CREATE TABLE seen (round INTEGER UNIQUE)");
    state_.user.notices = [this](const std::string& notice) { notices_.push_back(notice); };
  }

  std::string run(const std::string& statement) { return run_statement(parse_statement(statement), state_).status; }
  void own_sql(const std::string& sql) { state_.database.connection().execute(sql); }

  // Ends a loop of nine rounds after its fourth.
  void cut_off() {
    run("INSERT INTO seen VALUES (4)");
    EXPECT_ERROR(run(kLoop), ErrorKind::Sql, "in round 4: UNIQUE constraint failed");
    run("DELETE FROM seen WHERE round = 4");
  }

  static constexpr const char* kLoop = "REPEAT 9 AS t COMMIT EVERY 2 { INSERT INTO seen VALUES (:t) }";
  SessionState state_{":memory:", {}};
  std::vector<std::string> notices_;
};

TEST_F(RepeatTest, ALoopThatGoesOnSaysSo) {
  cut_off();
  EXPECT_TRUE(notices_.empty());
  EXPECT_EQ(run(kLoop), "REPEAT 9");
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_TRUE(notices_[0].starts_with("the loop goes on after 4 of 9 rounds")) << notices_[0];
}

TEST_F(RepeatTest, TheOutermostLoopAloneSaysHowFarItIs) {
  run("CREATE TENSOR X AS EINSUM X[i 200, j 200] = i");
  std::vector<std::string> told;
  state_.user.progress = [&](const Progress& progress) {
    told.push_back(std::string(progress.stage) + std::to_string(progress.done) + "/" + std::to_string(progress.total));
  };
  run("REPEAT 2 { REPEAT 3 { EINSUM Z[i,k] = SUM(X[i,j] * X[j,k]) } }");
  EXPECT_EQ(told, (std::vector<std::string>{"round1/2", "round2/2"}));
}

TEST_F(RepeatTest, OnlyOneSessionRunsALoop) {
  int calls = 0;
  // As if another session had committed rounds meanwhile.
  state_.database.connection().add_function(
      {.name = "meddle", .arguments = 0, .body = [&](std::span<const SqliteValue>) -> SqliteValue {
         if (++calls == 3) own_sql("UPDATE eindb_loops SET run = run + 1");
         return std::int64_t{calls};
       }});
  EXPECT_ERROR(run("REPEAT 9 { INSERT INTO seen SELECT meddle() }"), ErrorKind::Conflict,
               "another session runs the same loop");
}

TEST_F(RepeatTest, RecordsThatCannotBeAreRefused) {
  for (const std::string done : {"0", "-3", "9", "1000"}) {
    run("DELETE FROM seen");
    cut_off();
    own_sql("UPDATE eindb_loops SET done = " + done);
    EXPECT_ERROR(run(kLoop), ErrorKind::Corrupt, "round");
    run("SET resume_loops = off");
    run("DELETE FROM seen");
    EXPECT_EQ(run(kLoop), "REPEAT 9");
    run("SET resume_loops = on");
  }
}

TEST_F(RepeatTest, ValuesOfParametersTellLoopsApart) {
  run("PREPARE p AS REPEAT $1 AS t { INSERT INTO seen VALUES (:t) }");
  run("INSERT INTO seen VALUES (4)");
  EXPECT_THROW(run("EXECUTE p(9)"), Error);
  run("DELETE FROM seen");
  run("EXECUTE p(8)");
  EXPECT_TRUE(notices_.empty());
  run("DELETE FROM seen");
  run("EXECUTE p(9)");
  EXPECT_EQ(notices_.size(), 1U);
}

}  // namespace
}  // namespace eindb
