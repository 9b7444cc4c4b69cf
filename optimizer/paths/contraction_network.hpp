#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/check.hpp"
#include "optimizer/paths/contraction_problem.hpp"

namespace eindb {

/// The results that are still to be contracted, indexed by label; path searches work on it and cost steps with it.
/// Operands are results 0 to n - 1 of a problem that must outlive the network; every contraction adds the next result.
/// A label is kept while another result or the output has it. Sizes are capped at kHugeSize, so that their differences
/// stay finite. The time of a contraction depends only on the labels of its two results, even if thousands of results
/// share a label.
class ContractionNetwork {
 public:
  static constexpr double kHugeSize = 1e300;

  /// A number of elements, capped, and its logarithm, which is not.
  struct Size {
    double elements = 1;
    double log2 = 0;
  };

  explicit ContractionNetwork(const ContractionProblem& problem);

  bool alive(std::size_t result) const { return alive_[result]; }
  std::size_t result_count() const { return labels_.size(); }
  double size(std::size_t result) const { return sizes_[result].elements; }
  double log2_size(std::size_t result) const { return sizes_[result].log2; }
  /// Ascending.
  const std::vector<std::size_t>& labels(std::size_t result) const { return labels_[result]; }

  /// Calls `visit` for up to `limit` alive results before `result` that have `label`, in descending order.
  template <class Visit>
  void visit_holders_before(std::size_t result, std::size_t label, std::size_t limit, const Visit& visit) const;

  /// Sizes of the contractions of `result` with each of `others`. Takes time in the labels of `result` once, plus those
  /// of the others, so a result with thousands of labels does not cost them again for each small one. An extent of 0
  /// counts as 1.
  void kept_sizes(std::size_t result, const std::vector<std::size_t>& others, std::vector<Size>& sizes);
  /// The flops of contracting a and b: one multiplication per cell of the join, and one addition if a label is summed.
  double flops(std::size_t a, std::size_t b) const;
  /// Replaces a and b by their contraction and returns its number.
  std::size_t contract(std::size_t a, std::size_t b);

 private:
  struct Holders {
    std::vector<std::size_t> results;  // ascending; some may be dead
    std::size_t alive = 0;
  };

  template <class Visit>
  void visit_labels(std::size_t a, std::size_t b, const Visit& visit) const;
  double grown(double size, std::size_t label) const;
  double extent(std::size_t label) const { return static_cast<double>(std::max<std::int64_t>(1, extents_[label])); }
  Size size_of_shared_labels(std::size_t result) const;
  std::size_t add(std::vector<std::size_t> labels);
  void remove(std::size_t result);
  void sweep(Holders& holders) const;

  const std::vector<std::int64_t>& extents_;
  std::vector<Holders> holders_;
  std::vector<bool> in_output_;
  std::vector<std::vector<std::size_t>> labels_;
  std::vector<Size> sizes_;
  std::vector<Size> shared_sizes_;  // without labels that no other result has; only operands can have such labels
  std::vector<double> log2_extents_;
  std::vector<bool> marks_;  // by label; all false between calls
  std::vector<bool> alive_;
};

template <class Visit>
void ContractionNetwork::visit_holders_before(std::size_t result, std::size_t label, std::size_t limit,
                                              const Visit& visit) const {
  DCHECK(label < holders_.size() && result < alive_.size(), "a label of a result of the network is asked for");
  const auto& results = holders_[label].results;
  auto other = std::lower_bound(results.begin(), results.end(), result);
  while (limit > 0 && other != results.begin()) {
    if (!alive_[*--other]) continue;
    visit(*other);
    --limit;
  }
}

}  // namespace eindb
