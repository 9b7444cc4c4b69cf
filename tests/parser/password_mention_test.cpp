// Texts that logs and histories omit.

#include "parser/password_mention.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

TEST(PasswordMention, CountsAnywhere) {
  EXPECT_TRUE(mentions_password("CREATE USER ann PASSWORD 'secret'"));
  EXPECT_TRUE(mentions_password("alter usr ann pasSword secret"));
  EXPECT_TRUE(mentions_password("it' PASSWORD 'secret"));
  EXPECT_TRUE(mentions_password(std::string_view("\xff\0PASSWORD", 10)));
  EXPECT_FALSE(mentions_password("CREATE USER ann"));
  EXPECT_FALSE(mentions_password(""));
}

}  // namespace
}  // namespace eindb
