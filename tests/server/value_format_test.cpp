#include "server/values/value_format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "common/error.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb {
namespace {

using namespace std::string_literals;
using frontend::Format;

template <class T>
std::string number(T value) {
  std::string out;
  append_sql_number(out, value);
  return out;
}

// Compared with PostgreSQL 15.
TEST(ValueFormat, NumbersAreWrittenInTheFewestDigits) {
  EXPECT_EQ(number(0.0), "0");
  EXPECT_EQ(number(-0.0), "-0");
  EXPECT_EQ(number(1.0), "1");
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(number(-12.5), "-12.5");
  EXPECT_EQ(number(0.0001), "0.0001");
  EXPECT_EQ(number(0.00001), "1e-05");
  EXPECT_EQ(number(100000.0), "100000");
  EXPECT_EQ(number(123456789012345.0), "123456789012345");
  EXPECT_EQ(number(1e15), "1e+15");
  EXPECT_EQ(number(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(number(5e-324), "5e-324");
  EXPECT_EQ(number(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(number(std::nan("")), "NaN");
  EXPECT_EQ(number(0.1F), "0.1");
  EXPECT_EQ(number(123456.0F), "123456");
  EXPECT_EQ(number(1234567.0F), "1.234567e+06");
}

std::string written(const Cell& cell, DataType type, Format format) {
  MessageWriter out;
  write_value(out, cell, type, format);
  return out.buffer();
}

TEST(ValueFormat, Values) {
  EXPECT_EQ(written({}, DataType::Int8, Format::Text), "\xff\xff\xff\xff"s);
  EXPECT_EQ(written(std::int64_t{-7}, DataType::Int8, Format::Text), "\0\0\0\2-7"s);
  EXPECT_EQ(written(std::int64_t{-2}, DataType::Int8, Format::Binary), "\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xfe"s);
  EXPECT_EQ(written(1.5, DataType::Float8, Format::Binary), "\0\0\0\x08\x3f\xf8\0\0\0\0\0\0"s);
  EXPECT_EQ(written(1.5F, DataType::Float4, Format::Binary), "\0\0\0\x04\x3f\xc0\0\0"s);
  EXPECT_EQ(written("abc"s, DataType::Text, Format::Binary), "\0\0\0\3abc"s);
  EXPECT_EQ(written(std::int64_t{3}, DataType::Text, Format::Binary),
            "\0\0\0\1"
            "3"s)
      << "numbers are text, too";
  EXPECT_EQ(written(std::int64_t{1}, DataType::Float8, Format::Binary), "\0\0\0\x08\x3f\xf0\0\0\0\0\0\0"s);
  EXPECT_EQ(written(std::int64_t{1}, DataType::Bool, Format::Text), "\0\0\0\1t"s);
  EXPECT_EQ(written(std::int64_t{1}, DataType::Bool, Format::Binary), "\0\0\0\1\1"s);
  EXPECT_EQ(written(std::int64_t{258}, DataType::Oid, Format::Binary), "\0\0\0\4\0\0\1\2"s);
  EXPECT_EQ(written("a\xff"s, DataType::Bytea, Format::Text), "\0\0\0\6\\x61ff"s);
  EXPECT_EQ(written("a\xff"s, DataType::Bytea, Format::Binary), "\0\0\0\2a\xff"s);
  EXPECT_THROW(written("abc"s, DataType::Int8, Format::Binary), Error);
  EXPECT_THROW(written(1.5, DataType::Int8, Format::Binary), Error);
}

// The client was told a type; a value of another type would be misread, in text as well as in binary.
TEST(ValueFormat, ValuesKeepToTheirType) {
  EXPECT_EQ(written(2.0, DataType::Int8, Format::Text), "\0\0\0\1"s + "2");
  EXPECT_EQ(written(2.0, DataType::Int4, Format::Binary), "\0\0\0\4\0\0\0\2"s);
  EXPECT_EQ(written("\xff\x01"s, DataType::Text, Format::Text), "\0\0\0\6\\xff01"s) << "a client reads UTF-8";
  EXPECT_EQ(written("\xff"s, DataType::Text, Format::Binary), "\0\0\0\4\\xff"s);
  EXPECT_EQ(written("\xc3\xa9"s, DataType::Text, Format::Text), "\0\0\0\2\xc3\xa9"s);
  EXPECT_EQ(written(0.0, DataType::Bool, Format::Text), "\0\0\0\1"s + "f");
  EXPECT_EQ(written(std::int64_t{7}, DataType::Bool, Format::Binary), "\0\0\0\1\1"s);
  EXPECT_EQ(written("2 1"s, DataType::Int2Vector, Format::Text),
            "\0\0\0\3"
            "2 1"s);
  EXPECT_EQ(written("2 1"s, DataType::Int2Vector, Format::Binary),
            "\0\0\0\x20"
            "\0\0\0\1"
            "\0\0\0\0"
            "\0\0\0\x15"
            "\0\0\0\2"
            "\0\0\0\0"
            "\0\0\0\2\0\2"
            "\0\0\0\2\0\1"s);
  for (const auto format : {Format::Text, Format::Binary}) {
    for (const auto type : {DataType::Bool, DataType::Int8, DataType::Float8, DataType::Oid})
      EXPECT_THROW(written("abc"s, type, format), Error);
    EXPECT_THROW(written(9.3e18, DataType::Int8, format), Error);
    EXPECT_THROW(written(0.5, DataType::Int8, format), Error);
    EXPECT_THROW(written(std::nan(""), DataType::Int8, format), Error);
    EXPECT_THROW(written(std::int64_t{1} << 31, DataType::Int4, format), Error);
    EXPECT_THROW(written(std::int64_t{32768}, DataType::Int2, format), Error);
    EXPECT_THROW(written(std::int64_t{-1}, DataType::Oid, format), Error);
    EXPECT_NO_THROW(written(std::int64_t{-32768}, DataType::Int2, format));
    EXPECT_NO_THROW(written(1.5, DataType::Text, format));
  }
}

TEST(ValueFormat, Parameters) {
  const auto text = [](std::string_view value, DataType type) { return read_value(value, type, Format::Text); };
  EXPECT_EQ(text(" 12 ", DataType::Int4), ParameterInput(std::int64_t{12}));
  EXPECT_EQ(text("1e3", DataType::Float8), ParameterInput(1000.0));
  EXPECT_EQ(text("t", DataType::Bool), ParameterInput(std::int64_t{1}));
  EXPECT_EQ(text("TRUE", DataType::Bool), ParameterInput(std::int64_t{1}));
  EXPECT_EQ(text("Off", DataType::Bool), ParameterInput(std::int64_t{0}));
  EXPECT_EQ(text("12", DataType::Unspecified), ParameterInput("12"s));
  EXPECT_EQ(text("\\x00ff", DataType::Bytea), ParameterInput(std::vector{std::byte{0}, std::byte{255}}));
  EXPECT_THROW(text("\\x0", DataType::Bytea), Error);
  EXPECT_THROW(text("12x", DataType::Int8), Error);
  EXPECT_THROW(text("", DataType::Float8), Error);
  EXPECT_THROW(text("maybe", DataType::Bool), Error);
  EXPECT_THROW(text("99999999999999999999", DataType::Int8), Error);

  const auto binary = [](std::string_view value, DataType type) { return read_value(value, type, Format::Binary); };
  EXPECT_EQ(binary("\xff\xfe"s, DataType::Int2), ParameterInput(std::int64_t{-2}));
  EXPECT_EQ(binary("\xff\xff\xff\xff"s, DataType::Oid), ParameterInput(std::int64_t{4294967295}));
  EXPECT_EQ(binary("\x3f\xc0\0\0"s, DataType::Float4), ParameterInput(1.5));
  EXPECT_EQ(binary("\x3f\xf8\0\0\0\0\0\0"s, DataType::Float8), ParameterInput(1.5));
  EXPECT_EQ(binary("\1"s, DataType::Bool), ParameterInput(std::int64_t{1}));
  EXPECT_EQ(binary("ab"s, DataType::Text), ParameterInput("ab"s));
  EXPECT_EQ(binary("\0"s, DataType::Bytea), ParameterInput(std::vector{std::byte{0}}));
  EXPECT_THROW(binary("\0\0\1"s, DataType::Int4), ProtocolError);
  EXPECT_THROW(binary("x"s, DataType::Numeric), ProtocolError);
}

}  // namespace
}  // namespace eindb
