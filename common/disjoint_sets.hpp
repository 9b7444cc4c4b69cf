#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace eindb {

/// Disjoint sets of the numbers below `count`, initially singletons (union-find with path halving).
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  /// The representative of the set of n; it may change when sets are united.
  std::size_t find(std::size_t n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  /// Unites two sets; find(a) represents both.
  void unite(std::size_t a, std::size_t b) { parent_[find(b)] = find(a); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace eindb
