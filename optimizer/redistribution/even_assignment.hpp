#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace eindb {

/// The choices that an item may be given, in the order in which they are tried.
struct Wishes {
  std::vector<std::size_t> allowed;
  std::size_t preferred = 0;  ///< tried first if it is allowed, and the first resort if no allowed choice is left
};

/// Gives each of `wishes` one of `choices` choices, every choice equally often, so that as many as possible get an
/// allowed one: a maximum matching by augmenting paths (Kuhn's algorithm with capacities). Items without allowed
/// choices, and items that lose, get the remaining ones. `choices` divides the number of wishes. Deterministic.
///
/// Example: wishes {0,1}, {1}, {}, {1} and two choices: 0, 1, 0, 1.
std::vector<std::size_t> assign_evenly(const std::vector<Wishes>& wishes, std::size_t choices);

/// A move within an exchange: from one place to another, both below the group's size.
struct Move {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Splits moves into groups such that within a group every place is left once and reached once. Returns groups of
/// indices into `moves`, ordered by `to`. As many moves leave each place as reach it, so such a split exists
/// (Birkhoff).
std::vector<std::vector<std::size_t>> split_into_bijections(const std::vector<Move>& moves, std::size_t places);

}  // namespace eindb
