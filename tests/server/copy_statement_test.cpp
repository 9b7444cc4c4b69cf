#include "server/copy/copy_statement.hpp"

#include <gtest/gtest.h>

#include <string>

#include "common/error.hpp"

namespace eindb {
namespace {

using namespace std::string_literals;

CopyStatement parsed(std::string_view text) { return parse_copy_statement(text).value(); }

std::string_view part(std::string_view text, SourceSpan span) { return text.substr(span.begin, span.end - span.begin); }

TEST(CopyStatement, ATableAndItsColumns) {
  const std::string_view text = "copy public.\"My \"\"t\"\"\" ( i, \"J\" ) from stdin;";
  const auto copy = parsed(text);
  EXPECT_EQ(copy.schema, "public");
  EXPECT_EQ(copy.table, "My \"t\"");
  EXPECT_EQ(part(text, copy.source), "public.\"My \"\"t\"\"\"");
  EXPECT_EQ(copy.columns, (std::vector{"i"s, "J"s}));
  EXPECT_EQ(copy.side, CopySide::FromClient);
  EXPECT_EQ(std::get<CopyFormatOptions>(copy.format).format, CopyFormat::Text);
}

TEST(CopyStatement, AQuery) {
  const std::string_view text = "COPY (EINSUM Z[i] = SUM(A[(i),j]) /* ) */) TO STDOUT";
  const auto copy = parsed(text);
  EXPECT_TRUE(copy.table.empty());
  EXPECT_EQ(part(text, copy.source), "EINSUM Z[i] = SUM(A[(i),j]) /* ) */");
  EXPECT_EQ(copy.side, CopySide::ToClient);
  const std::string_view quoted = "COPY (SELECT ')' AS \"(\") TO STDOUT (FORMAT binary)";
  EXPECT_EQ(part(quoted, parsed(quoted).source), "SELECT ')' AS \"(\"");
}

TEST(CopyStatement, AQueryWithStringsOfPostgres) {
  for (const std::string_view query :
       {R"(SELECT E'\')', a)", "SELECT $$)$$", "SELECT ARRAY['(', 'y]']", "SELECT 1 /* /* ) */ ( */"}) {
    const auto text = "COPY (" + std::string(query) + ") TO STDOUT";
    EXPECT_EQ(part(text, parsed(text).source), query);
  }
}

TEST(CopyStatement, AsClientsWriteThem) {
  const auto psycopg2 = parsed("COPY \"t\" (\"i\",\"val\") FROM stdin WITH DELIMITER AS E'\\t' NULL AS E'\\\\N'");
  EXPECT_EQ(std::get<CopyFormatOptions>(psycopg2.format).null, "\\N");
  EXPECT_EQ(std::get<CopyFormatOptions>(psycopg2.format).delimiter, '\t');
  const auto asyncpg = parsed("COPY \"public\".\"t\"(\"i\", \"val\") FROM STDIN WITH (FORMAT binary)");
  EXPECT_EQ(std::get<CopyFormatOptions>(asyncpg.format).format, CopyFormat::Binary);
  EXPECT_EQ(parsed("copy pgbench_accounts from stdin with (freeze on)").table, "pgbench_accounts");
  EXPECT_EQ(parsed("COPY  ( select * from t ) TO STDOUT csv header").side, CopySide::ToClient);
}

TEST(CopyStatement, OthersAreTheEngines) {
  for (const auto* text :
       {"", "SELECT 1", "COPY", "COPY t", "COPY t FROM", "COPY t FROM 'stdin'", "COPY t TO 'x.npy' (FORMAT npy)",
        "COPY t FROM PROGRAM 'x'", "COPY t (a FROM STDIN", "COPY (SELECT 1 TO STDOUT", "COPY t () TO STDOUT",
        "COPY (SELECT 1) (a) TO STDOUT", "COPY t * TO STDOUT", "COPY t DELIMITERS ',' TO STDOUT", "COPY \"t FROM STDIN",
        "COPY a.b.c FROM STDIN", "COPYt FROM STDIN", "EXPLAIN COPY t TO STDOUT", "COPY 't' TO STDOUT"})
    EXPECT_FALSE(parse_copy_statement(text).has_value()) << text;
}

std::string refused(std::string_view text) {
  try {
    parse_copy_statement(text);
  } catch (const Error& error) {
    return std::string(describe(error.kind())) + " at " +
           (error.span() ? std::string(part(text, *error.span())) : "nowhere");
  }
  return "accepted";
}

TEST(CopyStatement, WhatCannotFollowIsRefusedWhereItStands) {
  EXPECT_EQ(refused("COPY (SELECT 1) FROM STDIN"), "syntax error at ");
  EXPECT_EQ(refused("COPY t TO STDOUT ()"), "syntax error at )");
  EXPECT_EQ(refused("COPY t TO STDOUT (FORMAT csv"), "syntax error at ");
  EXPECT_EQ(refused("COPY t TO STDOUT (FORMAT csv) x"), "syntax error at x");
  EXPECT_EQ(refused("COPY t TO STDOUT (FORMAT csv) CSV"), "syntax error at CSV");
  EXPECT_EQ(refused("COPY t TO STDOUT CSV (FORMAT csv)"), "syntax error at (");
  EXPECT_EQ(refused("COPY t TO STDOUT CSV HEADER true"), "syntax error at true");
  EXPECT_EQ(refused("COPY t TO STDOUT USING x"), "syntax error at x");
  EXPECT_EQ(refused("COPY t TO STDOUT DELIMITER ;"), "syntax error at ;");
  EXPECT_EQ(refused("COPY t TO STDOUT; x"), "syntax error at x");
  EXPECT_EQ(refused("COPY t TO STDOUT (NULL 'x"), "syntax error at 'x");
  EXPECT_EQ(refused("COPY t (a, a) TO STDOUT"), "syntax error at )");
  EXPECT_EQ(refused("COPY t FROM STDIN WHERE a > 1"), "not supported at WHERE");
  EXPECT_EQ(refused("COPY t FROM STDIN (NULL '\xff')"), "syntax error at \xff");
  EXPECT_EQ(refused("COPY t FROM STDIN (NULL E'\\xff')"), "syntax error at E'\\xff'");
}

TEST(CopyStatement, TextsOfOptions) {
  const auto null = [](const std::string& text) {
    return std::get<CopyFormatOptions>(parsed("COPY t TO STDOUT (NULL " + text + ")").format).null;
  };
  EXPECT_EQ(null("'it''s'"), "it's");
  EXPECT_EQ(null("'\\t'"), "\\t");
  EXPECT_EQ(null("E'\\\\N'"), "\\N");
  EXPECT_EQ(null("E'\\'x\\b\\f\\x41\\102\\q\\v'"), "'x\b\fABqv");
  EXPECT_EQ(null("e'\\xzz'"), "xzz");
  EXPECT_EQ(null("NONE"), "none");
  EXPECT_EQ(null("\"None\""), "None");
  EXPECT_EQ(null("3"), "3");
}

// Accepted and refused as by PostgreSQL 15.
TEST(CopyStatement, OptionsThatAreAcceptedInBothDirections) {
  for (const auto* options : {"(format csv)",
                              "(format CSV)",
                              "(\"format\" csv)",
                              "(delimiter '-')",
                              "(format csv, delimiter 'a')",
                              "(header 1)",
                              "(header on)",
                              "(header off)",
                              "(header FALSE)",
                              "(encoding 'utf8')",
                              "(encoding 'UTF-8')",
                              "(encoding utf8)",
                              "(freeze off)",
                              "(null '')",
                              "(null 3)",
                              "(delimiter E'\\t')",
                              "(delimiter E'\\011')",
                              "(format csv, escape ',')",
                              "(format binary, header false)",
                              "(format binary)",
                              "binary",
                              "csv delimiter as ';' null as 'x'",
                              "with csv",
                              "with (format csv)",
                              "with",
                              "using delimiters ';'",
                              "delimiters ';'",
                              "delimiter ',' csv header null 'x' quote '\"' escape '\\' encoding 'utf8'",
                              "header"}) {
    EXPECT_EQ(refused("COPY t FROM STDIN "s + options), "accepted") << options;
    EXPECT_EQ(refused("COPY t TO STDOUT "s + options), "accepted") << options;
  }
}

TEST(CopyStatement, OptionsThatAreRefusedInBothDirections) {
  for (const auto* options : {"(format foo)",
                              "(delimiter 'ab')",
                              "(delimiter '')",
                              "(delimiter E'\\n')",
                              "(delimiter E'\\r')",
                              "(delimiter 'a')",
                              "(delimiter '.')",
                              "(delimiter 9)",
                              "(delimiter '\\')",
                              "(delimiter '\xc3\xa9')",
                              "(format binary, delimiter ',')",
                              "(format binary, null '')",
                              "(format binary, header)",
                              "(format binary, quote 'x')",
                              "(quote 'x')",
                              "(escape 'x')",
                              "(format csv, quote 'xx')",
                              "(format csv, escape '')",
                              "(format csv, quote ',')",
                              "(null 'a\tb')",
                              "(null E'a\\nb')",
                              "(format csv, null E'\\r')",
                              "(format csv, null 'a\"')",
                              "(format csv, null ',')",
                              "(force_null (a))",
                              "(force_not_null (a))",
                              "(force_quote (a))",
                              "(format csv, force_null *)",
                              "(format csv, force_null)",
                              "(format csv, format csv)",
                              "csv header csv",
                              "csv delimiter ';' delimiter ';'",
                              "(header 2)",
                              "(header 'yes')",
                              "(header (a))",
                              "(foo 1)",
                              "(encoding 'latin1')",
                              "(encoding 'xx')",
                              "(freeze 3)",
                              "(format)",
                              "(delimiter)",
                              "(null)",
                              "(\"FORMAT\" csv)",
                              "(format csv,)",
                              "force null",
                              "force a"}) {
    EXPECT_NE(refused("COPY t FROM STDIN "s + options), "accepted") << options;
    EXPECT_NE(refused("COPY t TO STDOUT "s + options), "accepted") << options;
  }
}

TEST(CopyStatement, OptionsOfOneDirection) {
  for (const auto* options : {"(format csv, force_null (a, b))", "(format csv, force_not_null (a))", "(header match)",
                              "(format csv, header 'MATCH')", "csv force not null a, b force null a"}) {
    EXPECT_EQ(refused("COPY t FROM STDIN "s + options), "accepted") << options;
    EXPECT_NE(refused("COPY t TO STDOUT "s + options), "accepted") << options;
  }
  for (const auto* options :
       {"(format csv, force_quote *)", "(format csv, force_quote (a, b))", "csv force quote a", "csv force quote *"}) {
    EXPECT_NE(refused("COPY t FROM STDIN "s + options), "accepted") << options;
    EXPECT_EQ(refused("COPY t TO STDOUT "s + options), "accepted") << options;
  }
}

TEST(CopyStatement, WhatOptionsSay) {
  const auto from = [](const std::string& options) {
    return std::get<CopyFormatOptions>(parsed("COPY t FROM STDIN " + options).format);
  };
  const auto text = from("");
  EXPECT_EQ(text.delimiter, '\t');
  EXPECT_EQ(text.null, "\\N");
  EXPECT_EQ(text.header, CopyHeader::Absent);
  const auto csv = from("CSV QUOTE '''' FORCE NOT NULL a, \"B\" FORCE NULL c HEADER");
  EXPECT_EQ(csv.format, CopyFormat::Csv);
  EXPECT_EQ(csv.delimiter, ',');
  EXPECT_EQ(csv.null, "");
  EXPECT_EQ(csv.quote, '\'');
  EXPECT_EQ(csv.escape, '\'') << "as the quote";
  EXPECT_EQ(csv.header, CopyHeader::Present);
  EXPECT_EQ(csv.force_not_null.names, (std::vector{"a"s, "B"s}));
  EXPECT_EQ(csv.force_null.names, std::vector{"c"s});
  const auto other = from("(FORMAT csv, ESCAPE '\\', HEADER match, DELIMITER ';', NULL 'none')");
  EXPECT_EQ(other.escape, '\\');
  EXPECT_EQ(other.quote, '"');
  EXPECT_EQ(other.header, CopyHeader::Match);
  EXPECT_EQ(other.delimiter, ';');
  EXPECT_EQ(other.null, "none");
  EXPECT_EQ(from("BINARY").format, CopyFormat::Binary);
  EXPECT_EQ(std::get<CopyFormatOptions>(parsed("COPY BINARY t FROM STDIN").format).format, CopyFormat::Binary);
  EXPECT_TRUE(std::get<CopyFormatOptions>(parsed("COPY t TO STDOUT CSV FORCE QUOTE *").format).force_quote.all);
}

std::string file_statement(std::string_view text) {
  return copy_of_file(text, std::get<CopyStatement::File>(parsed(text).format), "/tmp/it's.bin");
}

TEST(CopyStatement, FormatsOfFilesAreTheEngines) {
  EXPECT_EQ(file_statement("COPY A FROM STDIN WITH (FORMAT npy);"), "COPY A FROM '/tmp/it''s.bin' (FORMAT npy)");
  EXPECT_EQ(file_statement("copy (EINSUM Z[i] = A[i]) to stdout (format 'HDF5', dataset '/x')"),
            "copy (EINSUM Z[i] = A[i]) to '/tmp/it''s.bin' (format 'HDF5', dataset '/x')");
  EXPECT_EQ(file_statement("COPY A TO STDOUT (FORMAT csv, LAYOUT coordinates)"),
            "COPY A TO '/tmp/it''s.bin' (FORMAT csv, LAYOUT coordinates)");
  EXPECT_EQ(refused("COPY A FROM STDIN (SHAPE '1,2')"), "invalid value at SHAPE '1,2'");
  EXPECT_EQ(refused("COPY A (i) FROM STDIN (FORMAT npy)"), "invalid value at A");
}

}  // namespace
}  // namespace eindb
