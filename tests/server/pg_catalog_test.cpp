#include "server/pg_catalog/pg_catalog.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/script.hpp"
#include "server/dialect/client_columns.hpp"
#include "server/dialect/dialect.hpp"
#include "server/values/declared_type.hpp"

namespace eindb {
namespace {

std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return std::to_string(*real);
  return "NULL";
}

std::vector<std::vector<std::string>> rows_of(Result result) {
  std::vector<std::vector<std::string>> rows;
  Row row;
  while (result.rows != nullptr && result.rows->next(row)) {
    auto& texts = rows.emplace_back();
    for (const auto& cell : row) texts.push_back(text_of(cell));
  }
  return rows;
}

/// A database with tensors, tables, views and macros, as a client of PostgreSQL sees it.
class PgCatalogTest : public ::testing::Test {
 protected:
  PgCatalogTest() : session_(":memory:"), catalog_(session_) {
    for (const char* statement :
         {"CREATE TENSOR A(i 3, j 2)", "CREATE TENSOR \"Signal\" COMPLEX64 AS EINSUM \"Signal\"[t 8] = t",
          "CREATE MACRO clip(x) AS CASE WHEN x < 0 THEN 0 ELSE x END",
          "CREATE TABLE notes(id INTEGER PRIMARY KEY, title TEXT NOT NULL, score REAL DEFAULT 0)",
          "CREATE INDEX notes_title ON notes(title)", "CREATE UNIQUE INDEX notes_score ON notes(score)",
          "CREATE TABLE child(id INTEGER PRIMARY KEY, note INTEGER REFERENCES notes(id))",
          "CREATE VIEW v AS SELECT title FROM notes", "CREATE VIEW sums AS SELECT i, SUM(val) AS s FROM A GROUP BY i"})
      session_.execute(statement);
  }

  Result execute(const std::string& sql) {
    const auto translation = translate(sql);
    if (translation.uses_catalog) catalog_.show(kClient);
    const auto prepared = session_.prepare(translation.text_of(sql));
    StatementInputs inputs;
    inputs.parameters.resize(prepared->parameter_count, std::string("25"));
    for (const auto& [number, type] : translation.parameter_types)
      if (is_array(type)) inputs.parameters.at(number - 1) = std::string("{25}");
    return session_.execute(*prepared, inputs);
  }
  Translation translate(const std::string& sql) {
    return translate_dialect(sql, [&](const std::string& schema, const std::string& table) {
      if (schema == "pg_catalog") catalog_.show(kClient);
      return columns_for_client(session_, schema, table);
    });
  }
  std::vector<std::vector<std::string>> rows(const std::string& sql) { return rows_of(execute(sql)); }
  std::string value(const std::string& sql) { return rows(sql).at(0).at(0); }

  const ClientIdentity kClient{.user = "ada", .database = "tests", .process_id = 42, .settings = {{"timezone", "UTC"}}};
  Session session_;
  PgCatalog catalog_;
};

using Rows = std::vector<std::vector<std::string>>;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_query(std::string_view statement) {
  const auto word = to_lower(statement.substr(0, statement.find_first_of(" \n(")));
  return word == "select" || word == "with";
}

TEST_F(PgCatalogTest, EveryRecordedQueryAnswers) {
  const auto folder = std::filesystem::path(EINDB_CLIENT_QUERIES);
  int queries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    auto script = read(entry.path());
    for (const char* name : {"notes_title", "notes", "child", "v", "A"}) {
      const auto mark = std::string("{oid:") + name + "}";
      const auto oid = value(std::string("SELECT '") + name + "'::regclass");
      for (auto at = script.find(mark); at != std::string::npos; at = script.find(mark))
        script.replace(at, mark.size(), oid);
    }
    for (const auto& statement : split_statements(script)) {
      if (!is_query(statement.text)) continue;
      ++queries;
      try {
        rows(std::string(statement.text));
      } catch (const Error& error) {
        const auto text = std::string(statement.text);
        ADD_FAILURE() << entry.path().filename() << ": " << error.what() << "\n"
                      << text << "\n---\n"
                      << translate(text).text_of(text);
      }
    }
  }
  EXPECT_GT(queries, 100);
}

