#include "cluster/broken_pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace eindb {
namespace {

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
using Ways = std::vector<std::vector<std::size_t>>;

TEST(BrokenPairs, NobodyIsLeftOutWithoutNeed) { EXPECT_EQ(ways_without_pairs(4, {}), Ways{{}}); }

TEST(BrokenPairs, OneOfAPairIsLeftOut) { EXPECT_EQ(ways_without_pairs(3, {{0, 2}}), (Ways{{0}, {2}})); }

// First the worker that no other reaches, then all the others.
TEST(BrokenPairs, TheFewestComeFirst) {
  EXPECT_EQ(ways_without_pairs(5, {{1, 0}, {1, 2}, {1, 3}}), (Ways{{1}, {0, 2, 3}}));
}

TEST(BrokenPairs, SomebodyStays) {
  EXPECT_EQ(ways_without_pairs(2, {{0, 1}}), (Ways{{0}, {1}}));
  EXPECT_EQ(ways_without_pairs(3, {{0, 1}, {1, 2}, {0, 2}}).size(), 3U);
}

// Compared with all subsets.
TEST(BrokenPairs, WaysAreTheMinimalCovers) {
  constexpr std::size_t kWorkers = 6;
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Pairs pairs;
    for (std::size_t one = 0; one < kWorkers; ++one)
      for (std::size_t other = one + 1; other < kWorkers; ++other)
        if (random() % 4 == 0) pairs.emplace_back(one, other);
    const auto covers = [&](unsigned out) {
      return std::all_of(pairs.begin(), pairs.end(),
                         [&](const auto& pair) { return ((out >> pair.first | out >> pair.second) & 1U) != 0; });
    };
    std::set<std::vector<std::size_t>> expected;
    for (unsigned out = 0; out + 1 < 1U << kWorkers; ++out) {
      bool is_minimal = covers(out);
      std::vector<std::size_t> way;
      for (std::size_t worker = 0; worker < kWorkers; ++worker) {
        if ((out >> worker & 1U) == 0) continue;
        way.push_back(worker);
        is_minimal &= !covers(out & ~(1U << worker));
      }
      if (is_minimal) expected.insert(way);
    }
    const auto ways = ways_without_pairs(kWorkers, pairs);
    EXPECT_EQ(std::set(ways.begin(), ways.end()), expected);
    EXPECT_TRUE(
        std::is_sorted(ways.begin(), ways.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); }));
  }
}

TEST(BrokenPairs, ManyPairsAreNoReasonToTakeLong) {
  Pairs all;
  for (std::size_t one = 0; one < 100; ++one)
    for (std::size_t other = one + 1; other < 100; ++other) all.emplace_back(one, other);
  for (const auto& way : ways_without_pairs(100, all)) EXPECT_EQ(way.size(), 99U);
}

constexpr DataId kOne{1};
constexpr DataId kOther{2};
const std::optional<Error> kNoAnswer = Error(ErrorKind::WorkerLost, "no answer");

TEST(BrokenPairs, AProbeBreaksAndMends) {
  BrokenPairs pairs;
  EXPECT_TRUE(pairs.note_probe(kOther, kOne, kNoAnswer));
  EXPECT_FALSE(pairs.note_probe(kOne, kOther, kNoAnswer)) << "it is the same pair";
  ASSERT_EQ(pairs.all().size(), 1U);
  EXPECT_EQ(pairs.all()[0].reason, "no answer");
  EXPECT_TRUE(pairs.note_probe(kOne, kOther, std::nullopt));
  EXPECT_TRUE(pairs.all().empty());
}

TEST(BrokenPairs, OneFailureIsAskedAbout) {
  BrokenPairs pairs;
  EXPECT_FALSE(pairs.note_failure(kOne, kOther, "nothing comes"));
  EXPECT_TRUE(pairs.all().empty());
}

TEST(BrokenPairs, TwoFailuresCountMoreThanProbes) {
  BrokenPairs pairs;
  const auto now = BrokenPairs::Clock::now();
  pairs.note_failure(kOne, kOther, "nothing comes", now);
  EXPECT_FALSE(pairs.note_probe(kOne, kOther, std::nullopt, now));
  EXPECT_TRUE(pairs.note_failure(kOther, kOne, "nothing comes", now + std::chrono::seconds(20)));
  EXPECT_FALSE(pairs.note_probe(kOne, kOther, std::nullopt, now + std::chrono::seconds(30)));
  EXPECT_EQ(pairs.all().size(), 1U);
  EXPECT_TRUE(pairs.note_probe(kOne, kOther, std::nullopt, now + std::chrono::seconds(81)));
  EXPECT_TRUE(pairs.all().empty());
}

TEST(BrokenPairs, AWorkerThatJoinsAnewHasNone) {
  BrokenPairs pairs;
  pairs.note_probe(kOne, kOther, kNoAnswer);
  pairs.forget(kOther);
  EXPECT_TRUE(pairs.all().empty());
}

}  // namespace
}  // namespace eindb
