#include "optimizer/contraction_network.hpp"

#include <utility>

namespace eindb {

ContractionNetwork::ContractionNetwork(const ContractionProblem& problem)
    : extents_(problem.extents), holders_(problem.extents.size()), in_output_(problem.extents.size(), false) {
  for (const auto label : problem.output) in_output_[label] = true;
  for (auto operand : problem.operands) {
    std::sort(operand.begin(), operand.end());
    add(std::move(operand));
  }
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

double ContractionNetwork::kept_size(std::size_t a, std::size_t b) const {
  if (std::max(sizes_[a], sizes_[b]) >= kHugeSize) return kHugeSize;
  double size = 1;
  visit_labels(a, b, [&](std::size_t label, bool kept) { size = kept ? grown(size, label) : size; });
  return size;
}

double ContractionNetwork::flops(std::size_t a, std::size_t b) const {
  double cells = 1;
  bool sums = false;
  visit_labels(a, b, [&](std::size_t label, bool kept) {
    cells = grown(cells, label);
    sums = sums || !kept;
  });
  return cells * (sums ? 2 : 1);
}

std::size_t ContractionNetwork::contract(std::size_t a, std::size_t b) {
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
  double size = 1;
  for (const auto label : labels) {
    holders_[label].results.push_back(result);
    ++holders_[label].alive;
    size = grown(size, label);
  }
  sizes_.push_back(size);
  labels_.push_back(std::move(labels));
  alive_.push_back(true);
  return result;
}

void ContractionNetwork::remove(std::size_t result) {
  alive_[result] = false;
  for (const auto label : std::exchange(labels_[result], {})) {
    --holders_[label].alive;
    sweep(holders_[label]);
  }
}

// Drops the dead once they are the majority: a constant share of the work of adding them.
void ContractionNetwork::sweep(Holders& holders) const {
  constexpr std::size_t kFew = 16;
  if (holders.results.size() <= kFew + 2 * holders.alive) return;
  std::erase_if(holders.results, [&](std::size_t result) { return !alive_[result]; });
}

}  // namespace eindb
