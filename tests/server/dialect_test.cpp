#include "server/dialect/dialect.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/coded_error.hpp"
#include "engine/dialect/originals.hpp"
#include "tests/processor_time.hpp"

namespace eindb {
namespace {

/// Every table has these columns; the session has one table of its own.
std::optional<std::vector<dialect::Column>> columns(const std::string& schema, const std::string& table) {
  using enum dialect::SqlType;
  if (schema == "temp" && table != "own") return std::nullopt;
  return std::vector<dialect::Column>{{.name = "a", .type = Integer, .declared = "bigint"},
                                      {.name = "s", .type = Text, .declared = "text"},
                                      {.name = "d", .type = Date, .declared = "date"}};
}

Translation translation_of(std::string_view statement) { return translate_dialect(statement, columns); }
std::string translated(std::string_view statement) { return std::string(translation_of(statement).text_of(statement)); }

TEST(Dialect, StatementsOfEindbAndOfSqliteAreNotTouched) {
  for (const std::string_view statement :
       {"EINSUM Z[i, k] = X[i, j] * Y[j, k]", "CREATE TENSOR X AS EINSUM X[i 3] = i::int",
        "CREATE OR REPLACE MACRO f(x) AS x::int", "CREATE TEMP TENSOR X (i 3)", "WITH Y[i] = X[i] EINSUM Z[i] = Y[i]",
        "CREATE VIRTUAL TABLE f USING fts5(x)", "", "CREATE TABLE u (a, b)", "EXPLAIN QUERY PLAN SELECT 1 AS 'x'",
        "BEGIN IMMEDIATE", "DROP TABLE t"}) {
    const auto translation = translation_of(statement);
    EXPECT_FALSE(translation.text.has_value()) << statement << " -> " << *translation.text;
    EXPECT_FALSE(translation.uses_catalog) << statement;
  }
}

TEST(Dialect, SchemasAreThoseOfSqliteWhereTheyMatter) {
  EXPECT_EQ(translated("SELECT a FROM public.t"), R"(SELECT "a" FROM "t")");
  EXPECT_EQ(translated("SELECT a FROM public.own"), R"(SELECT "a" FROM "main"."own")");
  EXPECT_EQ(translated("SELECT a FROM pg_temp.own"), R"(SELECT "a" FROM "temp"."own")");
}

TEST(Dialect, WithOfTensorsMayBeDeeperThanSql) {
  std::string sum = "X[i] * 0";
  for (int n = 1; n < 2000; ++n) sum += " + X[i] * " + std::to_string(n);
  for (const auto& query :
       {"WITH P[i] = " + sum + " EINSUM Z[] = SUM(P[i])", "WITH P[] = 2 UPDATE TENSOR X[i] = " + sum}) {
    EXPECT_FALSE(translation_of(query).text.has_value());
    EXPECT_FALSE(translation_of("EXPLAIN " + query).text.has_value());
  }
}

TEST(Dialect, QueriesAndWritesOfOtherGrammarsAreRefused) {
  for (const std::string_view statement :
       {"SELECT a FROM t LIMIT 1, 2", "SELECT 'open", "SELECT 1 AS 'x'", "REPLACE INTO t VALUES (1)",
        "UPDATE OR IGNORE t SET a = 1", "CREATE VIEW v AS SELECT 1 AS 'x'"})
    EXPECT_THROW(translation_of(statement), CodedError) << statement;
}

TEST(Dialect, ParametersHaveTheTypesTheyAreCastTo) {
  const auto types = translation_of("SELECT $2::int8, $1::text[], ($3)::int4").parameter_types;
  ASSERT_GE(types.size(), 2U);
  EXPECT_EQ(types[0].number, 2U);
  EXPECT_EQ(types[0].type, DataType::Int8);
  EXPECT_EQ(types[1].number, 1U);
  EXPECT_EQ(types[1].type, DataType::TextArray);
}

TEST(Dialect, ViewsKeepWhatWasWritten) {
  EXPECT_EQ(translated("CREATE VIEW public.v AS SELECT s FROM public.t WHERE a > 1"),
            R"(CREATE VIEW "v" AS SELECT "s" FROM "t" WHERE ("a" > 1))");
  EXPECT_EQ(translated("CREATE VIEW v AS SELECT s FROM t WHERE a > 1"),
            R"(CREATE VIEW "v" AS SELECT s FROM t WHERE a > 1)");
  const auto divided = translated("CREATE OR REPLACE VIEW v(half) AS SELECT a / 2 FROM t;");
  EXPECT_TRUE(divided.starts_with(R"(CREATE OR REPLACE VIEW "v" ("half") AS /* PostgreSQL )")) << divided;
  EXPECT_TRUE(divided.ends_with(R"(: SELECT a / 2 FROM t */ SELECT pg_divide_integers("a", 2) AS "?column?" FROM "t")"))
      << divided;
  const auto query = divided.substr(divided.find("/*"));
  EXPECT_EQ(dialect::as_written(query), "SELECT a / 2 FROM t");
  EXPECT_EQ(dialect::as_written(query + " -- changed"), "SELECT a / 2 FROM t -- changed");
  auto renamed = query;
  renamed.replace(renamed.rfind("\"t\""), 3, "\"u\"");
  EXPECT_EQ(dialect::as_written(renamed), R"(SELECT pg_divide_integers("a", 2) AS "?column?" FROM "u")");
}

TEST(Dialect, DefinitionsChangeWhereTheDialectsDiffer) {
  EXPECT_EQ(
      translation_of("CREATE TABLE t (a bigint CHECK (a > 0), s text DEFAULT 'x', CHECK (a < 9 AND s <> ''))").text,
      std::nullopt);
  EXPECT_EQ(translated("CREATE TABLE public.t (a bigint CHECK (a / 2 > 0), s text DEFAULT E'\\t'::text)"),
            "CREATE TABLE t (a bigint CHECK (/* PostgreSQL b01456eb68d9fb95: a / 2 > 0 */ "
            "(pg_divide_integers(\"a\", 2) > 0)), s text DEFAULT ('\t'))");
  EXPECT_EQ(translated("CREATE INDEX ON t USING btree (s COLLATE \"C\" DESC, (a / 2)) WHERE a > 0"),
            "CREATE INDEX \"t_s_expr_idx\" ON t  (s COLLATE BINARY DESC, "
            "(/* PostgreSQL db964002f9dcbd76: a / 2 */ pg_divide_integers(\"a\", 2))) WHERE a > 0");
  EXPECT_EQ(translated("CREATE TABLE u(x) AS SELECT a / 2 FROM t WITH NO DATA"),
            R"(CREATE TABLE "u" ("x" bigint) AS )"
            R"(SELECT * FROM (SELECT pg_divide_integers("a", 2) AS "?column?" FROM "t") LIMIT 0)");
  EXPECT_EQ(translated("DROP TABLE public.t"), "DROP TABLE t");
  EXPECT_EQ(translated("TRUNCATE TABLE t"), "DELETE FROM t");
}

TEST(Dialect, TheCatalogIsUsedByTablesAndFunctions) {
  for (const char* statement : {"SELECT * FROM pg_catalog.pg_class", "SELECT current_user",
                                "SELECT * FROM information_schema.tables", "SELECT 'a'::regclass"})
    EXPECT_TRUE(translation_of(statement).uses_catalog) << statement;
  EXPECT_FALSE(translation_of("SELECT a::int FROM public.t").uses_catalog);
}

TEST(Dialect, PlacesAreThoseOfTheClient) {
  const std::string_view statement = "SELECT a::int, s FROM t WHERE s = 'x'";
  const auto translation = translation_of(statement);
  const auto at = translation.text->find("'x'");
  const auto place = translation.original({at, at + 3});
  EXPECT_EQ(statement.substr(place.begin, place.end - place.begin), "'x'");
  const std::string_view nothing = "SELECT";
  const auto of_nothing = translation_of(nothing);
  ASSERT_TRUE(of_nothing.text.has_value());
  const auto whole = of_nothing.original({of_nothing.text->size() - 1, of_nothing.text->size()});
  EXPECT_EQ(nothing.substr(whole.begin, whole.end - whole.begin), nothing);
}

TEST(Dialect, LongStatementsTakeLinearTime) {
  std::string sums = "SELECT a";
  for (int i = 0; i < 20'000; ++i) sums += i % 100 == 0 ? ", a" : " + 1";
  sums += " FROM t";
  const double start = testing::thread_seconds();
  translated(sums);
  EXPECT_LT(testing::thread_seconds() - start, 2);
}

}  // namespace
}  // namespace eindb
