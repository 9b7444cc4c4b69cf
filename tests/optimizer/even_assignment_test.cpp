#include "optimizer/redistribution/even_assignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace eindb {
namespace {

std::size_t granted(const std::vector<Wishes>& wishes, const std::vector<std::size_t>& given) {
  std::size_t count = 0;
  for (std::size_t n = 0; n < wishes.size(); ++n)
    count += std::count(wishes[n].allowed.begin(), wishes[n].allowed.end(), given[n]) > 0;
  return count;
}

TEST(EvenAssignment, GivesEveryChoiceEquallyOften) {
  EXPECT_EQ(assign_evenly({{{0, 1}, 1}, {{1}, 1}, {{}, 1}, {{1}, 1}}, 2), (std::vector<std::size_t>{0, 1, 0, 1}));
  EXPECT_EQ(assign_evenly({{{0, 1}, 1}, {{0, 1}, 0}}, 2), (std::vector<std::size_t>{1, 0}));
}

TEST(EvenAssignment, GrantsAsManyWishesAsCanBe) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::size_t choices = 1 + random() % 3;
    std::vector<Wishes> wishes(choices * (1 + random() % 2));
    for (auto& wish : wishes) {
      for (std::size_t c = 0; c < choices; ++c)
        if (random() % 2 == 0) wish.allowed.push_back(c);
      wish.preferred = random() % choices;
    }
    std::vector<std::size_t> all(wishes.size());
    for (std::size_t n = 0; n < all.size(); ++n) all[n] = n % choices;
    std::sort(all.begin(), all.end());
    std::size_t most = 0;
    auto permuted = all;
    do most = std::max(most, granted(wishes, permuted));
    while (std::next_permutation(permuted.begin(), permuted.end()));
    auto given = assign_evenly(wishes, choices);
    EXPECT_EQ(granted(wishes, given), most);
    std::sort(given.begin(), given.end());
    EXPECT_EQ(given, all);
  }
}

TEST(EvenAssignment, MovesSplitIntoBijections) {
  std::mt19937 random(4);
  for (int round = 0; round < 100; ++round) {
    const std::size_t places = 1 + random() % 6;
    std::vector<Move> moves;
    for (std::size_t copies = 1 + random() % 4; copies > 0; --copies) {
      std::vector<std::size_t> to(places);
      std::iota(to.begin(), to.end(), std::size_t{0});
      std::shuffle(to.begin(), to.end(), random);
      for (std::size_t from = 0; from < places; ++from) moves.push_back({from, to[from]});
    }
    std::shuffle(moves.begin(), moves.end(), random);
    std::vector<bool> used(moves.size(), false);
    for (const auto& group : split_into_bijections(moves, places)) {
      std::vector<bool> left(places, false);
      for (std::size_t to = 0; to < places; ++to) {
        EXPECT_EQ(moves[group[to]].to, to);
        EXPECT_FALSE(left[moves[group[to]].from] || used[group[to]]);
        left[moves[group[to]].from] = used[group[to]] = true;
      }
    }
    EXPECT_TRUE(std::all_of(used.begin(), used.end(), [](bool u) { return u; }));
  }
}

}  // namespace
}  // namespace eindb
