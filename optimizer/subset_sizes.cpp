#include "optimizer/subset_sizes.hpp"

#include <algorithm>
#include <bit>

#include "common/check.hpp"

namespace eindb {

SubsetSizes::SubsetSizes(const ContractionProblem& problem)
    : labels_(problem.extents.size()), neighbours_(problem.operands.size(), 0) {
  CHECK(problem.operands.size() <= 64, "subsets of operands are sets of bits in one word");
  for (std::size_t l = 0; l < labels_.size(); ++l)
    labels_[l].extent = static_cast<long double>(std::max<std::int64_t>(1, problem.extents[l]));
  for (const auto label : problem.output) labels_[label].in_output = true;
  for (std::size_t n = 0; n < problem.operands.size(); ++n)
    for (const auto label : problem.operands[n]) labels_[label].holders |= Set{1} << n;
  for (std::size_t n = 0; n < problem.operands.size(); ++n)
    for (const auto label : problem.operands[n]) neighbours_[n] |= labels_[label].holders;
  std::erase_if(labels_, [](const LabelUse& label) { return label.holders == 0; });
}

SubsetSizes::Size SubsetSizes::of(Set set) const {
  Size out;
  const bool contracts = std::popcount(set) > 1;
  for (const auto& label : labels_) {
    if ((label.holders & set) == 0) continue;
    out.all *= label.extent;
    if (!contracts || label.in_output || (label.holders & ~set) != 0) continue;
    out.summed *= label.extent;
    ++out.summed_count;
  }
  return out;
}

}  // namespace eindb
