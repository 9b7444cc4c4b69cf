// Tests the types of columns and parameters inferred before there is a row.
#include "engine/sql_types/sql_types.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

using enum ValueType;

// t (name TEXT, n INTEGER, x REAL, price NUMERIC, flag BOOLEAN, bytes BLOB, any), u (n INTEGER, name TEXT), and the
// complex tensor z (i INTEGER, val TEXT, re REAL, im REAL)
std::optional<std::vector<TypedColumn>> columns(const std::string& /*schema*/, const std::string& table) {
  if (equal_ignoring_case(table, "t"))
    return std::vector<TypedColumn>{{"name", Text},    {"n", Integer},  {"x", Real},     {"price", Number},
                                    {"flag", Boolean}, {"bytes", Blob}, {"any", Unknown}};
  if (equal_ignoring_case(table, "u")) return std::vector<TypedColumn>{{"n", Integer}, {"name", Text}};
  if (equal_ignoring_case(table, "z"))
    return std::vector<TypedColumn>{{"i", Integer}, {"val", Text, false, true}, {"re", Real, true}, {"im", Real, true}};
  return std::nullopt;
}

std::string text_of(const std::vector<ValueType>& types) {
  static constexpr const char* kNames[] = {"null", "bool", "int", "real", "number", "text", "blob", "?"};
  std::string text;
  for (const auto type : types) text += (text.empty() ? "" : " ") + std::string(kNames[static_cast<std::size_t>(type)]);
  return text;
}

SqlTypes infer(const std::string& sql, std::vector<ValueType> parameters = {}) {
  const auto function = [](const std::string& name) { return name == "pg_own" ? Text : Unknown; };
  return infer_types(sql, {columns, function}, std::move(parameters));
}
std::string rows(const std::string& sql) { return text_of(infer(sql).columns); }
std::string parameters(const std::string& sql, std::size_t count = 1) {
  return text_of(infer(sql, std::vector<ValueType>(count, Unknown)).parameters);
}

TEST(SqlTypes, Literals) {
  EXPECT_EQ(rows("SELECT 1, 1.5, .5, 1e3, 'a', x'00', NULL, TRUE, 0x10, 9223372036854775808"),
            "int real real real text blob null bool int real");
  EXPECT_EQ(rows("SELECT CURRENT_TIMESTAMP, -1, +2.5, ~3, NOT 1, 'it''s'"), "text int real int bool text");
  EXPECT_EQ(rows("VALUES (1, 'a'), (2.5, 'b'), (NULL, 'c')"), "number text");
}

TEST(SqlTypes, Columns) {
  EXPECT_EQ(rows("SELECT * FROM t"), "text int real number bool blob ?");
  EXPECT_EQ(rows("SELECT t.*, u.n FROM t, u"), "text int real number bool blob ? int");
  EXPECT_EQ(rows("SELECT a.n, \"x\", [name], main.t.n, rowid FROM t AS a JOIN t ON a.n = t.n"),
            "int real text int int");
  EXPECT_EQ(rows("SELECT * FROM u JOIN t USING (n)"), "int text text real number bool blob ?");
  EXPECT_EQ(rows("SELECT * FROM u NATURAL LEFT JOIN (SELECT n, x FROM t) s"), "int text real");
  EXPECT_EQ(rows("SELECT nope FROM t"), "?");
  EXPECT_EQ(rows("SELECT a, n FROM nowhere, t"), "? ?") << "a table that is not known may have any column";
}

TEST(SqlTypes, Operators) {
  EXPECT_EQ(rows("SELECT n + 1, n * 1.5, x / 2, n / 2, n % 3, price * 2, name + 1, any - 1 FROM t"),
            "int real real int int number number number");
  EXPECT_EQ(rows("SELECT n > 1, n = 1 OR x < 2, name LIKE 'a%', n IN (1, 2), n BETWEEN 1 AND 2, n IS NULL, n NOT NULL,"
                 " NOT n, n IS DISTINCT FROM 2 FROM t"),
            "bool bool bool bool bool bool bool bool bool");
  EXPECT_EQ(rows("SELECT name || n, n & 1, n << 2, any -> 'a', any ->> 'a', name COLLATE NOCASE FROM t"),
            "text int int text ? text");
  EXPECT_EQ(rows("SELECT EXISTS (SELECT 1), NOT EXISTS (SELECT 1 FROM t), (SELECT MAX(n) FROM t), (1 + 2) * 3"),
            "bool bool int int");
  EXPECT_EQ(rows("SELECT CASE WHEN n > 1 THEN 'a' ELSE 'b' END, CASE n WHEN 1 THEN 1 WHEN 2 THEN 2.5 END,"
                 " CASE n WHEN 1 THEN 'a' ELSE 2 END FROM t"),
            "text number ?");
  EXPECT_EQ(rows("SELECT CAST(any AS INTEGER), CAST(n AS VARCHAR(20)), CAST(n AS DOUBLE PRECISION),"
                 " CAST(n AS DECIMAL(10, 2)), CAST(n AS BLOB) FROM t"),
            "int text real number blob");
}

