#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace eindb {

/// Which choices one of many may be given, in the order in which they are tried.
struct Wishes {
  std::vector<std::size_t> allowed;
  std::size_t preferred = 0;  ///< tried first if it is allowed, and given first if nothing else can be
};

/// Gives each of `wishes` one of `choices`, every choice equally often, so that as many as possible get one that they
/// allow: a maximum matching by augmenting paths (Kuhn's algorithm with capacities). Those without allowed choices, and
/// those that lose, get what is left. `choices` divides the number of wishes. Deterministic.
///
/// Example: wishes {0,1}, {1}, {}, {1} and two choices: 0, 1, 0, 1.
std::vector<std::size_t> assign_evenly(const std::vector<Wishes>& wishes, std::size_t choices);

/// One of a group's exchange: comes from one place and goes to one, both below the group's size.
struct Move {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Splits moves into groups in each of which every place is left once and reached once: groups of indices into `moves`,
/// in the order of `to`. As many moves leave each place as reach it, so that there always is such a split (Birkhoff).
std::vector<std::vector<std::size_t>> split_into_bijections(const std::vector<Move>& moves, std::size_t places);

}  // namespace eindb
