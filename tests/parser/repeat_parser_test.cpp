// The grammar of loops: clauses, the ends of the statements in a body, their spans in the whole text, and the meaning
// of the variable's name inside.

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "parser/parser.hpp"
#include "tests/parser/ast_dump.hpp"

namespace eindb {
namespace {

struct RepeatExample {
  const char* text;
  const char* tree;
};

void expect_repeats(std::initializer_list<RepeatExample> examples) {
  for (const auto& example : examples)
    EXPECT_EQ(ast::dump(parse_statement(example.text)), example.tree) << example.text;
}

const ast::Repeat& loop_of(const ast::Statement& statement) { return std::get<ast::Repeat>(statement.node); }

TEST(RepeatParser, Clauses) {
  expect_repeats({
      {"REPEAT 10 { SHOW TENSORS; }", "(repeat 10 (show-tensors))"},
      {"repeat 0 as t until loss < 0.1 * t commit every 5 { show tensors };",
       "(repeat 0 as t until (loss < (0.1 * t)) every 5 (show-tensors))"},
      {"REPEAT $1 COMMIT EVERY $2 UNTIL SUM[i](e[i]) < 1 AS t { SHOW TENSORS }",
       "(repeat $1 as t until ((SUM[i] e[i]) < 1) every $2 (show-tensors))"},
      {"REPEAT 3 AS t { REPEAT t AS u { SHOW TENSORS; }; REPEAT 2 COMMIT EVERY t { DROP TENSOR t } SHOW ALL }",
       "(repeat 3 as t (repeat t as u (show-tensors)) (repeat 2 every t (drop t)) (show ALL))"},
      {"PREPARE train AS REPEAT $1 { SHOW TENSORS; };", "(prepare train 'REPEAT $1 { SHOW TENSORS; }')"},
  });
}

TEST(RepeatParser, StatementsEndAtSemicolonsAndBracesOfTheirOwn) {
  expect_repeats({
      {"REPEAT 2 { ; SHOW TENSORS;; SHOW ALL; }", "(repeat 2 (show-tensors) (show ALL))"},
      {"REPEAT 2 { SELECT '}', \"{\" -- }\n /* } */ , [}]; SHOW ALL }",
       "(repeat 2 (sql 'SELECT '}', \"{\" -- }\n /* } */ , [}]') (show ALL))"},
      {"REPEAT 2 { CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; SELECT 2; END; SHOW ALL }",
       "(repeat 2 (sql 'CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; SELECT 2; END') (show ALL))"},
      {"REPEAT 2 { CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END }",
       "(repeat 2 (sql 'CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END'))"},
      {"REPEAT 2 { INSERT INTO log VALUES (:t); SELECT * FROM (EINSUM Z[i] = X[i]) }",
       "(repeat 2 (sql 'INSERT INTO log VALUES (:t)') (sql 'SELECT * FROM (EINSUM Z[i] = X[i])' (query (Z[i] = "
       "X[i]))))"},
      {"REPEAT 2 { SAVEPOINT a; ROLLBACK TO a; ROLLBACK TRANSACTION TO a; RELEASE a }",
       "(repeat 2 (savepoint a) (rollback-to a) (rollback-to a) (release a))"},
  });
}

TEST(RepeatParser, PlacesAreThoseOfTheWholeText) {
  const std::string text = "\nREPEAT 2 AS t {\n  SHOW ALL; REPEAT 3 { EINSUM Z[i] = X[i] }\n} ; -- end";
  const auto statement = parse_statement(text);
  const auto text_of = [&](SourceSpan span) { return text.substr(span.begin, span.end - span.begin); };
  EXPECT_EQ(text_of(statement.span), "REPEAT 2 AS t {\n  SHOW ALL; REPEAT 3 { EINSUM Z[i] = X[i] }\n}");
  EXPECT_EQ(loop_of(statement).text, text_of(statement.span));
  const auto& body = loop_of(statement).body;
  ASSERT_EQ(body.size(), 2U);
  EXPECT_EQ(text_of(body[0].span), "SHOW ALL");
  EXPECT_EQ(text_of(body[1].span), "REPEAT 3 { EINSUM Z[i] = X[i] }");
  EXPECT_EQ(loop_of(body[1]).text, "") << "known again as a part of the loop around it";
  EXPECT_EQ(text_of(loop_of(body[1]).body.front().span), "EINSUM Z[i] = X[i]");
}

TEST(RepeatParser, TheVariableIsAnExtentAndQuotedNamesAreNot) {
  expect_repeats({
      {"REPEAT 2 AS t { CREATE TENSOR X (i t, j 3) }", "(repeat 2 as t (create X(i t,j 3)))"},
      {"REPEAT 2 AS t { EINSUM Z[i t] = X[t,i] * t }", "(repeat 2 as t (query (Z[i t] = (X[t,i] * t))))"},
      {"REPEAT 2 AS t { EINSUM Z[\"t\"] = SUM[\"T\"](X[\"t\",\"T\"]) }",
       "(repeat 2 as t (query (Z[\"t\"] = (SUM[\"T\"] X[\"t\",\"T\"]))))"},
      {"REPEAT 2 AS t { EINSUM Z[T] = X[T] }", "(repeat 2 as t (query (Z[T] = X[T])))"},
      {"REPEAT 2 AS t { SELECT * FROM (EINSUM Z[i t] = 1) }",
       "(repeat 2 as t (sql 'SELECT * FROM (EINSUM Z[i t] = 1)' (query (Z[i t] = 1))))"},
  });
}

TEST(RepeatParser, LongBodiesTakeLinearTime) {
  constexpr std::size_t kStatements = 100'000;
  std::string text = "REPEAT 2 AS t {";
  for (std::size_t n = 0; n < kStatements; ++n) text += "SELECT 1;";
  EXPECT_EQ(loop_of(parse_statement(text + "}")).body.size(), kStatements);
}

std::size_t parameters_of(std::string_view text) { return loop_of(parse_statement(text)).parameter_count; }

TEST(RepeatParser, ParametersAreCountedInHeadAndBody) {
  EXPECT_EQ(parameters_of("REPEAT 10 { SHOW ALL }"), 0U);
  EXPECT_EQ(parameters_of("REPEAT $3 UNTIL x < $4 { SHOW ALL }"), 4U);
  EXPECT_EQ(parameters_of("REPEAT $1 { SELECT :t || ?; REPEAT 2 { EINSUM Z = X[$5] }; SELECT $2 }"), 5U);
}

}  // namespace
}  // namespace eindb
