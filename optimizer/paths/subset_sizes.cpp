#include "optimizer/paths/subset_sizes.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

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
  unite_alike();
}

// Labels with the same operands occur together, so they become one label with the product of their extents.
void SubsetSizes::unite_alike() {
  const auto use = [](const LabelUse& label) { return std::tuple(label.holders, label.in_output); };
  std::sort(labels_.begin(), labels_.end(), [&](const auto& a, const auto& b) { return use(a) < use(b); });
  std::vector<LabelUse> united;
  for (const auto& label : labels_) {
    if (united.empty() || use(united.back()) != use(label)) united.push_back(label);
    else united.back().extent *= label.extent;
  }
  DCHECK(std::all_of(united.begin(), united.end(), [](const auto& label) { return label.holders != 0; }),
         "a label that is left is one of an operand");
  labels_ = std::move(united);
}

SubsetSizes::Size SubsetSizes::of(Set set) const {
  DCHECK(set != 0 && (neighbours_.size() == 64 || set >> neighbours_.size() == 0), "a subset is one of the operands");
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

std::vector<SubsetSizes::Size> SubsetSizes::of_all() const {
  const auto operands = neighbours_.size();
  CHECK(operands < 32, "the sizes of all subsets fit the memory");
  // By the lowest operand of a subset: the labels that this operand adds.
  std::vector<std::vector<LabelUse>> held(operands);
  for (const auto& label : labels_)
    for (auto holders = label.holders; holders != 0; holders &= holders - 1)
      held[static_cast<std::size_t>(std::countr_zero(holders))].push_back(label);

  std::vector<Size> sizes(std::size_t{1} << operands);
  for (Set set = 1; set < sizes.size(); ++set) {
    const Set rest = set & (set - 1);
    auto& size = sizes[set];
    size = sizes[rest];
    for (const auto& label : held[static_cast<std::size_t>(std::countr_zero(set))]) {
      if ((label.holders & rest) == 0) size.all *= label.extent;
      if (label.in_output || (label.holders & ~set) != 0) continue;
      size.summed *= label.extent;
      ++size.summed_count;
    }
  }
  // A single operand sums nothing. Its entry held the labels that it has alone, which the recursion for larger subsets
  // needs.
  for (std::size_t n = 0; n < operands; ++n) sizes[Set{1} << n] = of(Set{1} << n);
  return sizes;
}

}  // namespace eindb
