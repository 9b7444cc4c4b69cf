#include "optimizer/paths/contraction_network.hpp"

#include <cmath>
#include <functional>
#include <utility>

#include "common/check.hpp"

namespace eindb {

ContractionNetwork::ContractionNetwork(const ContractionProblem& problem)
    : extents_(problem.extents),
      holders_(problem.extents.size()),
      in_output_(problem.extents.size(), false),
      log2_extents_(problem.extents.size()),
      marks_(problem.extents.size(), false) {
  for (std::size_t label = 0; label < extents_.size(); ++label) log2_extents_[label] = std::log2(extent(label));
  for (const auto label : problem.output) in_output_[label] = true;
  for (auto operand : problem.operands) {
    std::sort(operand.begin(), operand.end());
    add(std::move(operand));
  }
  for (std::size_t n = 0; n < result_count(); ++n) shared_sizes_[n] = size_of_shared_labels(n);
}

// visit(label, is_kept) for every label of a or b, ascending.
template <class Visit>
void ContractionNetwork::visit_labels(std::size_t a, std::size_t b, const Visit& visit) const {
  const auto is_kept = [&](std::size_t label, std::size_t own) {
    return in_output_[label] || holders_[label].alive > own;
  };
  auto x = labels_[a].begin();
  auto y = labels_[b].begin();
  while (x != labels_[a].end() && y != labels_[b].end()) {
    if (*x < *y) visit(*x, is_kept(*x, 1)), ++x;
    else if (*y < *x) visit(*y, is_kept(*y, 1)), ++y;
    else visit(*x, is_kept(*x, 2)), ++x, ++y;
  }
  for (; x != labels_[a].end(); ++x) visit(*x, is_kept(*x, 1));
  for (; y != labels_[b].end(); ++y) visit(*y, is_kept(*y, 1));
}

double ContractionNetwork::grown(double size, std::size_t label) const {
  return std::min(kHugeSize, size * static_cast<double>(extents_[label]));
}

ContractionNetwork::Size ContractionNetwork::size_of_shared_labels(std::size_t result) const {
  Size size;
  for (const auto label : labels_[result]) {
    if (!in_output_[label] && holders_[label].alive == 1) continue;
    size.elements = std::min(kHugeSize, size.elements * extent(label));
    size.log2 += log2_extents_[label];
  }
  return size;
}

// The product of two sizes counts a common label twice: once too often if it is kept, twice too often if it is summed.
void ContractionNetwork::kept_sizes(std::size_t result, const std::vector<std::size_t>& others,
                                    std::vector<Size>& sizes) {
  for (const auto label : labels_[result]) {
    DCHECK(!marks_[label], "no label is marked between calls");
    marks_[label] = true;
  }
  sizes.clear();
  for (const auto other : others) {
    auto size = shared_sizes_[other];
    size.log2 += shared_sizes_[result].log2;
    for (const auto label : labels_[other]) {
      if (!marks_[label]) continue;
      const bool kept = in_output_[label] || holders_[label].alive > 2;
      size.elements /= kept ? extent(label) : extent(label) * extent(label);
      size.log2 -= kept ? log2_extents_[label] : 2 * log2_extents_[label];
    }
    size.elements = std::min(kHugeSize, size.elements * shared_sizes_[result].elements);
    if (std::max(shared_sizes_[result].elements, shared_sizes_[other].elements) >= kHugeSize)
      size.elements = std::min(kHugeSize, std::exp2(size.log2));
    sizes.push_back(size);
  }
  for (const auto label : labels_[result]) marks_[label] = false;
}

double ContractionNetwork::flops(std::size_t a, std::size_t b) const {
  DCHECK(alive_.at(a) && alive_.at(b), "a step that is costed joins results that are there");
  double cells = 1;
  bool sums = false;
  visit_labels(a, b, [&](std::size_t label, bool kept) {
    cells = grown(cells, label);
    sums = sums || !kept;
  });
  return cells * (sums ? 2 : 1);
}

std::size_t ContractionNetwork::contract(std::size_t a, std::size_t b) {
  CHECK(a != b && a < result_count() && b < result_count() && alive_[a] && alive_[b],
        "two results that are contracted are there");
  std::vector<std::size_t> labels;
  labels.reserve(labels_[a].size() + labels_[b].size());
  visit_labels(a, b, [&](std::size_t label, bool kept) {
    if (kept) labels.push_back(label);
  });
  remove(a);
  remove(b);
  return add(std::move(labels));
}

std::size_t ContractionNetwork::add(std::vector<std::size_t> labels) {
  const auto result = labels_.size();
  DCHECK(std::adjacent_find(labels.begin(), labels.end(), std::greater_equal<>()) == labels.end(),
         "the labels of a result are ascending and distinct");
  Size size;
  for (const auto label : labels) {
    DCHECK(label < holders_.size(), "labels are numbers into the extents");
    holders_[label].results.push_back(result);
    ++holders_[label].alive;
    size.elements = grown(size.elements, label);
    size.log2 += log2_extents_[label];
  }
  sizes_.push_back(size);
  shared_sizes_.push_back(size);
  labels_.push_back(std::move(labels));
  alive_.push_back(true);
  return result;
}

void ContractionNetwork::remove(std::size_t result) {
  alive_[result] = false;
  for (const auto label : std::exchange(labels_[result], {})) {
    DCHECK(holders_[label].alive > 0, "a label counts the results that hold it");
    --holders_[label].alive;
    sweep(holders_[label]);
  }
}

// Removes dead entries once they are the majority, which takes constant time per entry added.
void ContractionNetwork::sweep(Holders& holders) const {
  constexpr std::size_t kFewDead = 16;
  if (holders.results.size() <= kFewDead + 2 * holders.alive) return;
  std::erase_if(holders.results, [&](std::size_t result) { return !alive_[result]; });
  CHECK(holders.results.size() == holders.alive, "those that hold a label are counted");
}

}  // namespace eindb
