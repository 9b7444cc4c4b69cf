// Tests the lines of the log: a client's text stays within its value.
#include "server/monitoring/log_line.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace eindb {
namespace {

std::string text(std::string_view value) {
  const std::vector<LogField> fields{{"user", value}};
  return log_line(LogFormat::Text, "login", fields);
}

nlohmann::json json(std::string_view value) {
  const std::vector<LogField> fields{{"user", value}};
  return nlohmann::json::parse("{" + log_line(LogFormat::Json, "login", fields));
}

TEST(LogLine, TextQuotesWhatIsNoWord) {
  EXPECT_EQ(text("ada"), "login user=ada");
  EXPECT_EQ(text("127.0.0.1:4000"), "login user=127.0.0.1:4000");
  EXPECT_EQ(text(""), R"(login user="")");
  EXPECT_EQ(text("ada lovelace"), R"(login user="ada lovelace")");
  EXPECT_EQ(text("a=b"), R"(login user="a=b")");
  EXPECT_EQ(text("say \"hi\""), R"(login user="say \"hi\"")");
}

TEST(LogLine, NumbersAreWrittenOut) {
  const std::vector<LogField> fields{{"rows", std::int64_t{-3}},
                                     {"seconds", 0.000024},
                                     {"whole", 2.0},
                                     {"none", std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(log_line(LogFormat::Text, "statement", fields), "statement rows=-3 seconds=0.000024 whole=2 none=null");
  EXPECT_EQ(log_line(LogFormat::Json, "statement", fields),
            R"("event":"statement","rows":-3,"seconds":0.000024,"whole":2,"none":null})");
}

TEST(LogLine, NobodyWritesLinesOfHisOwn) {
  std::string hostile = "x\n2026-01-01 info login user=root\r";
  hostile += '\0';
  hostile += "\x1b[2J\x7f\xc2\x85";  // control sequences of terminals
  const auto line = text(hostile);
  for (const char c : line) {
    EXPECT_GE(c, ' ') << line;
    EXPECT_LT(c, 0x7f) << line;
  }
  EXPECT_EQ(json(hostile)["user"], hostile);
}

TEST(LogLine, BytesThatAreNoTextStayOneValue) {
  EXPECT_EQ(json("\xff\xfe\xc3")["user"], "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(json("\xed\xa0\x80").size(), 2);  // half a surrogate pair
  EXPECT_EQ(json("gr\u00fc\u00dfe")["user"], "gr\u00fc\u00dfe");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(json(all).size(), 2);
}

TEST(LogLine, ExcerptsEndBetweenCharacters) {
  EXPECT_EQ(excerpt("abc", 3), "abc");
  EXPECT_EQ(excerpt("abcd", 3), "abc");
  EXPECT_EQ(excerpt("ab\u00e9", 3), "ab");
  EXPECT_EQ(excerpt("\U0001F600x", 3), "");
  EXPECT_EQ(excerpt("", 0), "");
  // Not valid text at all: at most three bytes are dropped.
  EXPECT_EQ(excerpt(std::string(20, '\x80'), 10).size(), 7);
}

}  // namespace
}  // namespace eindb
