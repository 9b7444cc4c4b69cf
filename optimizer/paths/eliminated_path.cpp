#include "optimizer/paths/eliminated_path.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <random>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "optimizer/paths/best_path.hpp"
#include "optimizer/paths/contraction_network.hpp"
#include "optimizer/paths/random_share.hpp"

namespace eindb {
namespace {

using Number = std::uint32_t;  // of a label

template <class T>
using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;

// The graph of labels, from which they are eliminated.
class LabelGraph {
 public:
  LabelGraph(const ContractionProblem& problem, const EliminationRule& rule, std::uint64_t& work,
             std::uint64_t most_work, const SearchContext& context)
      : rule_(rule),
        work_(work),
        most_work_(most_work),
        context_(context),
        random_(rule.seed),
        neighbours_(problem.extents.size()),
        stays_(problem.extents.size(), false),
        ratings_(problem.extents.size(), 0),
        marks_(problem.extents.size(), false) {
    for (const auto extent : problem.extents)
      weights_.push_back(std::log2(static_cast<double>(std::max<std::int64_t>(1, extent))));
    for (const auto label : problem.output) stays_[label] = true;
    for (const auto& operand : problem.operands) join(operand);
    join(problem.output);
    for (auto& list : neighbours_) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  /// The order of all labels that do not stay; false if there is no work left.
  bool run(std::vector<Number>& order) {
    for (Number label = 0; label < neighbours_.size() && has_work(); ++label)
      if (!stays_[label]) offer(label);
    while (!next_.empty() && has_work()) {
      const auto [rating, label] = next_.top();
      next_.pop();
      if (stays_[label] || rating != ratings_[label]) continue;
      order.push_back(label);
      eliminate(label);
    }
    return has_work();
  }

 private:
  bool has_work() const { return work_ < most_work_; }

  void join(const std::vector<std::size_t>& labels) {
    work_ += labels.size() * labels.size();
    if (!has_work()) return;
    for (const auto a : labels)
      for (const auto b : labels)
        if (a != b) neighbours_[a].push_back(static_cast<Number>(b));
  }

  void eliminate(Number label) {
    context_.poll();
    stays_[label] = true;  // is not offered again
    const auto around = std::exchange(neighbours_[label], {});
    for (const auto other : around) {
      auto& list = neighbours_[other];
      merged_.clear();
      std::set_union(list.begin(), list.end(), around.begin(), around.end(), std::back_inserter(merged_));
      std::erase_if(merged_, [&](Number n) { return n == other || n == label; });
      list = merged_;
      work_ += list.size();
    }
    for (const auto other : around) {
      if (!has_work()) return;
      if (!stays_[other]) offer(other);
    }
  }

  void offer(Number label) {
    const double rating = rule_.rate == EliminationRule::Rate::Fill ? fill(label) : width(label);
    ratings_[label] = (rating + 1e-3 * width(label)) * (1 + rule_.noise * random_share(random_));
    next_.push({ratings_[label], label});
  }

  double width(Number label) const {
    double sum = weights_[label];
    for (const auto other : neighbours_[label]) sum += weights_[other];
    return sum;
  }

  // The sum over pairs of neighbours that are not neighbours of each other of the products of their weights.
  double fill(Number label) {
    const auto& around = neighbours_[label];
    double all = 0;
    for (const auto other : around) {
      marks_[other] = true;
      all += weights_[other];
    }
    double missing = 0;
    for (const auto other : around) {
      double known = weights_[other];
      for (const auto n : neighbours_[other]) known += marks_[n] ? weights_[n] : 0;
      missing += weights_[other] * std::max(0.0, all - known);
      work_ += neighbours_[other].size();
    }
    for (const auto other : around) marks_[other] = false;
    return missing / 2;
  }

  const EliminationRule rule_;
  std::uint64_t& work_;
  const std::uint64_t most_work_;
  const SearchContext& context_;
  std::mt19937_64 random_;
  std::vector<double> weights_;
  std::vector<std::vector<Number>> neighbours_;  // ascending
  std::vector<bool> stays_;
  std::vector<double> ratings_;
  std::vector<bool> marks_;
  std::vector<Number> merged_;
  LeastFirst<std::pair<double, Number>> next_;
};

// Contracts along an order of labels.
class LabelElimination {
 public:
  explicit LabelElimination(const ContractionProblem& problem) : network_(problem), holders_(problem.extents.size()) {
    for (std::size_t n = 0; n < problem.operands.size(); ++n) note(n);
  }

  ResultPairs run(const std::vector<Number>& order, const SearchContext& context) {
    for (const auto label : order) {
      context.poll();
      contract(holders_[label]);
    }
    std::vector<std::size_t> rest;
    for (std::size_t n = 0; n < network_.result_count(); ++n) rest.push_back(n);
    contract(rest);
    return std::move(pairs_);
  }

 private:
  void note(std::size_t result) {
    for (const auto label : network_.labels(result)) holders_[label].push_back(result);
  }

  // Contracts those of the results that are left, smallest first.
  void contract(const std::vector<std::size_t>& results) {
    LeastFirst<std::pair<double, std::size_t>> left;
    for (const auto n : results)
      if (network_.alive(n)) left.emplace(network_.log2_size(n), n);
    while (left.size() > 1) {
      const auto a = left.top().second;
      left.pop();
      const auto b = left.top().second;
      left.pop();
      pairs_.emplace_back(std::minmax(a, b));
      const auto result = network_.contract(a, b);
      left.emplace(network_.log2_size(result), result);
      if (left.size() == 1) note(result);
    }
  }

  ContractionNetwork network_;
  std::vector<std::vector<std::size_t>> holders_;  // of each label; some are contracted already
  ResultPairs pairs_;
};

}  // namespace

ResultPairs eliminated_pairs(const ContractionProblem& problem, const EliminationRule& rule, std::uint64_t& work,
                             std::uint64_t most_work, const SearchContext& context) {
  std::vector<Number> order;
  if (problem.operands.size() < 2 || !LabelGraph(problem, rule, work, most_work, context).run(order)) return {};
  auto pairs = LabelElimination(problem).run(order, context);
  CHECK(pairs.size() + 1 == problem.operands.size(), "an elimination contracts all operands");
  return pairs;
}

ResultPairs best_eliminated_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                  const SearchContext& context, std::uint64_t seed) {
  constexpr std::uint64_t kUnitsPerStep = 100;  // to contract along an order, and to cost the path
  constexpr double kMostNoise = 0.5;
  std::mt19937_64 random(4 + seed);
  BestPath best(problem, start, context);
  std::uint64_t work = 0;
  for (std::uint64_t round = seed == 0 ? 0 : 2;; ++round) {
    work += problem.operands.size() * kUnitsPerStep;
    if (work >= budget.units) return best.take();
    const auto rate = round % 2 == 0 ? EliminationRule::Rate::Width : EliminationRule::Rate::Fill;
    const double share = random_share(random);
    auto pairs =
        eliminated_pairs(problem, {rate, round < 2 ? 0 : kMostNoise * share, random()}, work, budget.units, context);
    if (pairs.empty()) return best.take();
    best.offer(std::move(pairs));
  }
}

}  // namespace eindb
