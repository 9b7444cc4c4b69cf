#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/cell_block.hpp"

namespace eindb {

/// Loops over the labels of a join of cells for one call: what moves where a label gets an index. Tries have their
/// levels in the order of the loops.
struct CellNest {
  struct TrieStep {
    std::size_t trie;
    bool is_last;   ///< its nodes are the cells
    bool is_first;  ///< they are of no parent
    const std::uint32_t* coordinates;
    const std::int64_t* begins;  ///< null in the last level
    const std::int32_t* places;  ///< the node of each coordinate, or -1; null where there is no list
  };
  struct DenseStep {
    std::size_t dense;
    std::int64_t stride;
    bool is_last;  ///< all labels of the operand have an index then
  };
  struct Level {
    std::size_t label;  ///< among EinSum::labels()
    std::int64_t extent;
    std::int64_t begin;  ///< the index in the whole tensor of the range's first one
    std::int64_t output_stride;
    std::vector<TrieStep> tries;
    std::vector<DenseStep> dense;
    /// Nothing else depends on the label, so that all nodes of the trie's next level are taken at once.
    bool is_skipped = false;
  };

  std::vector<Level> levels;
  std::vector<const CellTrie*> tries;
  std::size_t dense_count = 0;
  std::size_t row_level = 0;  ///< where rows of the result are begun, if they are gathered
};

/// The first node from `from` to before `end` whose coordinate is at least `least`; `end` if there is none. Takes
/// longer steps the farther it is.
inline std::int64_t seek_node(const std::uint32_t* coordinates, std::int64_t from, std::int64_t end,
                              std::uint32_t least) {
  constexpr int kNear = 4;
  for (int n = 0; n < kNear; ++n, ++from)
    if (from >= end || coordinates[from] >= least) return from;
  std::int64_t step = kNear;
  auto low = from;
  while (end - low > step && coordinates[low + step] < least) {
    low += step;
    step *= 2;
  }
  return std::lower_bound(coordinates + low, coordinates + std::min(low + step, end), least) - coordinates;
}

/// Where a join stands in each trie: the nodes of the next level that are below those chosen so far.
class TrieCursors {
 public:
  explicit TrieCursors(const CellNest& nest) {
    const auto tries = nest.tries.size();
    std::size_t steps = 0;
    first_.reserve(nest.levels.size());
    for (const auto& level : nest.levels) {
      first_.push_back(steps);
      steps += level.tries.size();
    }
    places_.resize(2 * tries + 3 * steps);
    begin_ = places_.data();
    end_ = begin_ + tries;
    node_ = end_ + tries;
    next_ = node_ + steps;
    end_of_ = next_ + steps;
    for (std::size_t t = 0; t < tries; ++t)
      end_[t] = static_cast<std::int64_t>(nest.tries[t]->levels.front().coordinates.size());
  }
  TrieCursors(const TrieCursors&) = delete;
  TrieCursors& operator=(const TrieCursors&) = delete;

  std::int64_t begin(std::size_t trie) const { return begin_[trie]; }
  std::int64_t end(std::size_t trie) const { return end_[trie]; }
  void set(std::size_t trie, std::int64_t begin, std::int64_t end) {
    begin_[trie] = begin;
    end_[trie] = end;
  }
  /// To the nodes below a node.
  void descend(const CellNest::TrieStep& step, std::int64_t node) {
    set(step.trie, step.begins[node], step.begins[node + 1]);
  }

  /// Calls `visit` with each coordinate that all tries of the level have, and the tries' nodes there.
  template <class Visit>
  void meet(const CellNest::Level& level, std::size_t number, Visit visit) {
    const auto& steps = level.tries;
    auto* nodes = node_ + first_[number];
    if (steps.size() == 2 && are_alike(steps[0], steps[1])) return merge_two(steps[0], steps[1], nodes, visit);
    std::size_t driver = 0;
    for (std::size_t k = 1; k < steps.size(); ++k)
      if (end_[steps[k].trie] - begin_[steps[k].trie] < end_[steps[driver].trie] - begin_[steps[driver].trie])
        driver = k;
    for (std::size_t k = 0; k < steps.size(); ++k) nodes[k] = begin_[steps[k].trie];
    const auto& lead = steps[driver];
    const auto end = end_[lead.trie];
    while (nodes[driver] < end) {
      const auto coordinate = lead.coordinates[nodes[driver]];
      auto next = coordinate;
      for (std::size_t k = 0; k < steps.size(); ++k) {
        if (k == driver) continue;
        const auto& step = steps[k];
        if (step.places != nullptr) {
          nodes[k] = step.places[coordinate];
          if (nodes[k] >= 0) continue;
          next = coordinate + 1;
          break;
        }
        nodes[k] = seek_node(step.coordinates, nodes[k], end_[step.trie], coordinate);
        if (nodes[k] == end_[step.trie]) return;
        next = step.coordinates[nodes[k]];
        if (next != coordinate) break;
      }
      if (next == coordinate) {
        const auto here = nodes[driver];
        visit(coordinate, static_cast<const std::int64_t*>(nodes));
        nodes[driver] = here + 1;
      } else {
        nodes[driver] =
            next == coordinate + 1 ? nodes[driver] + 1 : seek_node(lead.coordinates, nodes[driver] + 1, end, next);
      }
    }
  }

