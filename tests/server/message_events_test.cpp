#include "server/console/message_events.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "server/protocol/message_writer.hpp"
#include "server/protocol/protocol_error.hpp"
#include "server/values/data_type.hpp"

namespace eindb {
namespace {

using Json = nlohmann::json;

void write_columns(MessageWriter& out, const std::vector<DataType>& types) {
  out.begin('T').integer(static_cast<std::int16_t>(types.size()));
  for (const auto type : types)
    out.text("c")
        .integer<std::int32_t>(0)
        .integer<std::int16_t>(0)
        .integer(static_cast<std::int32_t>(type))
        .integer<std::int16_t>(8)
        .integer<std::int32_t>(-1)
        .integer<std::int16_t>(0);
  out.end();
}

void write_row_of(MessageWriter& out, const std::vector<std::optional<std::string>>& values) {
  out.begin('D').integer(static_cast<std::int16_t>(values.size()));
  for (const auto& value : values) {
    out.integer(value ? static_cast<std::int32_t>(value->size()) : -1);
    if (value) out.bytes(*value);
  }
  out.end();
}

std::vector<Json> lines_of(const std::string& events) {
  std::vector<Json> lines;
  for (std::size_t begin = 0; begin < events.size();) {
    const auto end = events.find('\n', begin);
    lines.push_back(Json::parse(events.substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

Json value_of(DataType type, const std::string& text) {
  MessageEvents events;
  events.begin(0, 0);
  MessageWriter out;
  write_columns(out, {type});
  write_row_of(out, {text});
  return lines_of(events.translate(out.buffer())).at(1)["rows"][0][0];
}

TEST(MessageEvents, NumbersStayExact) {
  EXPECT_EQ(value_of(DataType::Int8, "9007199254740991"), 9007199254740991);
  EXPECT_EQ(value_of(DataType::Int8, "-9007199254740991"), -9007199254740991);
  EXPECT_EQ(value_of(DataType::Int8, "9007199254740992"), "9007199254740992");
  EXPECT_EQ(value_of(DataType::Int8, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(value_of(DataType::Float8, "-1.5e+300"), -1.5e300);
  EXPECT_EQ(value_of(DataType::Float8, "-0"), 0.0);
  for (const auto* text : {"NaN", "Infinity", "-Infinity"}) EXPECT_EQ(value_of(DataType::Float8, text), text);
  EXPECT_EQ(value_of(DataType::Numeric, "1.10"), "1.10");
  EXPECT_EQ(value_of(DataType::Bool, "t"), true);
  EXPECT_EQ(value_of(DataType::Text, "1"), "1");
}

TEST(MessageEvents, TextsAreValidAndBounded) {
  EXPECT_EQ(value_of(DataType::Text, "<\"\n\x01"), "<\"\n\x01");
  EXPECT_NO_THROW(value_of(DataType::Text, "\xff\xc3"));
  const auto cut = value_of(DataType::Text, std::string(100000, 'x'));
  EXPECT_EQ(cut["bytes"], 100000);
  EXPECT_EQ(cut["cut"].get<std::string>().size(), MessageEvents::kMostTextBytes);
}

TEST(MessageEvents, AStatementFromItsBeginToItsEnd) {
  MessageEvents events;
  EXPECT_EQ(lines_of(events.begin(2, 10)).at(0), (Json{{"statement", 2}, {"position", 10}}));
  MessageWriter out;
  out.empty('1');
  out.empty('2');
  write_columns(out, {DataType::Int4, DataType::Text});
  write_row_of(out, {"1", std::nullopt});
  write_row_of(out, {"2", "b"});
  out.begin('C').text("SELECT 2").end();
  EXPECT_FALSE(events.is_over());
  const auto lines = lines_of(events.translate(out.buffer()));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["columns"][0]["type"], "int4");
  EXPECT_EQ(lines[1]["rows"], Json::parse(R"([[1,null],[2,"b"]])"));
  EXPECT_EQ(lines[2], Json::parse(R"({"done":"SELECT 2","rows":2})"));
  MessageWriter ready;
  ready.begin('Z').bytes("T").end();
  EXPECT_EQ(events.translate(ready.buffer()), "");
  EXPECT_TRUE(events.is_over());
  EXPECT_FALSE(events.has_failed());
  EXPECT_EQ(events.transaction(), 'T');
}

TEST(MessageEvents, ErrorsHavePlacesInTheWholeText) {
  MessageEvents events;
  events.begin(1, 100);
  MessageWriter out;
  out.begin('E')
      .bytes("S")
      .text("ERROR")
      .bytes("V")
      .text("ERROR")
      .bytes("C")
      .text("42703")
      .bytes("M")
      .text("no")
      .bytes("P")
      .text("8")
      .text("")
      .end();
  EXPECT_EQ(lines_of(events.translate(out.buffer())).at(0),
            Json::parse(R"({"error":{"code":"42703","message":"no","position":107}})"));
  EXPECT_TRUE(events.has_failed());
  EXPECT_FALSE(events.is_over());
}

TEST(MessageEvents, BrokenMessagesAreRefused) {
  MessageEvents events;
  events.begin(0, 0);
  for (const std::string& bytes :
       {std::string("D"), std::string("D\0\0\0\3", 5), std::string("D\0\0\0\xff", 5), std::string("D\0\0\0\6\0\1", 7),
        std::string("T\0\0\0\6\0\1", 7), std::string("E\0\0\0\4", 5)})
    EXPECT_THROW(events.translate(bytes), ProtocolError);
}

}  // namespace
}  // namespace eindb
