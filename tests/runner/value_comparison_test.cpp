#include "tests/runner/value_comparison.hpp"

#include <gtest/gtest.h>

namespace eindb::runner {
namespace {

bool fits(const std::string& actual, const std::string& expected, Tolerance tolerance = {}) {
  return value_fits(actual, expected, true, tolerance);
}

TEST(ValueComparison, NumbersWithinTheTolerance) {
  EXPECT_TRUE(fits("0.30000000000000004", "0.3"));
  EXPECT_FALSE(fits("0.3000001", "0.3"));
  EXPECT_TRUE(fits("0.3000001", "0.3", {.relative = 1e-6}));
  EXPECT_FALSE(fits("1e-12", "0"));
  EXPECT_TRUE(fits("1e-12", "0", {.absolute = 1e-9}));
}

TEST(ValueComparison, SpellingsOfSpecialNumbers) {
  EXPECT_TRUE(fits("nan", "NaN"));
  EXPECT_TRUE(fits("inf", "Infinity"));
  EXPECT_TRUE(fits("-inf", "-Infinity"));
  EXPECT_FALSE(fits("inf", "-inf"));
  EXPECT_FALSE(fits("nan", "0", {.absolute = 1e300}));
  EXPECT_FALSE(fits("inf", "1e308", {.relative = 1}));
}

TEST(ValueComparison, ComplexNumbers) {
  EXPECT_TRUE(fits("1.0+2.0j", "1+2j"));
  EXPECT_TRUE(fits("0.0-2.0j", "-2j"));
  EXPECT_FALSE(fits("1.0+2.0j", "1-2j"));
  EXPECT_TRUE(fits("nan+1.0j", "nan+1j"));
}

TEST(ValueComparison, WhatIsNoNumberIsComparedAsText) {
  EXPECT_FALSE(fits("NULL", "0"));
  EXPECT_TRUE(fits("NULL", "NULL"));
  EXPECT_FALSE(parse_number("1 ").has_value());
  EXPECT_FALSE(parse_number("").has_value());
  EXPECT_FALSE(parse_number("1+j2").has_value());
}

TEST(ValueComparison, TextsAreComparedAsTheyAre) {
  EXPECT_FALSE(value_fits("2.0", "2", false, {}));
  EXPECT_TRUE(value_fits("scan of X", "<REGEX>:scan.*X", false, {}));
  EXPECT_FALSE(value_fits("scan of X", "<!REGEX>:scan.*X", false, {}));
}

TEST(ValueComparison, OrderPutsNumbersBySizeBeforeTexts) {
  EXPECT_TRUE(value_less("9", "10"));
  EXPECT_TRUE(value_less("10", "nan"));
  EXPECT_TRUE(value_less("nan", "a"));
  EXPECT_TRUE(value_less("a", "b"));
  EXPECT_FALSE(value_less("1", "1.0"));
}

}  // namespace
}  // namespace eindb::runner
