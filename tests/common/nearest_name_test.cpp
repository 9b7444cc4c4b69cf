// Suggestions for a misspelt name: close matches, ignoring case, and none if nothing is close.

#include "common/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace eindb {
namespace {

constexpr std::array<std::string_view, 4> kWords = {"TENSOR", "TABLE", "TRIGGER", "EINSUM"};

TEST(NearestName, FindsMisspellings) {
  EXPECT_EQ(nearest_name("TENOSR", kWords), "TENSOR");
  EXPECT_EQ(nearest_name("tensr", kWords), "TENSOR");
  EXPECT_EQ(nearest_name("einsumm", kWords), "EINSUM");
  EXPECT_EQ(nearest_name("tabel", kWords), "TABLE");
  EXPECT_EQ(nearest_name("TENSOR", kWords), "TENSOR");
}

TEST(NearestName, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("xyz", kWords), std::nullopt);
  EXPECT_EQ(nearest_name("", kWords), std::nullopt);
  EXPECT_EQ(nearest_name("SETTINGS", kWords), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(100'000, 'T'), kWords), std::nullopt);
  EXPECT_EQ(nearest_name("a", std::vector<std::string>{"b", "c"}), std::nullopt);
  EXPECT_EQ(nearest_name("a", std::vector<std::string>{}), std::nullopt);
}

TEST(NearestName, AThirdOfTheLongerLengthMayDiffer) {
  const std::vector<std::string> names = {"abcdef"};
  EXPECT_EQ(nearest_name("abxxef", names), "abcdef");
  EXPECT_EQ(nearest_name("axxxef", names), std::nullopt);
  EXPECT_EQ(nearest_name("abdc", std::vector<std::string>{"abcd"}), "abcd");
  EXPECT_EQ(nearest_name("ab", std::vector<std::string>{"xy", "ax", "ab"}), "ab");
}

}  // namespace
}  // namespace eindb