// The first query of psql's \d.
TEST_F(PgCatalogTest, RelationsAreTensorsTablesAndViews) {
  const auto listed = rows(
      "SELECT n.nspname, c.relname, c.relkind, pg_catalog.pg_get_userbyid(c.relowner) FROM pg_catalog.pg_class c"
      " LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r','p','v','m','S','f','')"
      " AND n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_toast' AND n.nspname <> 'information_schema'"
      " AND pg_catalog.pg_table_is_visible(c.oid) ORDER BY 1,2");
  EXPECT_EQ(listed, (Rows{{"public", "A", "r", "ada"},
                          {"public", "Signal", "r", "ada"},
                          {"public", "child", "r", "ada"},
                          {"public", "notes", "r", "ada"},
                          {"public", "sums", "v", "ada"},
                          {"public", "v", "v", "ada"}}));
}

TEST_F(PgCatalogTest, ColumnsHaveTypes) {
  const auto columns = [&](const std::string& name) {
    return rows(
        "SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull"
        " FROM pg_catalog.pg_attribute a WHERE a.attrelid = '" +
        name +
        "'::regclass AND a.attnum > 0"
        " AND NOT a.attisdropped ORDER BY a.attnum");
  };
  EXPECT_EQ(columns("A"), (Rows{{"i", "bigint", "1"}, {"j", "bigint", "1"}, {"val", "double precision", "0"}}));
  EXPECT_EQ(columns("public.\"Signal\""), (Rows{{"t", "bigint", "1"}, {"re", "real", "0"}, {"im", "real", "0"}}));
  EXPECT_EQ(columns("notes"),
            (Rows{{"id", "bigint", "1"}, {"title", "text", "1"}, {"score", "double precision", "0"}}));
  EXPECT_EQ(columns("sums")[0][0], "i");
  EXPECT_EQ(rows("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'child'"
                 " ORDER BY ordinal_position"),
            (Rows{{"id", "bigint"}, {"note", "bigint"}}));
}

TEST_F(PgCatalogTest, KeysAndIndicesHaveDefinitions) {
  EXPECT_EQ(rows("SELECT c.relname, i.indisprimary, i.indisunique, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true)"
                 " FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid"
                 " WHERE i.indrelid = 'notes'::regclass ORDER BY 1"),
            (Rows{{"notes_pkey", "1", "1", "CREATE UNIQUE INDEX notes_pkey ON public.notes USING btree (id)"},
                  {"notes_score", "0", "1", "CREATE UNIQUE INDEX notes_score ON public.notes USING btree (score)"},
                  {"notes_title", "0", "0", "CREATE INDEX notes_title ON public.notes USING btree (title)"}}));
  EXPECT_EQ(rows("SELECT contype, pg_get_constraintdef(oid, true), conrelid::regclass, confrelid::regclass"
                 " FROM pg_constraint WHERE conrelid = 'child'::regclass ORDER BY 1"),
            (Rows{{"f", "FOREIGN KEY (note) REFERENCES notes(id)", "child", "notes"},
                  {"p", "PRIMARY KEY (id)", "child", "0"}}));
  EXPECT_EQ(value("SELECT pg_get_viewdef('v'::regclass)"), "SELECT title FROM notes;");
  EXPECT_EQ(rows("SELECT proname, pg_get_function_arguments(oid) FROM pg_proc"), (Rows{{"clip", "x"}}));
}

TEST_F(PgCatalogTest, TensorsHaveAKeyThatTellsOfThem) {
  EXPECT_EQ(rows("SELECT pg_get_indexdef(i.indexrelid, 0, true), pg_get_constraintdef(k.oid), i.indkey"
                 " FROM pg_index i JOIN pg_constraint k ON k.conindid = i.indexrelid WHERE i.indrelid = 'A'::regclass"),
            (Rows{{"CREATE UNIQUE INDEX \"A_pkey\" ON public.\"A\" USING tiles (i, j) WITH (type='FLOAT64',"
                   " extents='3,2', partition='1,1')",
                   "PRIMARY KEY (i, j)", "1 2"}}));
  EXPECT_EQ(rows("SELECT attname FROM pg_attribute WHERE attrelid = '\"A_pkey\"'::regclass ORDER BY attnum"),
            (Rows{{"i"}, {"j"}}));
}