TEST(SqlTypes, Functions) {
  EXPECT_EQ(
      rows("SELECT COUNT(*), COUNT(DISTINCT n), SUM(n), SUM(x), SUM(price), SUM(any), AVG(n), TOTAL(n), MIN(name),"
           " MAX(x) FROM t"),
      "int int int real number number real real text real");
  EXPECT_EQ(rows("SELECT length(name), abs(n), abs(x), round(n), coalesce(NULL, n), ifnull(n, 1.5), nullif(name, ''),"
                 " upper(name), substr(bytes, 1), substr(any, 1), max(n, x), iif(n, 1, 2) FROM t"),
            "int int real real int number text text blob ? number int");
  EXPECT_EQ(rows("SELECT row_number() OVER (PARTITION BY name ORDER BY n), lag(n) OVER w, SUM(n) FILTER (WHERE n > 1)"
                 " OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (ORDER BY n)"),
            "int int int");
  EXPECT_EQ(rows("SELECT pg_own(1), unheard_of(1), group_concat(name, ',') FROM t"), "text ? text");
}

TEST(SqlTypes, Queries) {
  EXPECT_EQ(rows("SELECT 1 UNION SELECT 2.5 UNION ALL SELECT NULL ORDER BY 1 LIMIT 3 OFFSET 1"), "number");
  EXPECT_EQ(rows("SELECT name FROM t UNION SELECT n FROM u"), "?");
  EXPECT_EQ(rows("SELECT s.total + 1, m FROM (SELECT COUNT(*) AS total, MAX(name) m FROM t GROUP BY n HAVING n > 1) s"),
            "int text");
  EXPECT_EQ(
      rows("WITH c(a, b) AS (SELECT n, x FROM t), d AS (SELECT a * 2 AS a2, b FROM c) SELECT a2, b, c.a FROM c, d"),
      "int real int");
  EXPECT_EQ(
      rows("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 9) SELECT x, COUNT(*) FROM c"),
      "int int");
  EXPECT_EQ(rows("WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x / 2.0 FROM c) SELECT x FROM c"), "number");
  EXPECT_EQ(rows("WITH RECURSIVE c AS (SELECT 1 AS a, 'x' AS b UNION ALL SELECT a + 1, a FROM c) SELECT a, b FROM c"),
            "int ?");
  EXPECT_EQ(rows("SELECT (SELECT u.n + t.x FROM u WHERE u.name = t.name) FROM t"), "real");
  EXPECT_EQ(rows("SELECT t FROM (SELECT 1 AS t)"), "int");
  EXPECT_EQ(rows("SELECT DISTINCT n AS a, x b, COUNT(*) \"c\" FROM t GROUP BY 1, 2"), "int real int");
}

TEST(SqlTypes, StatementsThatWrite) {
  EXPECT_EQ(rows("INSERT INTO t (n, name) VALUES (1, 'a') RETURNING n, name || '!', *"),
            "int text text int real number bool blob ?");
  EXPECT_EQ(rows("UPDATE t SET n = n + 1 WHERE n > 2 RETURNING n * 2"), "int");
  EXPECT_EQ(rows("DELETE FROM t WHERE n = 1 RETURNING x"), "real");
  EXPECT_EQ(rows("DELETE FROM t"), "");
  EXPECT_EQ(rows("CREATE VIEW v (a, b) AS SELECT n + 1, name FROM t"), "int text");
}

TEST(SqlTypes, ParametersTakeTheTypeOfWhatStandsBesideThem) {
  EXPECT_EQ(parameters("SELECT * FROM t WHERE n = $1"), "int");
  EXPECT_EQ(parameters("SELECT COUNT(*) FROM t WHERE n > $1 AND name = $2 AND $3 < x", 3), "int text real");
  EXPECT_EQ(parameters("SELECT * FROM t WHERE name LIKE $1 OR name IN ($2, 'a') OR n BETWEEN $3 AND $4", 4),
            "text text int int");
  EXPECT_EQ(parameters("SELECT * FROM t WHERE n IN (SELECT n FROM u WHERE name = $1) LIMIT $2 OFFSET $3", 3),
            "text int int");
  EXPECT_EQ(parameters("INSERT INTO t (n, name, flag, price) VALUES ($1, $2, $3, $4), ($5, 'a', NULL, $6)", 6),
            "int text bool real int real");
  EXPECT_EQ(parameters("INSERT INTO u SELECT $1, name FROM t WHERE x > $2", 2), "int real");
  EXPECT_EQ(parameters("UPDATE t SET x = $1, name = $2 WHERE n = $3", 3), "real text int");
  EXPECT_EQ(parameters("INSERT INTO u VALUES ($1, $2) ON CONFLICT (n) DO UPDATE SET name = excluded.name || $3", 3),
            "int text text");
  EXPECT_EQ(parameters("SELECT n + $1, x * $2, coalesce(name, $3), CASE WHEN n = $4 THEN $5 ELSE 1 END FROM t", 5),
            "int real text int int");
  EXPECT_EQ(parameters("SELECT CAST($1 AS INTEGER), $2 || 'a', $3", 3), "int text ?");
  EXPECT_EQ(parameters("SELECT * FROM t WHERE $1 = $2 AND n = $2", 2), "int int");
  EXPECT_EQ(parameters("VALUES ($1, 2), (3, $2), ($3, NULL)", 3), "int int int");
  EXPECT_EQ(parameters("SELECT CASE WHEN $1 THEN n END FROM t WHERE $2 AND NOT $3", 3), "bool bool bool");
  EXPECT_EQ(parameters("SELECT * FROM t WHERE any = $1"), "?");
}

