#include "optimizer/paths/contraction_path.hpp"

#include <algorithm>
#include <bit>

#include "common/check.hpp"
#include "optimizer/paths/contraction_network.hpp"

namespace eindb {
namespace {

constexpr std::size_t kStepsPerPoll = 256;

// The shrinking list of a path. A Fenwick tree counts the survivors, so that both conversions take log n.
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
    CHECK(n + 1 < counts_.size(), "a position of a list holds a result");
    return n;
  }

 private:
  void change(std::size_t result, std::ptrdiff_t by) {
    DCHECK(result + 1 < counts_.size(), "a list has room for the results of all steps");
    for (auto n = result + 1; n < counts_.size(); n += n & (~n + 1)) counts_[n] += by;
  }

  std::vector<std::ptrdiff_t> counts_;
};

}  // namespace

ContractionPath path_of_results(const ContractionProblem& problem, const ResultPairs& pairs,
                                const Cancellation* cancellation) {
  const auto operands = problem.operands.size();
  CHECK(pairs.size() + 1 == std::max<std::size_t>(1, operands), "a path contracts everything to one result");
  ContractionNetwork network(problem);
  ShrinkingList list(operands + pairs.size());
  for (std::size_t n = 0; n < operands; ++n) list.add(n);
  ContractionPath path;
  for (const auto& [a, b] : pairs) {
    if (cancellation != nullptr && path.steps.size() % kStepsPerPoll == 0) cancellation->check();
    CHECK(a != b && network.alive(a) && network.alive(b), "a path contracts two results that are on the list");
    path.steps.push_back(std::minmax({list.position_of(a), list.position_of(b)}));
    path.flops += network.flops(a, b);
    path.elements_moved += network.size(a) + network.size(b);
    const auto result = network.contract(a, b);
    CHECK(result == operands + path.steps.size() - 1, "step s of a path gives result n + s");
    path.largest_intermediate = std::max(path.largest_intermediate, network.size(result));
    path.elements_moved += network.size(result);
    list.remove(a);
    list.remove(b);
    list.add(result);
  }
  return path;
}

ResultPairs results_of_path(std::size_t operand_count, const std::vector<ContractionPath::Step>& steps) {
  ShrinkingList list(operand_count + steps.size());
  for (std::size_t n = 0; n < operand_count; ++n) list.add(n);
  ResultPairs pairs;
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