  /// Calls `visit` with each coordinate that any trie of the level has, and the tries' nodes there, -1 for none.
  template <class Visit>
  void unite(const CellNest::Level& level, std::size_t number, Visit visit) {
    const auto& steps = level.tries;
    auto* nodes = node_ + first_[number];
    auto* at = next_ + first_[number];
    for (std::size_t k = 0; k < steps.size(); ++k) at[k] = begin_[steps[k].trie];
    auto* ends = end_of_ + first_[number];
    for (std::size_t k = 0; k < steps.size(); ++k) ends[k] = end_[steps[k].trie];
    while (steps.size() == 2 && at[0] < ends[0] && at[1] < ends[1]) {
      const auto x = steps[0].coordinates[at[0]];
      const auto y = steps[1].coordinates[at[1]];
      nodes[0] = x <= y ? at[0]++ : -1;
      nodes[1] = y <= x ? at[1]++ : -1;
      visit(std::min(x, y), static_cast<const std::int64_t*>(nodes));
    }
    constexpr auto kNone = std::uint32_t{0xFFFFFFFF};  // beyond all extents
    while (true) {
      auto least = kNone;
      for (std::size_t k = 0; k < steps.size(); ++k)
        if (at[k] < ends[k]) least = std::min(least, steps[k].coordinates[at[k]]);
      if (least == kNone) return;
      for (std::size_t k = 0; k < steps.size(); ++k) {
        const bool is_there = at[k] < ends[k] && steps[k].coordinates[at[k]] == least;
        nodes[k] = is_there ? at[k]++ : -1;
      }
      visit(least, static_cast<const std::int64_t*>(nodes));
    }
  }

 private:
  // Whether it takes less to step through the nodes of both than to search those of the longer one.
  bool are_alike(const CellNest::TrieStep& a, const CellNest::TrieStep& b) const {
    constexpr std::int64_t kTimes = 8;
    const auto of_a = end_[a.trie] - begin_[a.trie];
    const auto of_b = end_[b.trie] - begin_[b.trie];
    const bool has_places = (a.places != nullptr && of_b < of_a) || (b.places != nullptr && of_a < of_b);
    return !has_places && of_a <= kTimes * of_b && of_b <= kTimes * of_a;
  }

  template <class Visit>
  void merge_two(const CellNest::TrieStep& a, const CellNest::TrieStep& b, std::int64_t* nodes, Visit visit) {
    auto at = begin_[a.trie];
    auto other = begin_[b.trie];
    const auto end = end_[a.trie];
    const auto other_end = end_[b.trie];
    // Where cells lie in blocks, lines mostly end before others begin.
    if (at == end || other == other_end) return;
    if (a.coordinates[end - 1] < b.coordinates[other] || b.coordinates[other_end - 1] < a.coordinates[at]) return;
    while (at < end && other < other_end) {
      const auto x = a.coordinates[at];
      const auto y = b.coordinates[other];
      if (x == y) {
        nodes[0] = at;
        nodes[1] = other;
        visit(x, static_cast<const std::int64_t*>(nodes));
      }
      at += static_cast<std::int64_t>(x <= y);
      other += static_cast<std::int64_t>(y <= x);
    }
  }

  std::vector<std::size_t> first_;    // by level: its place in node_
  std::vector<std::int64_t> places_;  // memory of the following
  std::int64_t* begin_ = nullptr;     // by trie
  std::int64_t* end_ = nullptr;
  std::int64_t* node_ = nullptr;
  std::int64_t* next_ = nullptr;  // likewise, where tries are united
  std::int64_t* end_of_ = nullptr;
};

}  // namespace eindb