TEST(SqlTypes, KnownParametersTellOfColumns) {
  EXPECT_EQ(text_of(infer("SELECT $1 + 1, $2 || 'a', $2", {Real, Text}).columns), "real text text");
  EXPECT_EQ(text_of(infer("SELECT $1 + 1", {Unknown}).columns), "int");
  EXPECT_EQ(text_of(infer("SELECT * FROM t WHERE n = $1", {Text}).parameters), "text") << "the client said so";
}

TEST(SqlTypes, VariablesOfLoopsHaveNoType) {
  EXPECT_EQ(rows("SELECT :t, n, :t || 'a' FROM t WHERE n = :t"), "? int text");
}

TEST(SqlTypes, ComplexNumbersInThePlaceOfRealOnes) {
  const auto misused = [](const std::string& sql) {
    const auto misuse = infer(sql).misuse;
    return misuse ? misuse->operation + " " + std::to_string(misuse->span.begin) : "";
  };
  EXPECT_EQ(misused("SELECT sum(val) FROM z"), "SUM 7");
  EXPECT_EQ(misused("SELECT i FROM z WHERE i > 1 AND val > 1"), "> 36");
  EXPECT_EQ(misused("SELECT SUM(re), val || 'x', COUNT(val), LENGTH(val) FROM z WHERE val = '1' OR val IN ('2', NULL)"),
            "");
  EXPECT_EQ(misused("SELECT ABS(a) FROM (SELECT COALESCE(z.val, '') AS a FROM z JOIN t ON z.i = t.n)"), "ABS 7");
  EXPECT_EQ(misused("WITH w(a) AS (SELECT val FROM z UNION ALL SELECT name FROM t) SELECT -a FROM w"), "- 69");
  EXPECT_EQ(misused("SELECT * FROM t WHERE x < (SELECT val FROM z)"), "< 24");
  EXPECT_EQ(misused("SELECT CASE val WHEN 1 THEN 2 END FROM z"), "WHEN 16");
  EXPECT_EQ(misused("SELECT val & 1 FROM z"), "& 11");
  EXPECT_EQ(misused("SELECT * FROM z WHERE val NOT IN (1, 2)"), "IN 30");
  EXPECT_EQ(misused("SELECT * FROM z WHERE val NOT BETWEEN '1' AND '2'"), "BETWEEN 30");
  EXPECT_EQ(misused("SELECT SUM(CAST(val AS TEXT)) FROM z"), "SUM 7");
  EXPECT_EQ(misused("INSERT INTO t (x) SELECT val * 2 FROM z"), "* 29");
  EXPECT_EQ(misused("SELECT SUM(name) FROM t"), "");
}

TEST(SqlTypes, WhatIsNotUnderstoodIsUnknown) {
  for (const auto* sql : {"", ";", "SELECT", "SELECT * FROM", "SELECT (", "SELECT 1)", "SELECT 'open", "SELECT 1 +",
                          "PRAGMA table_info(t)", "EXPLAIN SELECT 1", "SELECT * FROM nowhere", "SELECT ?1",
                          "SELECT :", "WITH c AS (SELECT * FROM c) SELECT * FROM c", "SELECT 1 UNION SELECT 1, 2",
                          "WITH c(a) AS (SELECT 1, 2) SELECT 1", "SELECT $0", "SELECT $99999999999999999999"})
    EXPECT_EQ(rows(sql), "") << sql;
  EXPECT_EQ(parameters("SELECT $7 = 1"), "?");
}

// Time and stack use are bounded for any text.
TEST(SqlTypes, DeepAndLongTexts) {
  const auto repeated = [](const std::string& part, int count) {
    std::string text;
    for (int n = 0; n < count; ++n) text += part;
    return text;
  };
  EXPECT_EQ(rows("SELECT " + repeated("(", 30000) + "1" + repeated(")", 30000)), "");
  EXPECT_EQ(rows("SELECT " + repeated("- ", 30000) + "1"), "");
  EXPECT_EQ(rows("SELECT " + repeated("NOT ", 30000) + "1"), "");
  EXPECT_EQ(rows(repeated("SELECT (", 10000)), "");
  EXPECT_EQ(rows(repeated("WITH c AS (", 10000)), "");
  EXPECT_EQ(rows("SELECT " + repeated("1 + ", 30000) + "1"), "int");
  std::string nested = "SELECT 1 AS a";
  for (int n = 0; n < 30; ++n) nested = "WITH c AS (" + nested + " UNION ALL SELECT a FROM c) SELECT a FROM c";
  rows(nested);
}

}  // namespace
}  // namespace eindb
