#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "optimizer/paths/contraction_path.hpp"

namespace eindb::testing {

/// The least flops over every binary tree, each step by its plain definition, without bounds. Only the labels of a set
/// of operands are cached.
class EveryTree {
 public:
  explicit EveryTree(const ContractionProblem& problem, bool outer_products = true)
      : problem_(problem), outer_products_(outer_products), whole_((1U << problem.operands.size()) - 1) {
    for (unsigned set = 0; set <= whole_; ++set) labels_.push_back(find_labels(set));
    for (unsigned labels = 0; labels < 1U << problem.extents.size(); ++labels) {
      double cells = 1;
      for (std::size_t label = 0; label < problem.extents.size(); ++label)
        if ((labels >> label & 1U) != 0) cells *= static_cast<double>(problem.extents[label]);
      cells_.push_back(cells);
    }
  }

  double best() const { return best(whole_); }

 private:
  static unsigned bits(const std::vector<std::size_t>& labels) {
    unsigned out = 0;
    for (const auto label : labels) out |= 1U << label;
    return out;
  }

  // The labels of the result of a set of operands: an operand's own labels, or those needed elsewhere.
  unsigned find_labels(unsigned set) const {
    unsigned in = 0;
    unsigned needed = bits(problem_.output);
    for (std::size_t n = 0; n < problem_.operands.size(); ++n)
      ((set >> n & 1U) != 0 ? in : needed) |= bits(problem_.operands[n]);
    return std::has_single_bit(set) ? in : in & needed;
  }

  double step(unsigned a, unsigned b) const {
    if (!outer_products_ && (labels_[a] & labels_[b]) == 0) return std::numeric_limits<double>::infinity();
    const unsigned all = labels_[a] | labels_[b];
    return cells_[all] * (labels_[a | b] == all ? 1 : 2);
  }

  double best(unsigned set) const {
    if (std::has_single_bit(set)) return 0;
    double least = std::numeric_limits<double>::infinity();
    const unsigned lowest = set & (~set + 1);
    for (unsigned b = (set - 1) & set; b > 0; b = (b - 1) & set)
      if ((b & lowest) == 0) least = std::min(least, best(set ^ b) + best(b) + step(set ^ b, b));
    return least;
  }

  const ContractionProblem& problem_;
  bool outer_products_;
  unsigned whole_;
  std::vector<unsigned> labels_;  // by set of operands
  std::vector<double> cells_;     // by set of labels
};

}  // namespace eindb::testing
