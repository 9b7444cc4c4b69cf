#include "optimizer/redistribution/even_assignment.hpp"

#include <algorithm>
#include <numeric>

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::size_t kNoChoice = static_cast<std::size_t>(-1);

// A maximum matching of items to choices with room for `capacity` items each.
class Matching {
 public:
  Matching(const std::vector<Wishes>& wishes, std::size_t choices)
      : wishes_(wishes), capacity_(wishes.size() / choices), given_(wishes.size(), kNoChoice), holders_(choices) {}

  // Items with the fewest allowed choices go first.
  void match() {
    std::vector<std::size_t> order(wishes_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return wishes_[a].allowed.size() < wishes_[b].allowed.size();
    });
    for (const auto item : order) {
      tried_.assign(holders_.size(), false);
      if (!take_preferred(item)) augment(item);
    }
  }

  std::vector<std::size_t> fill() {
    std::size_t next = 0;
    for (std::size_t item = 0; item < given_.size(); ++item) {
      if (given_[item] != kNoChoice) continue;
      if (has_room(wishes_[item].preferred)) {
        give(item, wishes_[item].preferred);
        continue;
      }
      while (!has_room(next)) {
        ++next;
        CHECK(next < holders_.size(), "choices have room for all items");
      }
      give(item, next);
    }
    DCHECK(std::all_of(holders_.begin(), holders_.end(), [&](const auto& h) { return h.size() == capacity_; }),
           "every choice is given equally often");
    return given_;
  }

 private:
  bool has_room(std::size_t choice) const { return holders_[choice].size() < capacity_; }

  void give(std::size_t item, std::size_t choice) {
    DCHECK(has_room(choice), "a choice is given while it has room");
    given_[item] = choice;
    holders_[choice].push_back(item);
  }

  bool take_preferred(std::size_t item) {
    const auto& [allowed, preferred] = wishes_[item];
    if (!has_room(preferred) || std::find(allowed.begin(), allowed.end(), preferred) == allowed.end()) return false;
    give(item, preferred);
    return true;
  }

  bool augment(std::size_t item) {
    const auto& allowed = wishes_[item].allowed;
    const auto free = std::find_if(allowed.begin(), allowed.end(), [&](std::size_t c) { return has_room(c); });
    if (free != allowed.end()) {
      give(item, *free);
      return true;
    }
    return std::any_of(allowed.begin(), allowed.end(), [&](std::size_t choice) { return displace(item, choice); });
  }

  // Gives `item` the choice of another item that can be moved elsewhere.
  bool displace(std::size_t item, std::size_t choice) {
    if (tried_[choice]) return false;
    tried_[choice] = true;
    for (std::size_t h = 0; h < holders_[choice].size(); ++h) {
      if (!augment(holders_[choice][h])) continue;
      holders_[choice][h] = item;
      given_[item] = choice;
      return true;
    }
    return false;
  }

  const std::vector<Wishes>& wishes_;
  const std::size_t capacity_;
  std::vector<std::size_t> given_;
  std::vector<std::vector<std::size_t>> holders_;
  std::vector<bool> tried_;
};

}  // namespace

std::vector<std::size_t> assign_evenly(const std::vector<Wishes>& wishes, std::size_t choices) {
  CHECK(choices > 0 && wishes.size() % choices == 0, "choices are given equally often");
  Matching matching(wishes, choices);
  matching.match();
  return matching.fill();
}

std::vector<std::vector<std::size_t>> split_into_bijections(const std::vector<Move>& moves, std::size_t places) {
  std::vector<std::vector<std::size_t>> waiting(places);  // for each place, the moves that leave it
  for (std::size_t m = 0; m < moves.size(); ++m) {
    CHECK(moves[m].from < places && moves[m].to < places, "a move is between places of its group");
    waiting[moves[m].from].push_back(m);
  }
  std::vector<std::vector<std::size_t>> groups(moves.size() / places);
  for (auto& group : groups) {
    std::vector<Wishes> wishes;
    for (const auto& list : waiting) {
      auto& wish = wishes.emplace_back();
      for (const auto m : list) wish.allowed.push_back(moves[m].to);
      CHECK(!wish.allowed.empty(), "a move of every group leaves each place");
      wish.preferred = wish.allowed.front();
    }
    const auto reached = assign_evenly(wishes, places);
    group.resize(places);
    for (std::size_t from = 0; from < places; ++from) {
      auto& list = waiting[from];
      const auto taken = std::find_if(list.begin(), list.end(), [&](auto m) { return moves[m].to == reached[from]; });
      CHECK(taken != list.end(), "as many moves leave each place as reach it");
      group[reached[from]] = *taken;
      list.erase(taken);
    }
  }
  return groups;
}

}  // namespace eindb
