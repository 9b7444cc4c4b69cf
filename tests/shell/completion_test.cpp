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

}  // namespace
}  // namespace eindb
