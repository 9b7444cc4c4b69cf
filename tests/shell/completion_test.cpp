#include "shell/completion.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

using Words = std::vector<std::string>;

Completion completion() {
  return {[] { return Words{"Alpha", "Alphabet", "Summand"}; }, [] { return Words{".tables", ".timer", "\\dt"}; }};
}

TEST(Completion, KeywordsTakeTheCaseOfWhatIsTyped) {
  EXPECT_EQ(completion().candidates("EINS"), Words{"EINSUM"});
  EXPECT_EQ(completion().candidates("eins"), Words{"einsum"});
}

TEST(Completion, NamesKeepTheirCase) { EXPECT_EQ(completion().candidates("DROP TENSOR alphab"), Words{"Alphabet"}); }

TEST(Completion, KeywordsAndNamesAreOfferedTogether) {
  EXPECT_EQ(completion().candidates("EINSUM Z[i] = SUM"), (Words{"SUM", "Summand"}));
}

TEST(Completion, WordsBeginBehindOperators) {
  EXPECT_EQ(Completion::word_start("SUM(Al"), 4U);
  EXPECT_EQ(completion().candidates("SUM(Summ"), Words{"Summand"});
}

TEST(Completion, CommandsAreOfferedAtTheStartOnly) {
  EXPECT_EQ(completion().candidates(".t"), (Words{".tables", ".timer"}));
  EXPECT_EQ(completion().candidates("\\d"), Words{"\\dt"});
  EXPECT_EQ(completion().candidates("SELECT .tab"), Words{"table"});
}

TEST(Completion, NothingIsOfferedForNothing) { EXPECT_EQ(completion().candidates("SELECT "), Words{}); }

TEST(Completion, CommonPrefixDisregardsCase) {
  EXPECT_EQ(Completion::common_prefix({"Alpha", "Alphabet"}), "Alpha");
  EXPECT_EQ(Completion::common_prefix({"SUM", "Summand"}), "SUM");
  EXPECT_EQ(Completion::common_prefix({}), "");
}

TEST(Completion, SettingsFollowSetAndShow) {
  EXPECT_EQ(completion().candidates("SET memory_l"), Words{"memory_limit"});
  EXPECT_EQ(completion().candidates("show tenso"), Words{"tensors"});
  EXPECT_EQ(completion().candidates("SET Alpha"), Words{});
  EXPECT_EQ(completion().candidates("UPDATE t SET Alphab"), Words{"Alphabet"});
}

TEST(Completion, PathsFollowFromAndTo) {
  EXPECT_EQ(completion().candidates("COPY X FROM '/no/such/folder/"), Words{});
  EXPECT_EQ(completion().candidates("COPY X FROM '/et"), Words{"/etc/"});
  EXPECT_EQ(completion().candidates("SELECT '/et"), Words{});
  EXPECT_EQ(completion().candidates(".read /et"), Words{"/etc/"});
  EXPECT_EQ(Completion::word_start("COPY X TO 'a b/c"), 11U);
  EXPECT_EQ(Completion::ending("COPY X FROM '/et", "/etc/"), "");
  EXPECT_EQ(Completion::ending("COPY X FROM '/etc/ho", "/etc/hosts"), "'");
  EXPECT_EQ(Completion::ending(".read /etc/ho", "/etc/hosts"), " ");
  EXPECT_EQ(Completion::ending("SEL", "SELECT"), " ");
}

TEST(Completion, CaseCountsForPaths) {
  EXPECT_EQ(Completion::case_of(".read A"), Completion::Case::Counts);
  EXPECT_EQ(Completion::case_of("SELECT A"), Completion::Case::Ignored);
  EXPECT_EQ(Completion::common_prefix({"ABC", "abd"}, Completion::Case::Counts), "");
}

}  // namespace
}  // namespace eindb
