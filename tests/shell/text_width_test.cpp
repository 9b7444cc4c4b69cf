#include "shell/text_width.hpp"

#include <gtest/gtest.h>

#include <clocale>

namespace eindb {
namespace {

class TextWidth : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
};

TEST_F(TextWidth, ControlCharactersCannotReachTheTerminal) {
  EXPECT_EQ(printable("a\nb\tc"), "a\\nb\\tc");
  EXPECT_EQ(printable("\x1B[2J"), "\\x1B[2J");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("\xC2\x9B"), "\\xC2\\x9B");  // U+009B opens control sequences as ESC [ does
}

TEST_F(TextWidth, BytesThatAreNoTextAreReplaced) { EXPECT_EQ(printable("a\xFF\xE6\x97"), "a\uFFFD\uFFFD\uFFFD"); }

TEST_F(TextWidth, WideAndCombiningCharacters) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
}

TEST_F(TextWidth, PaddingCountsColumns) {
  EXPECT_EQ(padded_right("日", 4), "日  ");
  EXPECT_EQ(padded_left("日", 4), "  日");
  EXPECT_EQ(padded_left("long", 2), "long");
}

TEST_F(TextWidth, ShortenedTextsEndInDots) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdef", 5), "ab...");
  EXPECT_EQ(shortened("abcdef", 2), "..");
  EXPECT_EQ(shortened("日本語日本語", 8), "日本...");
}

}  // namespace
}  // namespace eindb
