#include "server/copy/copy_decoder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/server/copy_rows.hpp"

namespace eindb {
namespace {

using namespace std::string_literals;

struct Case {
  std::string options;
  std::string bytes;
  std::string expected;  ///< as decoded() shows it, for columns a and b
};

void expect(const std::vector<Case>& cases, const std::vector<std::string>& columns = {"a", "b"}) {
  for (const auto& [options, bytes, expected] : cases) {
    const auto format = copy_format(options, CopySide::FromClient);
    for (std::size_t piece = 1; piece <= bytes.size() + 1; ++piece)
      EXPECT_EQ(decoded(format, columns, bytes, piece), expected) << options << " in pieces of " << piece;
  }
}

// The results and refusals of PostgreSQL 15 for the same bytes, here and below.
TEST(CopyDecoder, LinesOfText) {
  expect({
      {"", "", ""},
      {"", "1\t2\n", "[1][2]\n"},
      {"", "1\t2", "[1][2]\n"},
      {"", "1\t2\r", "[1][2]\n"},
      {"", "1\t2\r\n3\t4\r\n", "[1][2]\n[3][4]\n"},
      {"", "1\t2\r3\t4", "[1][2]\n[3][4]\n"},
      {"", "1\t2\r\n3\t4\n", "[1][2]\nliteral newline found in data (COPY t, line 2)"},
      {"", "1\t2\n3\t4\r\n", "[1][2]\nliteral carriage return found in data (COPY t, line 2)"},
      {"", "1\t2\r3\t4\n", "[1][2]\nliteral newline found in data (COPY t, line 2)"},
      {"", "1\t2\r\n3\t4\r5", "[1][2]\nliteral carriage return found in data (COPY t, line 2)"},
      {"", "1\t2\n3\n", "[1][2]\nmissing data for column \"b\" (COPY t, line 2: \"3\")"},
      {"", "1\t2\n3\t4\t5\n", "[1][2]\nextra data after last expected column (COPY t, line 2: \"3\t4\t5\")"},
      {"", "\n", "missing data for column \"b\" (COPY t, line 1: \"\")"},
      {"", "a\tb\\\nc\n", "[a][b\nc]\n"},
      {"", "a\tb\\", "[a][b]\n"},
      {"delimiter '|'", "a|b\\|c\n", "[a][b|c]\n"},
      {"(header)", "x\n1\t2\n", "[1][2]\n"},
      {"(header)", "x", ""},
  });
}

TEST(CopyDecoder, EndsOfText) {
  const auto other = "end-of-copy marker does not match previous newline style (COPY t, line 2)"s;
  const auto corrupt = "end-of-copy marker corrupt (COPY t, line 2)"s;
  expect({
      {"", "\\.\n", ""},
      {"", "a\tb\n\\.\nx\ty\n", "[a][b]\n"},
      {"", "a\tb\\.\nx\ty\n", "[a][b]\n"},
      {"", "a\tb\n\\.\n\xff", "[a][b]\n"},
      {"", "a\tb\r\n\\.\r\n", "[a][b]\n"},
      {"", "a\tb\r\\.\r", "[a][b]\n"},
      {"", "a\tb\n\\.", "[a][b]\n" + corrupt},
      {"", "a\tb\n\\.x\n", "[a][b]\n" + corrupt},
      {"", "a\tb\r\n\\.\rx", "[a][b]\n" + corrupt},
      {"", "a\tb\r\n\\.\n", "[a][b]\n" + other},
      {"", "a\tb\n\\.\r\n", "[a][b]\n" + other},
      {"", "a\tb\r\\.\n", "[a][b]\n" + other},
      {"(header)", "a\tb\\.\n1\t2\n", ""},
  });
}

TEST(CopyDecoder, EscapesOfText) {
  expect({
      {"", "\\N\t\\\\N\n", "[NULL][\\N]\n"},
      {"null ''", "\t\\N\n", "[NULL][N]\n"},
      {"null 'NUL'", "NUL\t\\NUL\n", "[NULL][NUL]\n"},
      {"", "\\b\\f\\n\\r\\t\\v\\q\t\n", "[\b\f\n\r\t\vq][]\n"},
      {"", "\\x41\\x4g\\xzz\t\\101\\7\\1010\n",
       "[A\x04gxzz][A\x07"
       "A0]\n"},
      {"", "\\xc3\\xa4\t\xc3\xa4\n", "[\xc3\xa4][\xc3\xa4]\n"},
      {"", "\\000\tb\n", "invalid byte sequence for encoding \"UTF8\": 0x00 (COPY t, line 1: \"\\000\tb\")"},
      {"", "\\400\tb\n", "invalid byte sequence for encoding \"UTF8\": 0x00 (COPY t, line 1: \"\\400\tb\")"},
      {"", "\\xff\tb\n", "invalid byte sequence for encoding \"UTF8\": 0xff (COPY t, line 1: \"\\xff\tb\")"},
      {"", "\xff\tb\n", "invalid byte sequence for encoding \"UTF8\": 0xff (COPY t, line 1)"},
      {"", "a\0\tb\n"s, "invalid byte sequence for encoding \"UTF8\": 0x00 (COPY t, line 1)"},
  });
}

TEST(CopyDecoder, QuotesOfCsv) {
  expect({
      {"csv", "1,2\n", "[1][2]\n"},
      {"csv", "\"\",\n", "[][NULL]\n"},
      {"csv", "\"a\"\"b\",c\n", "[a\"b][c]\n"},
      {"csv", "\"a\nb\",c\n", "[a\nb][c]\n"},
      {"csv", "\"a\r\nb\",\"c\rd\"\r\n", "[a\r\nb][c\rd]\n"},
      {"csv", "a\"b,c\"d,e\n", "[ab,cd][e]\n"},
      {"csv", "a,\"b\"c\"d\"\n", "[a][bcd]\n"},
      {"csv", "\"a,b\n", "unterminated CSV quoted field (COPY t, line 2: \"\"a,b\n\")"},
      {"csv", "a,b,c\n", "extra data after last expected column (COPY t, line 1: \"a,b,c\")"},
      {"csv", "a\n", "missing data for column \"b\" (COPY t, line 1: \"a\")"},
      {"csv escape '\\'", "\"a\\\"b\\\\c\\d\",e\n", "[a\"b\\c\\d][e]\n"},
      {"csv escape '\\'", "\"a\\\n\",e\n", "[a\\\n][e]\n"},
      {"csv escape '\\'", "\"a\\\\\",\\\n", "[a\\][\\]\n"},
      {"csv quote ''''", "'a''b',c\n", "[a'b][c]\n"},
      {"csv quote '\\'", "\\a\\,\\.\\\n", "[a][.]\n"},
      {"csv null 'x'", "x,\"x\"\n", "[NULL][x]\n"},
      {"csv null 'x' force not null A force null b", "x,\"x\"\n\"x\",x\n", "[x][NULL]\n[x][NULL]\n"},
  });
}

TEST(CopyDecoder, LinesOfCsv) {
  expect({
      {"csv", "a,b\r\nc,d\n", "[a][b]\nunquoted newline found in data (COPY t, line 2)"},
      {"csv", "a,b\nc,d\r\n", "[a][b]\nunquoted carriage return found in data (COPY t, line 2)"},
      {"csv", "a,b\n\\.\nxx\n", "[a][b]\n"},
      {"csv", "a,b\r\n\\.\r\n", "[a][b]\n"},
      {"csv", "\\.,a\n\\.x,y\n", "[\\.][a]\n[\\.x][y]\n"},
      {"csv", "\"x\",\"\\.\n\\.\n\"\n", "[x][\\.\n\\.\n]\n"},
      {"csv", "a,b\n\\.", "[a][b]\nmissing data for column \"b\" (COPY t, line 2: \"\\.\")"},
      {"csv", "a,b\r\n\\.\n", "[a][b]\nunquoted newline found in data (COPY t, line 2)"},
      {"csv", "a,b\r\n\\.\r\r", "[a][b]\nend-of-copy marker does not match previous newline style (COPY t, line 2)"},
      {"csv", "a,b\n\\.\r\n", "[a][b]\nend-of-copy marker does not match previous newline style (COPY t, line 2)"},
      {"csv quote '\\'", "\\.\n", ""},
      {"csv header", "\"a\nb\",b\n1,2\n", "[1][2]\n"},
      {"csv", "1,\"\n\n\"\n2", "[1][\n\n]\nmissing data for column \"b\" (COPY t, line 4: \"2\")"},
  });
}

TEST(CopyDecoder, HeadersThatMatch) {
  expect({
      {"(format csv, header match)", "a,\"B\"\n1,2\n", "[1][2]\n"},
      {"(header match)", "a\tb\n1\t2\n", "[1][2]\n"},
      {"(format csv, header match)", "a,c\n1,2\n",
       "column name mismatch in header line field 2: got \"c\", expected \"b\" (COPY t, line 1: \"a,c\")"},
      {"(format csv, header match)", "a,\n1,2\n",
       "column name mismatch in header line field 2: got null value (\"\"), expected \"b\" (COPY t, line 1: \"a,\")"},
      {"(header match)", "a\t\\N\n1\t2\n",
       "column name mismatch in header line field 2: got null value (\"\\N\"), expected \"b\" (COPY t, line 1: "
       "\"a\t\\N\")"},
      {"(header match)", "", "wrong number of fields in header line: got 1, expected 2 (COPY t, line 1: \"\")"},
      {"(format csv, header match)", "a\n1,2\n",
       "wrong number of fields in header line: got 1, expected 2 (COPY t, line 1: \"a\")"},
      {"(format csv, header match)", "a,b,c,d\n1,2\n",
       "wrong number of fields in header line: got 4, expected 2 (COPY t, line 1: \"a,b,c,d\")"},
  });
}

TEST(CopyDecoder, AColumnAlone) {
  expect({{"", "\nx\n\\N", "[]\n[x]\n[NULL]\n"}, {"csv", "\nx\n\"\"\n", "[NULL]\n[x]\n[]\n"}}, {"a"});
}

TEST(CopyDecoder, ErrorsInAField) {
  const auto decoder = make_copy_decoder(copy_format("", CopySide::FromClient), {"t", {"a", "b"}});
  decoder->append("1\t2\nx\\ty\t\\N\n" + std::string(99, 'y') + "\xc3\xa4\t3\n");
  const Error cause(ErrorKind::Value, "'x' is no int8", std::nullopt, "hint");
  decoder->next();
  ASSERT_NE(decoder->next(), nullptr);
  const auto error = decoder->error_in(0, cause);
  EXPECT_EQ(error.kind(), ErrorKind::Value);
  EXPECT_EQ(error.message(), cause.message());
  EXPECT_EQ(error.hint(), "hint");
  EXPECT_EQ(error.context(), "COPY t, line 2, column a: \"x\ty\"");
  EXPECT_EQ(decoder->error_in(1, cause).context(), "COPY t, line 2, column b: null input");
  ASSERT_NE(decoder->next(), nullptr);
  EXPECT_EQ(decoder->error_in(0, cause).context(), "COPY t, line 3, column a: \"" + std::string(99, 'y') + "...\"")
      << "no half characters";
}

TEST(CopyDecoder, LongRowsAreRefusedBeforeTheyHaveComeWhole) {
  for (const auto* options : {"", "csv"}) {
    const auto format = copy_format(options, CopySide::FromClient);
    const auto most = [&](std::string_view bytes, std::size_t limit) {
      return decoded(*make_copy_decoder(format, {"t", {"a"}}, limit), bytes, 1);
    };
    EXPECT_EQ(most("1234\n12345", 5), "[1234]\n[12345]\n");
    EXPECT_EQ(most("1234\n123456", 5), "[1234]\na row is longer than the 5 bytes that it may have (COPY t, line 2)");
  }
  EXPECT_EQ(decoded(*make_copy_decoder(copy_format("csv", CopySide::FromClient), {"t", {"a"}}, 5), "\"1\n2\n3", 1),
            "a row is longer than the 5 bytes that it may have (COPY t, line 3)")
      << "it may be several lines";
}

TEST(CopyDecoder, ColumnsOfForcesExist) {
  EXPECT_THROW(make_copy_decoder(copy_format("csv force null z", CopySide::FromClient), {"t", {"a"}}), Error);
  EXPECT_THROW(make_copy_decoder(copy_format("csv force not null z", CopySide::FromClient), {"t", {"a"}}), Error);
}

// Quadratic work would not end.
TEST(CopyDecoder, ALongRowByteByByte) {
  for (const auto* options : {"", "csv"}) {
    const auto decoder = make_copy_decoder(copy_format(options, CopySide::FromClient), {"t", {"a"}});
    const std::string row = '"' + std::string(2000000, 'x') + "\"\n";
    for (const char c : row) {
      decoder->append({&c, 1});
      const auto* const fields = decoder->next();
      EXPECT_EQ(fields != nullptr, c == '\n');
    }
  }
}

}  // namespace
}  // namespace eindb