TEST_F(PgCatalogTest, KeywordsAreListedAndQuoted) {
  EXPECT_EQ(rows("SELECT word, catcode FROM pg_get_keywords() WHERE word IN ('between', 'commit', 'left', 'select')"
                 " ORDER BY word"),
            (Rows{{"between", "C"}, {"commit", "U"}, {"left", "T"}, {"select", "R"}}));
  EXPECT_EQ(rows("SELECT quote_ident('order'), quote_ident('commit'), quote_ident('plain')"),
            (Rows{{"\"order\"", "commit", "plain"}}));
}

TEST_F(PgCatalogTest, FunctionsAreFoundByName) {
  EXPECT_EQ(value("SELECT pg_get_functiondef('clip'::regproc::oid)"),
            "CREATE OR REPLACE MACRO clip(\"x\") AS CASE WHEN x < 0 THEN 0 ELSE x END");
  EXPECT_EQ(value("SELECT oid::regproc FROM pg_proc"), "clip");
}

TEST_F(PgCatalogTest, RelationsThatAreNotThereAreNoObjects) {
  EXPECT_THROW(rows("SELECT 'absent'::regclass"), Error);
  EXPECT_EQ(value("SELECT to_regclass('absent')"), "NULL");
  EXPECT_EQ(value("SELECT to_regclass('public.notes') = 'notes'::regclass"), "1");
  EXPECT_EQ(value("SELECT 'pg_catalog.pg_roles'::regclass > 0"), "1");
}

TEST_F(PgCatalogTest, SettingsHaveTheirNames) {
  EXPECT_EQ(rows("SELECT name, setting FROM pg_settings WHERE name IN ('TimeZone', 'timezone')"),
            (Rows{{"TimeZone", "UTC"}}));
}

TEST_F(PgCatalogTest, TablesHaveTheColumnsOfTheSystem) {
  EXPECT_EQ(rows("SELECT DISTINCT tableoid::regclass, xmin FROM pg_class"), (Rows{{"pg_class", "1"}}));
  EXPECT_EQ(value("SELECT 'pg_opfamily'::regclass::oid"), "2753");
}

TEST_F(PgCatalogTest, TablesWithForeignKeysHaveTriggers) {
  EXPECT_EQ(rows("SELECT relname, relhastriggers FROM pg_class WHERE relnamespace = 2200 AND relkind = 'r' ORDER BY 1"),
            (Rows{{"A", "0"}, {"Signal", "0"}, {"child", "1"}, {"notes", "1"}}));
}

TEST_F(PgCatalogTest, InformationSchemaKnowsForeignKeys) {
  EXPECT_EQ(rows("SELECT r.unique_constraint_name, r.delete_rule, u.table_name, u.column_name"
                 " FROM information_schema.referential_constraints r JOIN information_schema.constraint_column_usage u"
                 " ON u.constraint_name = r.constraint_name"),
            (Rows{{"notes_pkey", "NO ACTION", "notes", "id"}}));
  EXPECT_EQ(rows("SELECT table_name, view_definition FROM information_schema.views WHERE table_name = 'v'"),
            (Rows{{"v", "SELECT title FROM notes;"}}));
}

TEST_F(PgCatalogTest, FollowsTheDatabase) {
  const std::string count = "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 2200";
  EXPECT_EQ(value(count), "4");
  session_.execute("BEGIN");
  session_.execute("CREATE TABLE more(x)");
  EXPECT_EQ(value(count), "5");
  session_.execute("ROLLBACK");
  EXPECT_EQ(value(count), "4");
  session_.execute("DROP TENSOR A");
  session_.execute("DROP VIEW sums");
  EXPECT_EQ(value(count), "3");
}

TEST_F(PgCatalogTest, StandsInATransactionThatIsUndone) {
  session_.execute("BEGIN");
  EXPECT_EQ(value("SELECT relname FROM pg_class WHERE oid = 'notes'::regclass"), "notes");
  session_.execute("ROLLBACK");
  EXPECT_EQ(value("SELECT relname FROM pg_class WHERE oid = 'notes'::regclass"), "notes");
}

