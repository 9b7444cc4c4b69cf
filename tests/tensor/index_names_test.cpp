#include "tensor/index_names.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "common/error.hpp"

namespace eindb {
namespace {

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(IndexNames, FindsListedNamesByTheirText) {
  const auto names = IndexNames::listed({"Oslo", "Bergen", "Tromsø", "oslo"});
  EXPECT_EQ(names->size(), 4);
  for (std::int64_t n = 0; n < 4; ++n) EXPECT_EQ(names->find(names->name(n)), n);
  EXPECT_EQ(names->find("Osl"), -1);
  EXPECT_EQ(names->find(""), -1);
  EXPECT_FALSE(names->ascend());
  EXPECT_EQ(names->nearest("Berge"), "Bergen");
  EXPECT_EQ(names->longest(), 7U);
  EXPECT_EQ(IndexNames::calendar("2024-01-01", "1 day", 1)->longest(), 10U);
  EXPECT_TRUE(IndexNames::listed({"a", "b"})->ascend());
  EXPECT_EQ(IndexNames::listed({})->find("a"), -1);
}

TEST(IndexNames, CountsNamesBelowOthers) {
  const auto names = IndexNames::listed({"b", "d", "a"});
  EXPECT_EQ(names->count_below("c", false), 2);
  EXPECT_EQ(names->count_below("b", false), 1);
  EXPECT_EQ(names->count_below("b", true), 2);
  const auto days = IndexNames::calendar("2024-02-27", "1 day", 5);
  EXPECT_EQ(days->count_below("2024-03", false), 3);
  EXPECT_EQ(days->count_below("2024-02-28", true), 2);
}

TEST(IndexNames, RefusesNamesThatCannotBe) {
  EXPECT_NE(error_of([] { IndexNames::listed({"a", "b", "a"}); }).find("index 0 and of index 2"), std::string::npos);
  EXPECT_NE(error_of([] { IndexNames::listed({""}); }), "");
  EXPECT_NE(error_of([] { IndexNames::listed({std::string("a\0b", 3)}); }), "");
  EXPECT_NE(error_of([] { IndexNames::listed({std::string(2000, 'a')}); }), "");
}

TEST(IndexNames, GoesThroughCalendars) {
  const auto days = IndexNames::calendar("2024-02-28", "1 day", 3);
  EXPECT_EQ(days->name(0), "2024-02-28");
  EXPECT_EQ(days->name(1), "2024-02-29");
  EXPECT_EQ(days->name(2), "2024-03-01");
  EXPECT_TRUE(days->ascend());
  const auto months = IndexNames::calendar("1999-11-15", "3 months", 4);
  EXPECT_EQ(months->name(1), "2000-02-15");
  EXPECT_EQ(months->find("2000-05-15"), 2);
  EXPECT_EQ(months->find("2000-05-16"), -1);
  EXPECT_EQ(months->find("2000-04-15"), -1);
  EXPECT_EQ(months->step(), "3 months");
  const auto hours = IndexNames::calendar("1969-12-31 18:00:00", "6 hours", 3);
  EXPECT_EQ(hours->name(1), "1970-01-01 00:00:00");
  EXPECT_EQ(hours->find("1970-01-01 06:00:00"), 2);
  EXPECT_EQ(hours->find("1970-01-01"), -1);
  EXPECT_EQ(hours->find("1970-01-01 12:00:00"), -1);
  EXPECT_EQ(IndexNames::calendar("2024-01-01", "52 weeks", 2)->step(), "364 days");
  EXPECT_EQ(IndexNames::calendar("2024-01-01", "1 year", 2)->name(1), "2025-01-01");
  EXPECT_EQ(IndexNames::calendar("2024-01-01", "1 day", 0)->first(), "2024-01-01");
}

TEST(IndexNames, CountsTheStepsOfACalendar) {
  EXPECT_EQ(IndexNames::count_until("2024-01-01", "2024-12-31", "1 day"), 366);
  EXPECT_EQ(IndexNames::count_until("2024-01-01", "2024-12-31", "1 month"), 12);
  EXPECT_EQ(IndexNames::count_until("2024-01-15", "2024-03-14", "1 month"), 2);
  EXPECT_EQ(IndexNames::count_until("2024-01-15", "2024-03-15", "1 month"), 3);
  EXPECT_EQ(IndexNames::count_until("2024-01-02", "2024-01-01", "1 day"), 0);
}

TEST(IndexNames, RefusesCalendarsThatCannotBe) {
  for (const auto* first :
       {"2024-02-30", "2024-1-1", "24-01-01", "2024-01-01 24:00:00", "2024-01-01T00:00:00", "", "x"})
    EXPECT_NE(error_of([&] { IndexNames::calendar(first, "1 day", 1); }), "") << first;
  for (const auto* step :
       {"", "day", "0 days", "-1 day", "1 fortnight", "1  day", "99999999999 days", "1day", "1.5 days"})
    EXPECT_NE(error_of([&] { IndexNames::calendar("2024-01-01", step, 1); }), "") << step;
  EXPECT_NE(error_of([] { IndexNames::calendar("2024-01-01", "1 hour", 1); }), "");
  EXPECT_NE(error_of([] { IndexNames::calendar("2024-01-31", "1 month", 1); }), "");
  EXPECT_EQ(error_of([] { IndexNames::calendar("9999-12-30", "1 day", 2); }), "");
  EXPECT_NE(error_of([] { IndexNames::calendar("9999-12-30", "1 day", 3); }), "");
  EXPECT_NE(error_of([] { IndexNames::calendar("2024-01-01", "1000000000 years", INT64_MAX); }), "");
}

TEST(IndexNames, AreEqualByTheirNames) {
  const auto a = IndexNames::listed({"x", "y"});
  EXPECT_TRUE(same_names(a, IndexNames::listed({"x", "y"})));
  EXPECT_FALSE(same_names(a, IndexNames::listed({"y", "x"})));
  EXPECT_FALSE(same_names(a, nullptr));
  EXPECT_EQ(DimensionNames(), DimensionNames({nullptr}));
  EXPECT_EQ(DimensionNames({a, nullptr}), DimensionNames({IndexNames::listed({"x", "y"})}));
  EXPECT_FALSE(DimensionNames({nullptr, a}) == DimensionNames({a}));
  EXPECT_TRUE(IndexNames::listed({"x", "y", "z"})->begin_with(*a));
  EXPECT_FALSE(a->begin_with(*IndexNames::listed({"x", "y", "z"})));
  const auto days = IndexNames::calendar("2024-01-01", "1 day", 9);
  EXPECT_TRUE(days->begin_with(*IndexNames::calendar("2024-01-01", "1 day", 3)));
  EXPECT_FALSE(days->begin_with(*IndexNames::calendar("2024-01-01", "2 days", 3)));
}

TEST(IndexNames, GivesSlices) {
  const auto letters = IndexNames::listed({"a", "c", "b", "d"});
  EXPECT_EQ(*letters->slice(1, 2, 2), *IndexNames::listed({"c", "d"}));
  EXPECT_EQ(*letters->slice(3, -1, 2), *IndexNames::listed({"d", "b"}));
  const auto days = IndexNames::calendar("2024-01-01", "1 day", 9);
  EXPECT_EQ(*days->slice(1, 3, 2), *IndexNames::calendar("2024-01-02", "3 days", 2));
  EXPECT_EQ(days->slice(8, -8, 2)->name(1), "2024-01-01");
  EXPECT_EQ(days->slice(0, 1, 0)->size(), 0);
}

TEST(IndexNames, ACalendarGoesOnBehindItsLastDay) {
  const auto days = IndexNames::calendar("2024-02-28", "1 day", 2);
  EXPECT_TRUE(days->is_behind_last("2024-03-01"));
  EXPECT_FALSE(days->is_behind_last("2024-02-29"));
  EXPECT_FALSE(days->is_behind_last("2024-03-02"));
  EXPECT_FALSE(days->is_behind_last("2024-03-01 00:00:00"));
  EXPECT_EQ(days->find("2024-03-01"), -1);
  const auto months = IndexNames::calendar("2024-01-01", "3 months", 4);
  EXPECT_TRUE(months->is_behind_last("2025-01-01"));
  EXPECT_FALSE(months->is_behind_last("2024-12-01"));
  EXPECT_FALSE(IndexNames::listed({"a", "b"})->is_behind_last("c"));
}

}  // namespace
}  // namespace eindb
