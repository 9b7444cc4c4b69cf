// Passwords are converted to the bytes that clients compute.

#include "security/saslprep.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

using namespace std::literals;

TEST(Saslprep, AsciiStays) {
  EXPECT_EQ(prepare_password("pencil"), "pencil");
  EXPECT_EQ(prepare_password(" a\tb\x7F"), " a\tb\x7F");
  EXPECT_EQ(prepare_password(""), "");
}

// The non-ASCII examples of RFC 4013, section 3.
TEST(Saslprep, TheSameTextHasTheSameBytes) {
  EXPECT_EQ(prepare_password("I\u00ADX"), "IX") << "soft hyphens vanish";
  EXPECT_EQ(prepare_password("\u00AA"), "a");
  EXPECT_EQ(prepare_password("\u2168"), "IX");
  EXPECT_EQ(prepare_password("e\u0301"), "\u00E9");
  EXPECT_EQ(prepare_password("\u00E9"), "\u00E9");
  EXPECT_EQ(prepare_password("a\u00A0b\u3000c"), "a b c") << "there is one kind of space";
}

TEST(Saslprep, WhatItForbidsKeepsItsBytes) {
  EXPECT_EQ(prepare_password("\u2168\u0007"), "\u2168\u0007") << "control characters";
  EXPECT_EQ(prepare_password("\u06271"), "\u06271") << "a digit at the end of a text from right to left";
  EXPECT_EQ(prepare_password("\U0001F600"), "\U0001F600") << "younger than Unicode 3.2";
  EXPECT_EQ(prepare_password("\u00AD"), "\u00AD") << "nothing would be left";
  EXPECT_EQ(prepare_password("\xff\xfe"sv), "\xff\xfe") << "no UTF-8";
  EXPECT_EQ(prepare_password("\xc3"sv), "\xc3");
}

// libpq 15 deviates from RFC 4013 here.
TEST(Saslprep, CharactersAreForbiddenAsTheyWereTyped) {
  EXPECT_EQ(prepare_password("\u2135a"), "\u05D0a") << "a Hebrew letter beside a Latin one only comes of it";
  EXPECT_EQ(prepare_password("\uFB1D"), "\u05D9\u05B4");
  EXPECT_EQ(prepare_password("a\u0340"), "a\u0340") << "forbidden, though it would become U+0300";
}

TEST(Saslprep, LongPasswords) {
  std::string ligatures;
  for (int n = 0; n < 1000; ++n) ligatures += "\uFDFA";  // 18 characters each
  EXPECT_EQ(prepare_password(ligatures).size(), 1000U * 33);
  const std::string longest(std::size_t{2} << 20U, '\xc3');
  EXPECT_EQ(prepare_password(longest), longest);
  EXPECT_EQ(prepare_password("e\u0301\0"sv), "e\u0301\0"sv) << "no text";
}

}  // namespace
}  // namespace eindb
