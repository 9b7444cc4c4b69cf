#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "optimizer/contraction_path.hpp"

namespace eindb {

/// The results that are still to be contracted, and which of them hold each label: what a path is found and costed on.
/// Operands are results 0 to n - 1 of a problem that outlives the network; every contraction adds the next result.
/// A label is kept while another result or the output has it. Sizes end at kHugeSize, so that their differences stay
/// finite. A contraction takes time in the labels of the two results alone, also where thousands share a label.
class ContractionNetwork {
 public:
  static constexpr double kHugeSize = 1e300;

  explicit ContractionNetwork(const ContractionProblem& problem);

  bool alive(std::size_t result) const { return alive_[result]; }
  std::size_t result_count() const { return labels_.size(); }
  double size(std::size_t result) const { return sizes_[result]; }
  /// Ascending.
  const std::vector<std::size_t>& labels(std::size_t result) const { return labels_[result]; }

  /// Calls `visit` for at most `limit` living results that hold `label` and come before `result`, the last ones first.
  template <class Visit>
  void visit_holders_before(std::size_t result, std::size_t label, std::size_t limit, const Visit& visit) const;

  /// Size of the contraction of a and b; kHugeSize if one of them has that.
  double kept_size(std::size_t a, std::size_t b) const;
  /// Of that contraction: one multiplication per cell of the join, and one addition if anything is summed.
  double flops(std::size_t a, std::size_t b) const;
  /// Replaces a and b by their contraction, whose number it returns.
  std::size_t contract(std::size_t a, std::size_t b);

 private:
  struct Holders {
    std::vector<std::size_t> results;  // ascending; some may be dead
    std::size_t alive = 0;
  };

  template <class Visit>
  void visit_labels(std::size_t a, std::size_t b, const Visit& visit) const;
  double grown(double size, std::size_t label) const;
  std::size_t add(std::vector<std::size_t> labels);
  void remove(std::size_t result);
  void sweep(Holders& holders) const;

  const std::vector<std::int64_t>& extents_;
  std::vector<Holders> holders_;
  std::vector<bool> in_output_;
  std::vector<std::vector<std::size_t>> labels_;
  std::vector<double> sizes_;
  std::vector<bool> alive_;
};

template <class Visit>
void ContractionNetwork::visit_holders_before(std::size_t result, std::size_t label, std::size_t limit,
                                              const Visit& visit) const {
  const auto& results = holders_[label].results;
  auto other = std::lower_bound(results.begin(), results.end(), result);
  while (limit > 0 && other != results.begin()) {
    if (!alive_[*--other]) continue;
    visit(*other);
    --limit;
  }
}

}  // namespace eindb