TEST_F(PgCatalogTest, BrokenViewsAreListedWithoutColumns) {
  session_.execute("CREATE VIEW broken AS SELECT * FROM absent");
  EXPECT_EQ(value("SELECT relnatts FROM pg_class WHERE relname = 'broken'"), "0");
}

TEST_F(PgCatalogTest, NobodyWritesIt) {
  catalog_.show(kClient);
  for (const char* statement :
       {"DELETE FROM pg_catalog.pg_class", "CREATE TABLE pg_catalog.x(a)", "DROP TABLE pg_catalog.pg_class",
        "UPDATE pg_type SET typname = 'x'", "DETACH pg_catalog", "ALTER TABLE pg_catalog.pg_class RENAME TO x"}) {
    try {
      session_.execute(statement);
      ADD_FAILURE() << statement;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::ReadOnly) << statement << ": " << error.what();
    }
  }
}

TEST_F(PgCatalogTest, FunctionsTellOfTheClient) {
  EXPECT_EQ(
      rows("SELECT current_user, current_database(), pg_backend_pid(), current_schema, current_setting('TimeZone')"),
      (Rows{{"ada", "tests", "42", "public", "UTC"}}));
  EXPECT_THROW(rows("SELECT current_setting('nonsense')"), Error);
  EXPECT_EQ(value("SELECT pg_size_pretty(pg_table_size('A'::regclass))"), "48 bytes");
}

TEST_F(PgCatalogTest, ArraysAndPatternsWork) {
  EXPECT_EQ(value("SELECT array_to_string(ARRAY['a', 'b c', NULL], ',', '*')"), "a,b c,*");
  EXPECT_EQ(value("SELECT ARRAY[1, 2]"), "{1,2}");
  EXPECT_EQ(value("SELECT ARRAY(SELECT relname FROM pg_class WHERE relkind = 'v' ORDER BY 1)"), "{sums,v}");
  EXPECT_EQ(value("SELECT 2 = ANY('{1,2}'::int4[])"), "1");
  EXPECT_EQ(value("SELECT 'b' <> ALL(ARRAY['a', 'b'])"), "0");
  EXPECT_EQ(rows("SELECT u.x, n FROM unnest(ARRAY['p', 'q']) WITH ORDINALITY AS u(x, n)"),
            (Rows{{"p", "1"}, {"q", "2"}}));
  EXPECT_EQ(rows("SELECT s FROM generate_series(2, 4) s"), (Rows{{"2"}, {"3"}, {"4"}}));
  EXPECT_EQ(value("SELECT 'Abc' ~ '^a'"), "0");
  EXPECT_EQ(value("SELECT 'Abc' ~* '^a'"), "1");
  EXPECT_EQ(value("SELECT 'Abc' !~* '^a'"), "0");
  EXPECT_THROW(rows("SELECT 'a' ~ '('"), Error);
  EXPECT_THROW(rows("SELECT count(*) FROM generate_series(1, 1000000000)"), Error);
}

TEST_F(PgCatalogTest, ColumnsOfTheCatalogHaveDeclaredTypes) {
  const auto result = execute("SELECT relname, relhasindex, oid, relkind FROM pg_catalog.pg_class");
  ASSERT_EQ(result.columns.size(), 4U);
  EXPECT_EQ(declared_data_type(result.columns[0].declared_type), DataType::Name);
  EXPECT_EQ(declared_data_type(result.columns[1].declared_type), DataType::Bool);
  EXPECT_EQ(declared_data_type(result.columns[2].declared_type), DataType::Oid);
  EXPECT_EQ(declared_data_type(result.columns[3].declared_type), DataType::Char);
  // psql's \du recognises roles without a login by this column.
  const auto role = execute("SELECT rolcanlogin FROM pg_catalog.pg_roles");
  EXPECT_EQ(declared_data_type(role.columns.at(0).declared_type), DataType::Bool);
}

}  // namespace
}  // namespace eindb
