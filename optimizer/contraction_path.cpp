#include "optimizer/contraction_path.hpp"

#include <algorithm>
#include <bit>
#include <queue>
#include <set>
#include <tuple>

#include "common/check.hpp"

namespace eindb {
namespace {

using LabelSet = std::vector<std::size_t>;  // ascending
using ResultPair = std::pair<std::size_t, std::size_t>;

// Beyond this, sizes are all equally out of reach; the bound keeps differences of sizes finite.
constexpr double kHugeSize = 1e300;
// At most so many partners are proposed to a result for one label.
constexpr std::size_t kPartnersPerLabel = 32;

LabelSet sorted(LabelSet labels) {
  std::sort(labels.begin(), labels.end());
  return labels;
}

// The results that are still to be contracted, and which of them hold each label.
class Network {
 public:
  explicit Network(const ContractionProblem& problem)
      : extents_(problem.extents), holders_(problem.extents.size()), in_output_(problem.extents.size(), false) {
    for (const auto label : problem.output) in_output_[label] = true;
    for (const auto& operand : problem.operands) add(sorted(operand));
  }

  bool alive(std::size_t result) const { return alive_[result]; }
  std::size_t result_count() const { return labels_.size(); }
  double size(std::size_t result) const { return sizes_[result]; }
  const LabelSet& labels(std::size_t result) const { return labels_[result]; }
  const std::set<std::size_t>& holders(std::size_t label) const { return holders_[label]; }

  // Labels that the contraction of a and b keeps.
  LabelSet kept(std::size_t a, std::size_t b) const {
    LabelSet both = merged(a, b);
    std::erase_if(both, [&](std::size_t label) { return !is_kept(label, a, b); });
    return both;
  }

  double kept_size(std::size_t a, std::size_t b) const { return size_of(kept(a, b)); }

  // One multiplication per cell of the join, and one addition if anything is summed.
  double flops(std::size_t a, std::size_t b) const {
    const auto both = merged(a, b);
    return size_of(both) * (kept(a, b).size() < both.size() ? 2 : 1);
  }

  std::size_t contract(std::size_t a, std::size_t b) {
    auto labels = kept(a, b);
    remove(a);
    remove(b);
    return add(std::move(labels));
  }

 private:
  LabelSet merged(std::size_t a, std::size_t b) const {
    LabelSet out;
    out.reserve(labels_[a].size() + labels_[b].size());
    std::set_union(labels_[a].begin(), labels_[a].end(), labels_[b].begin(), labels_[b].end(), std::back_inserter(out));
    return out;
  }

  bool is_kept(std::size_t label, std::size_t a, std::size_t b) const {
    const auto& holders = holders_[label];
    return in_output_[label] || holders.size() > holders.count(a) + holders.count(b);
  }

  double size_of(const LabelSet& labels) const {
    double size = 1;
    for (const auto label : labels) size = std::min(kHugeSize, size * static_cast<double>(extents_[label]));
    return size;
  }

  std::size_t add(LabelSet labels) {
    const auto result = labels_.size();
    for (const auto label : labels) holders_[label].insert(result);
    sizes_.push_back(size_of(labels));
    labels_.push_back(std::move(labels));
    alive_.push_back(true);
    return result;
  }

  void remove(std::size_t result) {
    for (const auto label : labels_[result]) holders_[label].erase(result);
    labels_[result] = {};
    alive_[result] = false;
  }

  const std::vector<std::int64_t>& extents_;
  std::vector<std::set<std::size_t>> holders_;
  std::vector<bool> in_output_;
  std::vector<LabelSet> labels_;
  std::vector<double> sizes_;
  std::vector<bool> alive_;
};

class Greedy {
 public:
  explicit Greedy(const ContractionProblem& problem) : network_(problem) {}

  std::vector<ResultPair> run() {
    const auto operands = network_.result_count();
    // Each result proposes to earlier ones alone, so that every pair is proposed once.
    for (std::size_t result = 0; result < operands; ++result) propose(result);
    contract_connected();
    contract_outer();
    return std::move(pairs_);
  }

