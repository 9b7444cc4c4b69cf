// The state of a statement is reset when its scope ends, for whatever reason.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/session/session_state.hpp"
#include "engine/session/statement_scopes.hpp"
#include "engine/statements/statements.hpp"
#include "parser/parser.hpp"
#include "tests/storage/scratch_directory.hpp"

namespace eindb {
namespace {

class StatementContextTest : public ::testing::Test {
 protected:
  StatementContextTest() {
    user_.progress = [this](const Progress& progress) { stages_.emplace_back(progress.stage); };
    user_.settings.set("progress", std::string("on"));
  }

  SessionUser user_{SessionOptions{}};
  StatementContext statement_{user_};
  std::vector<std::string> stages_;
};

TEST_F(StatementContextTest, ParametersAreThoseOfTheInnermostStatement) {
  const ParameterValues outer(statement_, {std::int64_t{1}, 2.5});
  const LoopScope loop(statement_);
  const LoopRound round(statement_, ast::Identifier{.text = "t", .span = {}}, 7);
  EXPECT_EQ(round.variable()->parameter, 3U);
  EXPECT_EQ(statement_.parameters(), (std::vector<ParameterValue>{std::int64_t{1}, 2.5, std::int64_t{7}}));
  {
    const ParameterValues inner(statement_, {std::string("x")});
    EXPECT_EQ(statement_.parameters(), (std::vector<ParameterValue>{std::string("x")}));
    EXPECT_TRUE(statement_.loop_variables().empty());
  }
  EXPECT_EQ(statement_.parameters().size(), 3U);
  ASSERT_EQ(statement_.loop_variables().size(), 1U);
  EXPECT_EQ(statement_.loop_variables().front().value, 7);
}

TEST_F(StatementContextTest, ARoundWithoutAVariableAddsNoParameter) {
  const LoopScope loop(statement_);
  const LoopRound round(statement_, std::nullopt, 7);
  EXPECT_FALSE(round.variable());
  EXPECT_TRUE(statement_.parameters().empty());
}

TEST_F(StatementContextTest, OnlyTheOutermostLoopSaysHowFarItIs) {
  statement_.report("join", 1, 2);
  {
    const LoopScope outer(statement_);
    statement_.report("join", 1, 2);
    statement_.report_rounds(1, 2);
    {
      const LoopScope inner(statement_);
      statement_.report_rounds(1, 2);
    }
    EXPECT_TRUE(statement_.is_in_loop());
  }
  EXPECT_FALSE(statement_.is_in_loop());
  statement_.report_rounds(1, 2);
  EXPECT_EQ(stages_, (std::vector<std::string>{"join", "round"}));
}

TEST_F(StatementContextTest, AFileTakesThePlaceOfTheOneThatIsNamed) {
  {
    const TransferScope transfer(statement_, "/tmp/given.csv");
    EXPECT_EQ(statement_.file_to_read("named.csv").text(), "/tmp/given.csv");
    const TransferScope none(statement_, "");
    EXPECT_EQ(statement_.file_to_write("named.csv").text(), "named.csv");
  }
  EXPECT_EQ(statement_.file_to_read("named.csv").text(), "named.csv");
}

TEST_F(StatementContextTest, AStatementIsAPartOfATransactionWhileItRuns) {
  const TransactionPart outer(statement_, true);
  {
    const TransactionPart inner(statement_, false);
    EXPECT_FALSE(statement_.is_in_transaction());
  }
  EXPECT_TRUE(statement_.is_in_transaction());
}

// A statement that fails inside loops and parameters leaves no state for the next one.
TEST(SessionParts, AStatementThatFailsLeavesNothingOfItself) {
  SessionState session(":memory:", {});
  const auto run = [&](const std::string& text) { return run_statement(parse_statement(text), session).status; };
  run("CREATE TABLE seen (round INTEGER UNIQUE)");
  run("INSERT INTO seen VALUES (2)");
  run("PREPARE fill AS REPEAT $1 AS s { REPEAT 3 AS t { INSERT INTO seen VALUES (:t) } }");
  EXPECT_ERROR(run("EXECUTE fill(1)"), ErrorKind::Sql, "UNIQUE constraint failed");
  EXPECT_FALSE(session.statement.is_in_loop());
  EXPECT_FALSE(session.statement.is_in_transaction());
  EXPECT_TRUE(session.statement.parameters().empty());
  EXPECT_TRUE(session.statement.loop_variables().empty());
}

}  // namespace
}  // namespace eindb
