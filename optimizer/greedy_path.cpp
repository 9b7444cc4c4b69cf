#include "optimizer/greedy_path.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <tuple>

#include "optimizer/contraction_network.hpp"

namespace eindb {
namespace {

// At most so many partners are proposed to a result for one label.
constexpr std::size_t kPartnersPerLabel = 32;

class Greedy {
 public:
  Greedy(const ContractionProblem& problem, const GreedyRule& rule)
      : network_(problem), rule_(rule), random_(rule.seed) {}

  ResultPairs run() {
    const auto operands = network_.result_count();
    // Each result proposes to earlier ones alone, so that every pair is proposed once.
    for (std::size_t result = 0; result < operands; ++result) propose(result);
    contract_connected();
    contract_outer();
    return std::move(pairs_);
  }

 private:
  // Rating, then numbers of results, so that the order does not depend on chance.
  using Candidate = std::tuple<double, std::size_t, std::size_t>;
  template <class T>
  using SmallestFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  // A rating stays right while both results live: another result that holds a label of theirs disappears only into
  // one that holds it too, or by contraction with one of the two.
  void propose(std::size_t result) {
    partners_.clear();
    for (const auto label : network_.labels(result))  // the neighbours in the list of operands are likeliest
      network_.visit_holders_before(result, label, kPartnersPerLabel,
                                    [&](std::size_t other) { partners_.push_back(other); });
    std::sort(partners_.begin(), partners_.end());
    partners_.erase(std::unique(partners_.begin(), partners_.end()), partners_.end());
    for (const auto other : partners_) connected_.emplace(rating(other, result), other, result);
  }

  double rating(std::size_t a, std::size_t b) {
    const double taken = network_.size(a) + network_.size(b);
    const double rating = network_.kept_size(a, b) - rule_.weight * taken;
    return rule_.temperature > 0 ? noisy(rating) : rating;
  }

  // Gumbel noise on the logarithm: the candidate on top is one drawn by Boltzmann weights.
  double noisy(double rating) {
    const double uniform = (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53;
    const double noise = rule_.temperature * std::log(-std::log(uniform));
    return std::copysign(std::log1p(std::abs(rating)), rating) + noise;
  }

  std::size_t contract(std::size_t a, std::size_t b) {
    pairs_.emplace_back(a, b);
    return network_.contract(a, b);
  }

  void contract_connected() {
    while (!connected_.empty()) {
      const auto [rating, a, b] = connected_.top();
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

  ContractionNetwork network_;
  const GreedyRule rule_;
  std::mt19937_64 random_;
  std::vector<std::size_t> partners_;
  ResultPairs pairs_;
  SmallestFirst<Candidate> connected_;
};

}  // namespace

ResultPairs greedy_pairs(const ContractionProblem& problem, const GreedyRule& rule) {
  return Greedy(problem, rule).run();
}

ContractionPath greedy_path(const ContractionProblem& problem) {
  return path_of_results(problem, greedy_pairs(problem, {}));
}

}  // namespace eindb