 private:
  // Cost, then numbers of results, so that the order does not depend on chance.
  using Candidate = std::tuple<double, std::size_t, std::size_t>;
  template <class T>
  using SmallestFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  // A cost stays right while both results live: another result that holds a label of theirs disappears only into
  // one that holds it too, or by contraction with one of the two.
  void propose(std::size_t result) {
    std::set<std::size_t> partners;
    for (const auto label : network_.labels(result)) {
      const auto& holders = network_.holders(label);
      auto other = holders.find(result);  // its neighbours in the list of operands are the likeliest partners
      for (std::size_t n = 0; n < kPartnersPerLabel && other != holders.begin(); ++n) partners.insert(*--other);
    }
    for (const auto other : partners) {
      const double cost = network_.kept_size(other, result) - network_.size(other) - network_.size(result);
      connected_.emplace(cost, other, result);
    }
  }

  std::size_t contract(std::size_t a, std::size_t b) {
    pairs_.emplace_back(a, b);
    return network_.contract(a, b);
  }

  void contract_connected() {
    while (!connected_.empty()) {
      const auto [cost, a, b] = connected_.top();
      connected_.pop();
      if (network_.alive(a) && network_.alive(b)) propose(contract(a, b));
    }
  }

  void contract_outer() {
    SmallestFirst<std::pair<double, std::size_t>> left;
    for (std::size_t result = 0; result < network_.result_count(); ++result)
      if (network_.alive(result)) left.emplace(network_.size(result), result);
    while (left.size() > 1) {
      const auto a = left.top().second;
      left.pop();
      const auto b = left.top().second;
      left.pop();
      const auto result = contract(std::min(a, b), std::max(a, b));
      left.emplace(network_.size(result), result);
    }
  }

  Network network_;
  std::vector<ResultPair> pairs_;
  SmallestFirst<Candidate> connected_;
};

// The shrinking list of a path, by counting the survivors in a Fenwick tree: both directions in log n.
class ShrinkingList {
 public:
  explicit ShrinkingList(std::size_t capacity) : counts_(std::bit_ceil(capacity + 1) + 1, 0) {}

  void add(std::size_t result) { change(result, 1); }
  void remove(std::size_t result) { change(result, -1); }

  std::size_t position_of(std::size_t result) const {
    std::ptrdiff_t before = 0;
    for (auto n = result; n > 0; n -= n & (~n + 1)) before += counts_[n];
    return static_cast<std::size_t>(before);
  }

  std::size_t at(std::size_t position) const {
    std::size_t n = 0;
    auto left = static_cast<std::ptrdiff_t>(position);
    for (auto step = counts_.size() - 1; step > 0; step /= 2) {
      if (n + step >= counts_.size() || counts_[n + step] > left) continue;
      n += step;
      left -= counts_[n];
    }
    return n;
  }

 private:
  void change(std::size_t result, std::ptrdiff_t by) {
    for (auto n = result + 1; n < counts_.size(); n += n & (~n + 1)) counts_[n] += by;
  }

  std::vector<std::ptrdiff_t> counts_;
};

}  // namespace

ContractionPath greedy_path(const ContractionProblem& problem) {
  return path_of_results(problem, Greedy(problem).run());
}

ContractionPath path_of_results(const ContractionProblem& problem, const std::vector<ResultPair>& pairs) {
  const auto operands = problem.operands.size();
  CHECK(pairs.size() + 1 == std::max<std::size_t>(1, operands), "a path contracts everything to one result");
  Network network(problem);
  ShrinkingList list(operands + pairs.size());
  for (std::size_t n = 0; n < operands; ++n) list.add(n);
  ContractionPath path;
  for (const auto& [a, b] : pairs) {
    CHECK(a != b && network.alive(a) && network.alive(b), "a path contracts two results that are on the list");
    path.steps.push_back(std::minmax({list.position_of(a), list.position_of(b)}));
    path.flops += network.flops(a, b);
    const auto result = network.contract(a, b);
    path.largest_intermediate = std::max(path.largest_intermediate, network.size(result));
    list.remove(a);
    list.remove(b);
    list.add(result);
  }
  return path;
}

std::vector<ResultPair> results_of_path(std::size_t operand_count, const std::vector<ContractionPath::Step>& steps) {
  ShrinkingList list(operand_count + steps.size());
  for (std::size_t n = 0; n < operand_count; ++n) list.add(n);
  std::vector<ResultPair> pairs;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto [first, second] = steps[s];
    CHECK(first < second && second < operand_count - s, "a step of a path names two positions of the list");
    pairs.emplace_back(list.at(first), list.at(second));
    list.remove(pairs.back().first);
    list.remove(pairs.back().second);
    list.add(operand_count + s);
  }
  return pairs;
}

}  // namespace eindb
