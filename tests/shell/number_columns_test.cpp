#include "shell/number_columns.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace eindb {
namespace {

using Texts = std::vector<std::string>;

// The expected texts are the output of NumPy 1.24 for the same numbers.

TEST(AlignNumbers, PointsStandBelowEachOther) {
  EXPECT_EQ(align_numbers({1.0, 2.5, -10.0}), (Texts{"  1. ", "  2.5", "-10. "}));
}

TEST(AlignNumbers, AtMostEightDigitsFollowThePoint) {
  EXPECT_EQ(align_numbers({1.0 / 3, 0.5}), (Texts{"0.33333333", "0.5       "}));
}

TEST(AlignNumbers, FloatsTakeTheDigitsOfTheirOwnPrecision) {
  EXPECT_EQ(align_numbers({0.1F, 0.25F}), (Texts{"0.1 ", "0.25"}));
}

TEST(AlignNumbers, FarApartNumbersTakeAnExponent) {
  EXPECT_EQ(align_numbers({1.0, 1e-5}), (Texts{"1.e+00", "1.e-05"}));
  EXPECT_EQ(align_numbers({1.5, 2e8}), (Texts{"1.5e+00", "2.0e+08"}));
}

TEST(AlignNumbers, ZeroDoesNotCountAsSmall) { EXPECT_EQ(align_numbers({0.0, 2.0}), (Texts{"0.", "2."})); }

TEST(AlignNumbers, NumbersThatAreNotFiniteAreAlignedRight) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(align_numbers({1.5, std::numeric_limits<double>::quiet_NaN(), -infinity}), (Texts{" 1.5", " nan", "-inf"}));
}

TEST(AlignNumbers, IntegersAreAlignedRight) {
  EXPECT_EQ(align_numbers({std::int64_t{7}, std::int64_t{-12}}), (Texts{"  7", "-12"}));
}

TEST(AlignNumbers, ComplexNumbersAlignBothParts) {
  EXPECT_EQ(align_numbers({std::complex<double>(1, 2), std::complex<double>(-1.5, -10)}),
            (Texts{" 1.  +2.j", "-1.5-10.j"}));
}

TEST(AlignNumbers, LargestDoubleFits) {
  EXPECT_EQ(align_numbers({std::numeric_limits<double>::max()}), (Texts{"1.79769313e+308"}));
}

}  // namespace
}  // namespace eindb
