#include "shell/array_layout.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

/// The layout of an array whose elements are their own row-major numbers.
std::string numbered(const std::vector<std::int64_t>& extents) {
  const Shape shape(extents);
  const auto strides = shape.row_major_strides();
  const ArrayLayout layout(shape);
  std::vector<std::string> texts;
  layout.for_each_shown([&](const std::vector<std::int64_t>& index) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d) number += index[d] * strides[d];
    texts.push_back(std::to_string(number));
  });
  return layout.arrange(texts);
}

TEST(ArrayLayout, ScalarIsBare) { EXPECT_EQ(numbered({}), "0\n"); }

TEST(ArrayLayout, MatrixHasALinePerRow) { EXPECT_EQ(numbered({2, 3}), "[[0 1 2]\n [3 4 5]]\n"); }

TEST(ArrayLayout, AnEmptyLinePartsMatrices) {
  EXPECT_EQ(numbered({2, 2, 2}), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\n");
}

TEST(ArrayLayout, EmptyArraysAreEmptyBrackets) {
  EXPECT_EQ(numbered({0}), "[]\n");
  EXPECT_EQ(numbered({3, 0}), "[]\n");
}

TEST(ArrayLayout, LargeArraysShowTheirEnds) {
  EXPECT_EQ(numbered({1001}), "[0 1 2 ... 998 999 1000]\n");
  EXPECT_EQ(numbered({1001, 1}), "[[0]\n [1]\n [2]\n ...\n [998]\n [999]\n [1000]]\n");
}

TEST(ArrayLayout, ArraysOfAThousandElementsAreWhole) { EXPECT_EQ(numbered({1000}).find("..."), std::string::npos); }

TEST(ArrayLayout, LongLinesBreakBehindTheBrackets) {
  const auto text = numbered({50});
  EXPECT_LE(text.find('\n'), 75U);
  EXPECT_GT(text.find('\n'), 70U);
  EXPECT_EQ(text[text.find('\n') + 1], ' ');
}

// Six elements along each of 16 dimensions would be 10^12.
TEST(ArrayLayout, HighRanksShowFewElements) {
  std::size_t shown = 0;
  ArrayLayout(Shape(std::vector<std::int64_t>(16, 5))).for_each_shown([&](const auto&) { ++shown; });
  EXPECT_EQ(shown, 65536U);
}

}  // namespace
}  // namespace eindb
