#include "server/copy/copy_encoder.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "tests/server/copy_rows.hpp"

namespace eindb {
namespace {

using namespace std::string_literals;
using Part = CopyColumn::Part;

std::string encoded(std::string_view options, const std::vector<CopyColumn>& columns, const std::vector<Row>& rows) {
  CopyEncoder encoder(copy_format(options, CopySide::ToClient), columns);
  MessageWriter out;
  encoder.begin(out);
  for (const auto& row : rows) encoder.row(out, row);
  encoder.end(out);
  return out.buffer();
}

std::vector<CopyColumn> numbers_and_text() {
  return {{"i", DataType::Int8, Part::Whole},
          {"f", DataType::Float4, Part::Whole},
          {"d", DataType::Float8, Part::Whole},
          {"s", DataType::Text, Part::Whole}};
}

// The rows that PostgreSQL 15 copied to produce the expected output below.
std::string encoded(std::string_view options) {
  constexpr auto kInfinity = std::numeric_limits<double>::infinity();
  const Cell two(std::int64_t{2});
  const auto with = [&](std::string text) { return Row{two, 3.0F, 4.0, std::move(text)}; };
  return encoded(options, numbers_and_text(),
                 {{std::int64_t{1}, 0.1F, 1e15, "x"s},
                  {{}, {}, {}, {}},
                  {std::int64_t{-5}, std::numeric_limits<float>::quiet_NaN(), -kInfinity, ""s},
                  {std::int64_t{0}, 0.0F, 1e-5, "a\tb\nc\\d\re\bf\fgvh\x01\x7f"s},
                  with("\\N"),
                  with("\\."),
                  with("a,b"),
                  with("say \"x\""),
                  with("l1\r\nl2"),
                  with("\xc3\xa4\xc3\xb6"),
                  with(" sp "),
                  with("1")});
}

TEST(CopyEncoder, Text) {
  EXPECT_EQ(
      encoded(""),
      "1\t0.1\t1e+15\tx\n\\N\t\\N\t\\N\t\\N\n-5\tNaN\t-Infinity\t\n0\t0\t1e-05\ta\\tb\\nc\\\\d\\re\\bf\\fgvh\x01\x7f\n"
      "2\t3\t4\t\\\\N\n2\t3\t4\t\\\\.\n2\t3\t4\ta,b\n2\t3\t4\tsay "
      "\"x\"\n2\t3\t4\tl1\\r\\nl2\n2\t3\t4\t\xc3\xa4\xc3\xb6\n"
      "2\t3\t4\t sp \n2\t3\t4\t1\n");
  EXPECT_EQ(
      encoded("(delimiter '-')"),
      "1-0.1-1e+15-x\n\\N-\\N-\\N-\\N\n\\-5-NaN-\\-Infinity-\n0-0-1e\\-05-a\\tb\\nc\\\\d\\re\\bf\\fgvh\x01\x7f\n"
      "2-3-4-\\\\N\n2-3-4-\\\\.\n2-3-4-a,b\n2-3-4-say \"x\"\n2-3-4-l1\\r\\nl2\n2-3-4-\xc3\xa4\xc3\xb6\n2-3-4- sp \n"
      "2-3-4-1\n")
      << "numbers have the delimiter, too";
}

TEST(CopyEncoder, Csv) {
  EXPECT_EQ(encoded("(format csv)"),
            "1,0.1,1e+15,x\n,,,\n-5,NaN,-Infinity,\"\"\n0,0,1e-05,\"a\tb\nc\\d\re\bf\fgvh\x01\x7f\"\n"
            "2,3,4,\\N\n2,3,4,\\.\n2,3,4,\"a,b\"\n2,3,4,\"say \"\"x\"\"\"\n2,3,4,\"l1\r\nl2\"\n2,3,4,\xc3\xa4\xc3\xb6\n"
            "2,3,4, sp \n2,3,4,1\n");
  EXPECT_EQ(encoded("(format csv, escape '\\')"),
            "1,0.1,1e+15,x\n,,,\n-5,NaN,-Infinity,\"\"\n0,0,1e-05,\"a\tb\nc\\\\d\re\bf\fgvh\x01\x7f\"\n"
            "2,3,4,\\N\n2,3,4,\\.\n2,3,4,\"a,b\"\n2,3,4,\"say \\\"x\\\"\"\n2,3,4,\"l1\r\nl2\"\n2,3,4,\xc3\xa4\xc3\xb6\n"
            "2,3,4, sp \n2,3,4,1\n");
}

TEST(CopyEncoder, NumbersMayNeedQuotes) {
  const Row row{std::int64_t{1}, 0.1F, 1e15, "1"s};
  EXPECT_EQ(encoded("(format csv, delimiter '.')", numbers_and_text(), {row}), "1.\"0.1\".1e+15.1\n");
  EXPECT_EQ(encoded("(format csv, quote '1')", numbers_and_text(), {row}), "1111,10.111,111e+1151,1111\n");
  EXPECT_EQ(encoded("(format csv, null '1')", numbers_and_text(), {row, {{}, {}, {}, {}}}),
            "\"1\",0.1,1e+15,\"1\"\n1,1,1,1\n");
  EXPECT_EQ(encoded("(format csv, escape '1')", numbers_and_text(), {row}), "1,0.1,1e+15,1\n")
      << "an escape outside of quotes is nothing special";
  EXPECT_EQ(encoded("(format csv, force_quote *)", numbers_and_text(), {row, {{}, {}, {}, {}}}),
            "\"1\",\"0.1\",\"1e+15\",\"1\"\n,,,\n");
  EXPECT_EQ(encoded("(format csv, force_quote (I, s))", numbers_and_text(), {row}), "\"1\",0.1,1e+15,\"1\"\n");
}

TEST(CopyEncoder, WhatStandsForNull) {
  const Row row{std::int64_t{2}, 3.0F, 4.0, "\\N"s};
  const Row nulls{{}, {}, {}, {}};
  EXPECT_EQ(encoded("(null '')", numbers_and_text(), {nulls, row}), "\t\t\t\n2\t3\t4\t\\\\N\n");
  EXPECT_EQ(encoded("(null 'NULL', delimiter '|')", numbers_and_text(), {nulls, row}),
            "NULL|NULL|NULL|NULL\n2|3|4|\\\\N\n");
  EXPECT_EQ(encoded("(format csv, null '\\N')", numbers_and_text(), {nulls, row}), "\\N,\\N,\\N,\\N\n2,3,4,\"\\N\"\n");
}

TEST(CopyEncoder, AColumnAlone) {
  const std::vector<CopyColumn> column{{"\\.", DataType::Text, Part::Whole}};
  const std::vector<Row> rows{{"\\."s}, {"a"s}, {""s}, {Cell()}, {"\\.x"s}};
  EXPECT_EQ(encoded("", column, rows), "\\\\.\na\n\n\\N\n\\\\.x\n");
  EXPECT_EQ(encoded("(format csv)", column, rows), "\"\\.\"\na\n\"\"\n\n\\.x\n");
  EXPECT_EQ(encoded("(format csv, header)", column, rows), "\"\\.\"\n\"\\.\"\na\n\"\"\n\n\\.x\n");
  EXPECT_EQ(encoded("(header, delimiter '|')", column, rows), "\\\\.\n\\\\.\na\n\n\\N\n\\\\.x\n");
}

TEST(CopyEncoder, Headers) {
  const std::vector<CopyColumn> columns{{"a|,b", DataType::Text, Part::Whole}, {"\\c", DataType::Int8, Part::Whole}};
  EXPECT_EQ(encoded("(header, delimiter '|')", columns, {}), "a\\|,b|\\\\c\n");
  EXPECT_EQ(encoded("(format csv, header, force_quote *)", columns, {}), "\"a|,b\",\\c\n");
}

TEST(CopyEncoder, Binary) {
  const auto begin = "PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0"s;
  EXPECT_EQ(
      encoded("binary", numbers_and_text(), {{std::int64_t{1}, 0.1F, 1e15, "x"s}, {{}, {}, {}, {}}}),
      begin + "\0\4\0\0\0\x08\0\0\0\0\0\0\0\1\0\0\0\4\x3d\xcc\xcc\xcd\0\0\0\x08\x43\x0c\x6b\xf5\x26\x34\0\0\0\0\0\1x"s +
          "\0\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s);
  EXPECT_EQ(encoded("binary", numbers_and_text(), {}), begin + "\xff\xff");
}

TEST(CopyEncoder, ComplexNumbersAreTwoColumns) {
  const std::vector<CopyColumn> columns{{"i", DataType::Int8, Part::Whole},
                                        {"re", DataType::Float8, Part::Real},
                                        {"im", DataType::Float8, Part::Imaginary},
                                        {"s", DataType::Text, Part::Whole}};
  const std::vector<Row> rows{{std::int64_t{1}, std::complex<double>(1.5, -2), "x"s},
                              {std::int64_t{2}, std::complex<float>(0.5F, 0), "y"s},
                              {std::int64_t{3}, {}, {}}};
  EXPECT_EQ(encoded("csv header", columns, rows), "i,re,im,s\n1,1.5,-2,x\n2,0.5,0,y\n3,,,\n");
  EXPECT_EQ(encoded("binary", {columns[1], columns[2]}, {{std::complex<double>(1.5, -2)}}).substr(19),
            "\0\2\0\0\0\x08\x3f\xf8\0\0\0\0\0\0\0\0\0\x08\xc0\0\0\0\0\0\0\0\xff\xff"s);
}

TEST(CopyEncoder, WhatIsRefused) {
  EXPECT_THROW(encoded("(format csv, force_quote (x))", numbers_and_text(), {}), Error);
  EXPECT_THROW(encoded("binary", numbers_and_text(), {{"x"s, 1.0F, 1.0, "x"s}}), Error) << "no int8";
  EXPECT_THROW(encoded("binary", std::vector<CopyColumn>(40000), {}), Error);
}

}  // namespace
}  // namespace eindb
