// Splitting scripts into statements, and the shell's check for complete statements.

#include "parser/statement_splitter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace eindb {
namespace {

std::vector<std::string> texts(const std::string& script) {
  std::vector<std::string> out;
  for (const auto& statement : split_statements(script)) out.emplace_back(statement.text);
  return out;
}

using Texts = std::vector<std::string>;

TEST(StatementSplitter, Splits) {
  EXPECT_EQ(texts("SELECT 1; SELECT 2"), (Texts{"SELECT 1;", "SELECT 2"}));
  EXPECT_EQ(texts(" ;; -- nothing\n/* ; */ ; "), Texts{});
  EXPECT_EQ(texts("-- c;\n a 'x;''y' \"p;q\" `r;s` [t;u] /* ; */ ; b"),
            (Texts{"a 'x;''y' \"p;q\" `r;s` [t;u] /* ; */ ;", "b"}));
  EXPECT_EQ(texts("EINSUM Z[i = X[i,\nj]; b;"), (Texts{"EINSUM Z[i = X[i,\nj];", "b;"}));
  EXPECT_EQ(texts("EINSUM Z[i\n= 1; b"), (Texts{"EINSUM Z[i\n= 1;", "b"}));
  EXPECT_EQ(texts("a 'open; b"), (Texts{"a 'open; b"}));
  EXPECT_EQ(texts("\xFF\xFE;b"), (Texts{"\xFF\xFE;", "b"}));
}

TEST(StatementSplitter, StringsOfPostgresHaveSemicolons) {
  for (const std::string statement :
       {R"(SELECT E'\';';)", "SELECT $$a;b$$, $t$;$$;$t$;", "SELECT 1 /* ; /* ; */ ; */;"}) {
    const auto script = "/* /* ; */ */" + statement + "b";
    Texts out;
    for (const auto& each : split_statements(script, kPostgresRules)) out.emplace_back(each.text);
    EXPECT_EQ(out, (Texts{statement, "b"}));
  }
}

TEST(StatementSplitter, TriggersKeepTheirBody) {
  const std::string trigger =
      "CREATE TRIGGER t AFTER INSERT ON x BEGIN UPDATE y SET a = CASE 1 WHEN 1 THEN 2 END; SELECT 1; END;";
  EXPECT_EQ(texts(trigger + "SELECT 2;"), (Texts{trigger, "SELECT 2;"}));
  EXPECT_EQ(texts("EXPLAIN create temp trigger t x; END ; b"), (Texts{"EXPLAIN create temp trigger t x; END ;", "b"}));
  EXPECT_EQ(texts("CREATE TABLE trigger(a); b"), (Texts{"CREATE TABLE trigger(a);", "b"}));
}

TEST(StatementSplitter, LoopsKeepTheirBody) {
  for (const std::string loop : {
           "REPEAT 2 { a; b; }",
           "repeat 2 AS t UNTIL x < 1 { a; REPEAT 3 { b; }; c }",
           "REPEAT 2 { REPEAT 3 { b } c; }",
           "REPEAT 2 { a '}'; b \"}\"; /* } */ c -- }\n }",
           "REPEAT 2 { CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; SELECT 2; END; a; }",
           "REPEAT 2 { CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END }",
           "REPEAT 2 { EINSUM Z{i} = X{i}; b; }",
           "PREPARE p AS REPEAT $1 { a; b; }",
       }) {
    EXPECT_EQ(texts(loop + "c; d"), (Texts{loop, "c;", "d"})) << loop;
    EXPECT_EQ(texts(loop + "; c"), (Texts{loop, "c"})) << loop;
  }
  EXPECT_EQ(texts("REPEAT 2 { EINSUM Z{i = 1; b; } c"), (Texts{"REPEAT 2 { EINSUM Z{i = 1; b; }", "c"}))
      << "a brace that a statement opens counts to the end of the statement";
  EXPECT_EQ(texts("REPEAT 2; a"), (Texts{"REPEAT 2;", "a"}));
  EXPECT_EQ(texts("a { b; } c;"), (Texts{"a { b;", "} c;"})) << "only loops have braces";
  EXPECT_EQ(texts("SELECT repeat; a"), (Texts{"SELECT repeat;", "a"}));
}

TEST(StatementSplitter, PreparedTriggersKeepTheirBody) {
  const std::string trigger = "PREPARE p AS CREATE TRIGGER t AFTER INSERT ON x BEGIN SELECT 1; END;";
  EXPECT_EQ(texts(trigger + "b"), (Texts{trigger, "b"}));
}

TEST(StatementSplitter, OffsetsAndTerminators) {
  const auto statements = split_statements(" a ; -- x\n b");
  ASSERT_EQ(statements.size(), 2U);
  EXPECT_EQ(statements[0].offset, 1U);
  EXPECT_TRUE(statements[0].terminated);
  EXPECT_EQ(statements[1].offset, 11U);
  EXPECT_FALSE(statements[1].terminated);
  EXPECT_TRUE(split_statements("REPEAT 2 { a }").front().terminated);
  EXPECT_FALSE(split_statements("REPEAT 2 { a;").front().terminated);
}

TEST(StatementSplitter, Completeness) {
  for (const char* text :
       {"", "  \n", "SELECT 1;", "SELECT 1; -- c", "-- c", "a; b;", "CREATE TRIGGER t BEGIN SELECT 1; END;",
        "REPEAT 2 { a; }", "REPEAT 2 { a; };", "REPEAT 2 { REPEAT 3 { a } } b;"})
    EXPECT_TRUE(is_complete(text)) << text;
  for (const char* text : {"SELECT 1", "SELECT ';", "SELECT 1; /* c", "SELECT \"a;", "a; b", "EINSUM Z[i] =",
                           "CREATE TRIGGER t BEGIN SELECT 1;", "CREATE TRIGGER t BEGIN SELECT 1; END", "REPEAT 2 {",
                           "REPEAT 2 { a;", "REPEAT 2 { REPEAT 3 { a; }", "REPEAT 2 { a; } b", "PREPARE p AS"})
    EXPECT_FALSE(is_complete(text)) << text;
}

}  // namespace
}  // namespace eindb
