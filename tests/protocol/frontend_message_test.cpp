#include "server/protocol/frontend_message.hpp"

#include <gtest/gtest.h>

#include <string>

#include "server/protocol/message_writer.hpp"
#include "server/protocol/protocol_error.hpp"

namespace eindb::frontend {
namespace {

using namespace std::string_literals;

template <class T>
T parsed(char type, const std::string& body) {
  return std::get<T>(parse(Frame{type, body}));
}

std::string first(std::int32_t code, const std::string& rest = "") {
  std::string body;
  append_big_endian(body, code);
  return body + rest;
}

TEST(FrontendMessage, FirstMessages) {
  EXPECT_TRUE(std::holds_alternative<SslRequest>(parse_first({0, first(80877103)})));
  EXPECT_TRUE(std::holds_alternative<GssRequest>(parse_first({0, first(80877104)})));
  const auto body = first(80877102, "\0\0\0\x07\xff\xff\xff\xff"s);
  const auto cancel = std::get<CancelRequest>(parse_first({0, body}));
  EXPECT_EQ(cancel.process, 7);
  EXPECT_EQ(cancel.secret, -1);
  const auto text = first(196610, "user\0ada\0database\0d\0\0"s);
  const auto startup = std::get<Startup>(parse_first({0, text}));
  EXPECT_EQ(startup.major, 3);
  EXPECT_EQ(startup.minor, 2);
  ASSERT_EQ(startup.parameters.size(), 2U);
  EXPECT_EQ(startup.parameters[1].first, "database");
  EXPECT_EQ(startup.parameters[1].second, "d");
}

TEST(FrontendMessage, FirstMessagesThatAreNone) {
  for (const auto& body :
       {""s, "\0\0"s, first(131072), first(196608), first(196608, "user\0ada"s), first(196608, "user\0ada\0"s),
        first(196608, "\0x"s), first(80877102, "\0\0\0\1"s), first(80877103, "x")})
    EXPECT_THROW(parse_first({0, body}), ProtocolError) << testing::PrintToString(body);
}

TEST(FrontendMessage, ExtendedQuery) {
  const auto parse_body = "s\0SELECT $1\0\0\2\0\0\0\x17\0\0\0\0"s;
  const auto parse = parsed<Parse>('P', parse_body);
  EXPECT_EQ(parse.name, "s");
  EXPECT_EQ(parse.text, "SELECT $1");
  EXPECT_EQ(parse.parameter_types, (std::vector<std::int32_t>{23, 0}));

  const auto bind_body = "p\0s\0\0\2\0\0\0\1\0\2\0\0\0\3abc\xff\xff\xff\xff\0\1\0\1"s;
  const auto bind = parsed<Bind>('B', bind_body);
  EXPECT_EQ(bind.portal, "p");
  EXPECT_EQ(bind.statement, "s");
  EXPECT_EQ(bind.values[0], "abc");
  EXPECT_EQ(bind.values[1], std::nullopt);
  EXPECT_EQ(format_of(bind.parameter_formats, 1), Format::Binary);
  EXPECT_EQ(format_of(bind.result_formats, 7), Format::Binary);
  EXPECT_EQ(format_of({}, 7), Format::Text);

  const auto execute = parsed<Execute>('E', "p\0\0\0\0\x64"s);
  EXPECT_EQ(execute.most_rows, 100);
  EXPECT_EQ(parsed<Describe>('D', "Pp\0"s).what, 'P');
  EXPECT_EQ(parsed<Close>('C', "S\0"s).name, "");
  EXPECT_EQ(parsed<CopyData>('d', "x\0y"s).bytes, "x\0y"s);
  parsed<Sync>('S', "");
  parsed<Terminate>('X', "");
}

TEST(FrontendMessage, BodiesThatAreNoneOfTheirType) {
  const std::pair<char, std::string> cases[] = {
      {'Q', "no end"},
      {'Q', "end\0more"s},
      {'P', "s\0"s},
      {'P', "s\0q\0\0\2\0\0\0\1"s},                   // fewer types than it says
      {'B', "p\0s\0\0\0\0\1\0\0\0\5abc\0\0"s},        // a value longer than the message
      {'B', "p\0s\0\0\0\0\1\xff\xff\xff\xfe\0\0"s},   // of a negative length
      {'B', "p\0s\0\0\1\0\2\0\0\0\0"s},               // an unknown format
      {'B', "p\0s\0\0\2\0\0\0\0\0\1\0\0\0\1x\0\0"s},  // two formats, one value
      {'B', "p\0s\0\xff\xff"s},                       // 65535 formats
      {'D', "Xp\0"s},
      {'D', ""},
      {'E', "p\0\0"s},
      {'S', "x"},
      {'X', "x"},
      {'c', "x"},
      {'f', "no end"},
      {'?', ""},
      {'\0', ""},
  };
  for (const auto& [type, body] : cases)
    EXPECT_THROW(parse({type, body}), ProtocolError) << type << testing::PrintToString(body);
}

TEST(MessageWriter, LengthsFollow) {
  MessageWriter writer;
  writer.begin('C').text("SELECT 1").end();
  writer.empty('I');
  writer.begin('D').integer<std::int16_t>(1);
  const auto value = writer.begin_value();
  writer.bytes("42");
  writer.end_value(value);
  writer.end();
  EXPECT_EQ(writer.buffer(),
            "C\0\0\0\x0dSELECT 1\0I\0\0\0\4D\0\0\0\x0c\0\1\0\0\0\2"
            "42"s);
}

}  // namespace
}  // namespace eindb::frontend
