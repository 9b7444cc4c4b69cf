#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

namespace eindb {

/// Disjoint sets of the numbers below a count, at first each by itself (union-find with path halving).
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }

  /// A number that stands for the set of n; another one once sets are united.
  std::size_t find(std::size_t n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  /// find(a) stands for both.
  void unite(std::size_t a, std::size_t b) { parent_[find(b)] = find(a); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace eindb
