#include "server/dialect/dialect.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/processor_time.hpp"

namespace eindb {
namespace {

/// Replaces several spaces by one, and removes the space that a dropped part left before a comma, a parenthesis or the
/// end.
std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!out.empty() && out.back() == ' ' && (c == ' ' || c == ',' || c == ')')) out.pop_back();
    out += c;
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string translated(std::string_view statement) { return squeezed(translate_dialect(statement).text_of(statement)); }

TEST(Dialect, WhatBothUnderstandIsNotTouched) {
  for (const std::string_view statement :
       {"SELECT a, b FROM t WHERE a = 1 AND b LIKE 'x%' ORDER BY a LIMIT 3", "INSERT INTO t VALUES (1, 'it''s')",
        "EINSUM Z[i, k] = X[i, j] * Y[j, k]", "CREATE TENSOR X AS EINSUM X[i 3] = i::int",
        "SELECT * FROM (EINSUM Z[i] = X[i, public] * Y[any]) AS z", "SELECT [a b], `c` FROM t", "SELECT ~a FROM t",
        "SELECT CAST(a AS varchar(20)) FROM t", "SELECT 'x::int', \"a::b\" -- c::d\n FROM t /* ~ */", "",
        "SELECT 'open", "UPDATE t SET a = -1 WHERE b IS NOT DISTINCT FROM 3", "BEGIN IMMEDIATE",
        "SELECT user FROM t"}) {
    const auto translation = translate_dialect(statement);
    EXPECT_FALSE(translation.text.has_value()) << statement << " -> " << *translation.text;
    EXPECT_FALSE(translation.uses_catalog) << statement;
  }
}

TEST(Dialect, Casts) {
  EXPECT_EQ(translated("SELECT $1::int8, a.b::text"), "SELECT CAST($1 AS INTEGER), CAST(a.b AS TEXT)");
  EXPECT_EQ(translated("SELECT f(x)::float8::text"), "SELECT CAST(CAST(f(x) AS REAL) AS TEXT)");
  EXPECT_EQ(translated("SELECT (a + b)::integer"), "SELECT CAST((a + b) AS INTEGER)");
  EXPECT_EQ(translated("SELECT CASE WHEN a THEN 1 END::double precision"),
            "SELECT CAST(CASE WHEN a THEN 1 END AS REAL)");
  EXPECT_EQ(translated("SELECT a::character varying(20), b::pg_catalog.int4[]"),
            "SELECT CAST(a AS TEXT), CAST(b AS TEXT)");
  EXPECT_EQ(translated("SELECT CAST(a AS pg_catalog.int4), CAST(b AS regclass)"),
            "SELECT CAST(a AS INTEGER), regclass(b)");
  EXPECT_EQ(translated("SELECT 'x'::regclass::oid"), "SELECT CAST(regclass('x') AS INTEGER)");
}

TEST(Dialect, ParametersHaveTheTypesTheyAreCastTo) {
  const auto types = translate_dialect("SELECT $2::int8, $1::text[], ($3)::int4").parameter_types;
  ASSERT_EQ(types.size(), 2U);
  EXPECT_EQ(types[0].number, 2U);
  EXPECT_EQ(types[0].type, DataType::Int8);
  EXPECT_EQ(types[1].number, 1U);
  EXPECT_EQ(types[1].type, DataType::TextArray);
}

TEST(Dialect, Strings) {
  EXPECT_EQ(translated(R"(SELECT E'a\n\'b\x41\u00e9')"), "SELECT 'a\n''bA\xC3\xA9'");
  EXPECT_EQ(translated(R"(SELECT E'\xe2\x82\xac')"), "SELECT '\xE2\x82\xAC'");  // bytes, as in PostgreSQL
  EXPECT_EQ(translated("SELECT $$it's$$, $t$a$$b$t$"), "SELECT 'it''s', 'a$$b'");
  EXPECT_EQ(translated(R"(SELECT U&'d\0061t')"), "SELECT 'dat'");
  EXPECT_EQ(translated("SELECT /* a /* b */ c */ 1"), "SELECT 1");
}

TEST(Dialect, Operators) {
  EXPECT_EQ(translated("SELECT a ~ 'x'"), "SELECT a REGEXP 'x'");
  EXPECT_EQ(translated("SELECT a !~* 'x'"), "SELECT a NOT REGEXP '(?i)' || 'x'");
  EXPECT_EQ(translated("SELECT a OPERATOR(pg_catalog.~) 'x' COLLATE pg_catalog.default FROM t"),
            "SELECT a REGEXP '(?i)' || 'x' FROM t");
  EXPECT_EQ(translated("SELECT a ILIKE 'x'"), "SELECT a LIKE 'x'");
  EXPECT_EQ(translated("SELECT a = ANY(ARRAY['x', 'y']::text[])"), "SELECT a IN ('x', 'y')");
  EXPECT_EQ(translated("SELECT a = ANY ($1)"), "SELECT a IN (SELECT value FROM json_each(pg_array_json($1)))");
}

TEST(Dialect, Clauses) {
  EXPECT_EQ(translated("SELECT a FROM t FOR UPDATE OF t SKIP LOCKED"), "SELECT a FROM t");
  EXPECT_EQ(translated("SELECT a FROM t LIMIT ALL"), "SELECT a FROM t LIMIT -1");
  EXPECT_EQ(translated("SELECT a FROM t OFFSET 5"), "SELECT a FROM t LIMIT -1 OFFSET 5");
  EXPECT_EQ(translated("SELECT a FROM t LIMIT 2 OFFSET 5"), "SELECT a FROM t LIMIT 2 OFFSET 5");
  EXPECT_EQ(translated("SELECT a FROM t FETCH FIRST 3 ROWS ONLY"), "SELECT a FROM t LIMIT 3");
  EXPECT_EQ(translated("SELECT * FROM public.t"), "SELECT * FROM t");
  EXPECT_EQ(translated("SELECT * FROM (VALUES (1, 2)) AS v(a, b)"),
            "SELECT * FROM (WITH v(a, b) AS (VALUES (1, 2)) SELECT * FROM v) AS v");
  EXPECT_EQ(translated("TRUNCATE TABLE t"), "DELETE FROM t");
}

TEST(Dialect, TheCatalogIsUsedByTablesAndFunctions) {
  for (const char* statement : {"SELECT version()", "SELECT * FROM pg_class", "SELECT current_user",
                                "SELECT * FROM information_schema.tables", "SELECT 'a'::regclass", "SELECT a ~ 'b'"})
    EXPECT_TRUE(translate_dialect(statement).uses_catalog) << statement;
  EXPECT_FALSE(translate_dialect("SELECT a::int FROM public.t").uses_catalog);
}

TEST(Dialect, PlacesAreThoseOfTheClient) {
  const std::string_view statement = "SELECT a::int, nonsense FROM t";
  const auto translation = translate_dialect(statement);
  const auto at = translation.text->find("nonsense");
  const auto place = translation.original({at, at + 8});
  EXPECT_EQ(statement.substr(place.begin, place.end - place.begin), "nonsense");
  const auto cast = translation.text->find("INTEGER");
  const auto type = translation.original({cast, cast + 7});
  EXPECT_EQ(statement.substr(type.begin, type.end - type.begin), "::");
}

TEST(Dialect, LongStatementsTakeLinearTime) {
  std::string casts = "SELECT a";
  std::string nested = "SELECT ";
  for (int i = 0; i < 50'000; ++i) casts += "::int";
  for (int i = 0; i < 50'000; ++i) nested += "ARRAY[(";
  const double start = testing::thread_seconds();
  translated(casts);
  translated(nested);
  EXPECT_LT(testing::thread_seconds() - start, 2);
}

}  // namespace
}  // namespace eindb
