#include "optimizer/paths/greedy_path.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <numbers>
#include <queue>
#include <random>
#include <utility>

#include "common/check.hpp"
#include "optimizer/paths/best_path.hpp"
#include "optimizer/paths/contraction_network.hpp"

namespace eindb {
namespace {

// The most partners that a result considers for one label.
constexpr std::size_t kPartnersPerLabel = 32;
// Sizes from 2^900 on are compared by their logarithms. Their ratings lie beyond all others, in steps that doubles can
// distinguish.
constexpr double kMostLog2Rated = 900;
constexpr double kBeyondAll = 1e290;
constexpr double kBeyondStep = 1e280;

class Greedy {
 public:
  Greedy(const ContractionProblem& problem, const GreedyRule& rule, const SearchContext& context)
      : network_(problem), rule_(rule), context_(context), random_(rule.seed) {}

  ResultPairs run() {
    const auto operands = network_.result_count();
    CHECK(2 * operands < std::numeric_limits<std::uint32_t>::max(), "results are numbered in 32 bits");
    // Each result considers only earlier ones, so that every pair is considered once.
    for (std::size_t result = 0; result < operands; ++result) propose(result);
    contract_connected();
    contract_outer();
    CHECK(pairs_.size() + 1 == std::max<std::size_t>(1, operands), "greedy contracts everything to one result");
    return std::move(pairs_);
  }

 private:
  // Ordered by rating, then by the numbers of the results, so that the order is deterministic.
  struct Candidate {
    double rating = 0;
    std::uint32_t a = 0;
    std::uint32_t b = 0;  // the result that made the proposal

    auto operator<=>(const Candidate&) const = default;
  };
  template <class T>
  using SmallestFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

  // A rating stays valid while both results are alive: any other result that has one of their labels can only be
  // replaced by one that has it too, unless it is contracted with one of the two.
  void propose(std::size_t result) {
    context_.poll();
    partners_.clear();
    for (const auto label : network_.labels(result))  // neighbours in the list of operands are the most likely partners
      network_.visit_holders_before(result, label, kPartnersPerLabel,
                                    [&](std::size_t other) { partners_.push_back(other); });
    std::sort(partners_.begin(), partners_.end());
    partners_.erase(std::unique(partners_.begin(), partners_.end()), partners_.end());
    network_.kept_sizes(result, partners_, kept_);
    CHECK(kept_.size() == partners_.size(), "a result has a size with each of its partners");
    CHECK(proposals_.size() == result, "results propose in the order of their numbers");
    auto& proposals = proposals_.emplace_back();
    proposals.reserve(partners_.size());
    for (std::size_t p = 0; p < partners_.size(); ++p)
      proposals.push_back({rating(partners_[p], result, kept_[p]), static_cast<std::uint32_t>(partners_[p]),
                           static_cast<std::uint32_t>(result)});
    std::make_heap(proposals.begin(), proposals.end(), std::greater<>());
    if (!proposals.empty()) best_.push(proposals.front());
  }

  double rating(std::size_t a, std::size_t b, const ContractionNetwork::Size& kept) {
    const double taken = network_.size(a) + network_.size(b);
    const double rating = kept.elements - rule_.weight * taken;
    const double log2_taken = std::max(network_.log2_size(a), network_.log2_size(b));
    if (std::max(kept.log2, log2_taken) < kMostLog2Rated)
      return rule_.temperature > 0 ? noisy(signed_log(rating)) : rating;
    // Beyond the range of doubles the larger of the two sizes decides: the rating gets its sign and its logarithm.
    const double log2 = kept.log2 >= log2_taken ? kept.log2 : -log2_taken;
    return rule_.temperature > 0 ? noisy(log2 * std::numbers::ln2)
                                 : std::copysign(kBeyondAll, log2) + log2 * kBeyondStep;
  }

  static double signed_log(double rating) { return std::copysign(std::log1p(std::abs(rating)), rating); }

  // Gumbel noise on the logarithm makes the best candidate a draw by Boltzmann weights.
  double noisy(double log_rating) {
    const double uniform = (static_cast<double>(random_() >> 11U) + 0.5) * 0x1p-53;
    return log_rating + rule_.temperature * std::log(-std::log(uniform));
  }

  std::size_t contract(std::size_t a, std::size_t b) {
    pairs_.emplace_back(a, b);
    return network_.contract(a, b);
  }

  void contract_connected() {
    while (!best_.empty()) {
      const auto [rating, a, b] = best_.top();
      best_.pop();
      if (!network_.alive(b)) continue;
      if (!network_.alive(a)) {
        propose_next(b);
        continue;
      }
      DCHECK(a < b && b < proposals_.size(), "a result proposes to earlier ones");
      proposals_[a] = {};
      proposals_[b] = {};
      propose(contract(a, b));
    }
  }

  // Replaces a proposal whose partner is dead by the best one whose partner is alive.
  void propose_next(std::size_t result) {
    auto& proposals = proposals_[result];
    while (!proposals.empty() && !network_.alive(proposals.front().a)) {
      std::pop_heap(proposals.begin(), proposals.end(), std::greater<>());
      proposals.pop_back();
    }
    if (!proposals.empty()) best_.push(proposals.front());
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
  const SearchContext& context_;
  std::mt19937_64 random_;
  std::vector<std::size_t> partners_;
  std::vector<ContractionNetwork::Size> kept_;  // with each of the partners
  ResultPairs pairs_;
  // One heap of proposals per alive result, and a heap of the best proposal of each. Millions of proposals may wait,
  // and most never leave the heap of a result that is contracted with another one.
  std::vector<std::vector<Candidate>> proposals_;
  SmallestFirst<Candidate> best_;
};

}  // namespace

ResultPairs greedy_pairs(const ContractionProblem& problem, const GreedyRule& rule, const SearchContext& context) {
  return Greedy(problem, rule, context).run();
}

ResultPairs greedy_pairs_by_objective(const ContractionProblem& problem, const SearchContext& context) {
  auto by_flops = greedy_pairs(problem, {}, context);
  if (context.objective == PathObjective::Flops) return by_flops;
  BestPath best(problem, std::move(by_flops), context);
  for (const double weight : {0.5, 0.0}) best.offer(greedy_pairs(problem, {.weight = weight}, context));
  return best.take();
}

ContractionPath greedy_path(const ContractionProblem& problem) {
  return path_of_results(problem, greedy_pairs(problem, {}));
}

}  // namespace eindb
