#include "shell/progress_bar.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

using std::chrono::seconds;

TEST(ProgressBar, SaysHowMuchIsDoneAndWhatTimeIsLeft) {
  EXPECT_EQ(ProgressBar::line({.stage = "join", .done = 1, .total = 4}, seconds(4)),
            "join [#######                       ] 25%, 12 s left");
  EXPECT_EQ(ProgressBar::line({.stage = "join", .done = 1, .total = 2}, seconds(200)),
            "join [###############               ] 50%, 3 min 20 s left");
  EXPECT_EQ(ProgressBar::line({.stage = "join", .done = 1, .total = 2}, seconds(7500)),
            "join [###############               ] 50%, 2 h 5 min left");
}

TEST(ProgressBar, SaysNothingOfTimeAtTheBeginningAndTheEnd) {
  EXPECT_EQ(ProgressBar::line({.stage = "join", .done = 0, .total = 4}, seconds(4)),
            "join [                              ] 0%");
  EXPECT_EQ(ProgressBar::line({.stage = "join", .done = 4, .total = 4}, seconds(4)),
            "join [##############################] 100%");
}

TEST(ProgressBar, CountsWhereTheTotalIsUnknown) {
  EXPECT_EQ(ProgressBar::line({.stage = "import", .done = 1000, .total = 0}, seconds(4)), "import 1000");
}

}  // namespace
}  // namespace eindb
