#include "optimizer/paths/bisected_path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <random>
#include <tuple>
#include <utility>

#include "common/check.hpp"
#include "optimizer/paths/all_subsets.hpp"
#include "optimizer/paths/best_path.hpp"
#include "optimizer/paths/bisection.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/random_share.hpp"

namespace eindb {
namespace {

// Up to this many operands are contracted in the best of all orders; 3^8 / 2 splits.
constexpr std::size_t kFew = 8;
constexpr std::uint64_t kUnitsForFew = 4000;
constexpr double kMostLog2Priced = 960;
constexpr std::size_t kMembersPerPoll = 256;
// The usual upper bound on the work of a path. Only after the first path is the work known better.
constexpr std::uint64_t kUnitsPerLabelAtFirst = 500;

std::uint64_t units_at_first(const ContractionProblem& problem) {
  std::uint64_t labels = problem.operands.size();
  for (const auto& operand : problem.operands) labels += operand.size();
  return labels * kUnitsPerLabelAtFirst;
}

class BisectedPath {
 public:
  BisectedPath(const ContractionProblem& problem, double imbalance, std::uint64_t seed, std::uint64_t& work,
               const SearchContext& context)
      : problem_(problem),
        imbalance_(imbalance),
        random_(seed),
        work_(work),
        context_(context),
        price_(context.objective),
        holders_(problem.extents.size(), 0),
        here_(problem.extents.size(), 0),
        number_(problem.extents.size(), 0),
        operands_of_(problem.extents.size()),
        present_(problem.operands.size(), false),
        growth_(problem.operands.size(), 0) {
    for (const auto label : problem.output) ++holders_[label];
    for (std::size_t n = 0; n < problem.operands.size(); ++n) {
      for (const auto label : problem.operands[n]) {
        ++holders_[label];
        operands_of_[label].push_back(n);
      }
    }
    for (const auto extent : problem.extents)
      log2_extents_.push_back(std::log2(static_cast<double>(std::max<std::int64_t>(1, extent))));
  }

  ResultPairs run() {
    std::vector<std::size_t> all(problem_.operands.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    contract(all);
    CHECK(pairs_.size() + 1 == all.size(), "steps of cuts that were given up are taken back");
    return std::move(pairs_);
  }

 private:
  struct Contracted {
    std::size_t number = 0;  // number of the result
    double cost = 0;         // cost of all its steps
  };

  // The recursion is as deep as the cuts, some 2 log2 n, since each side gets its share of the operands.
  Contracted contract(const std::vector<std::size_t>& members) {
    context_.poll();
    if (members.size() <= kFew) return contract_few(members);
    const auto peeled = peel(members);
    std::vector<std::size_t> parts[2];
    const double last_step = cut_in_two(members, parts);
    const auto first = pairs_.size();
    if (last_step < peeled.cost) {
      const auto a = contract(parts[0]);
      const auto b = contract(parts[1]);
      const double cost = a.cost + b.cost + last_step;
      if (cost < peeled.cost) return {join(a.number, b.number), cost};
    }
    pairs_.resize(first);
    return contract_peeled(peeled);
  }

  std::size_t join(std::size_t a, std::size_t b) {
    pairs_.emplace_back(std::minmax(a, b));
    return problem_.operands.size() + pairs_.size() - 1;
  }

  // The cost of a step whose join and result have the given sizes.
  double cost_of(double log2_cells, double log2_size) const {
    return 2 * std::exp2(std::min(log2_cells, kMostLog2Priced)) +
           price_(std::exp2(std::min(log2_size, kMostLog2Priced)));
  }

  // Returns the cost of the step that joins the parts.
  double cut_in_two(const std::vector<std::size_t>& members, std::vector<std::size_t> (&parts)[2]) {
    const auto labels = labels_of(members);
    const double kept = log2_kept(labels);
    const auto graph = graph_of(members, labels);
    forget(labels);
    const auto side = bisect(graph, {imbalance_, random_()}, work_, context_);
    for (std::size_t n = 0; n < members.size(); ++n) parts[side[n]].push_back(members[n]);
    CHECK(!parts[0].empty() && !parts[1].empty(), "a cut leaves members on both sides");
    return cost_of(kept + cut_weight(graph, side), kept);
  }

  // The order in which operands are taken off, and the remaining ones.
  struct Peeled {
    std::vector<std::size_t> order;
    std::vector<std::size_t> left;
    double cost = 0;
  };

  // Takes operands off the members one at a time, always the one whose removal leaves the smallest result of the
  // others. Such a path sweeps over the network towards the outside, so its front stays as short as it is at the end.
  Peeled peel(const std::vector<std::size_t>& members) {
    struct Next {
      double growth;
      std::size_t touched;  // when it was touched; the most recent one goes first
      std::size_t member;
      bool operator<(const Next& other) const {
        return std::tie(growth, other.touched, member) > std::tie(other.growth, touched, other.member);
      }
    };
    const auto labels = labels_of(members);
    double kept = log2_kept(labels);
    std::priority_queue<Next> next;
    std::size_t time = 0;
    const auto offer = [&](std::size_t member) {
      growth_[member] = growth_without(member);
      next.push({growth_[member], time, member});
    };
    for (const auto member : members) present_[member] = true;
    for (const auto member : members) offer(member);
    Peeled out;
    while (members.size() - out.order.size() > kFew) {
      CHECK(!next.empty(), "a member that is left waits to be taken off");
      const auto [growth, touched, member] = next.top();
      next.pop();
      if (!present_[member] || growth != growth_[member]) continue;
      if (out.order.size() % kMembersPerPoll == 0) context_.poll();
      present_[member] = false;
      out.order.push_back(member);
      ++time;
      double alone = 0;
      for (const auto label : problem_.operands[member]) alone += here_[label] == 1 ? weight(label) : 0;
      out.cost += cost_of(kept + growth + alone, kept);
      kept += growth;
      for (const auto label : problem_.operands[member]) {
        const bool was_inside = holders_[label] == here_[label];
        DCHECK(here_[label] > 0, "a label is counted once for each member that holds it");
        --here_[label];
        if (!was_inside && here_[label] != 1) continue;
        for (const auto other : operands_of_[label])
          if (present_[other]) offer(other);
        work_ += operands_of_[label].size();
      }
    }
    for (const auto member : members) {
      if (present_[member]) out.left.push_back(member);
      present_[member] = false;
    }
    forget(labels);
    CHECK(out.left.size() == kFew, "members are taken off or left");
    return out;
  }

  // The logarithm of (size of the result of all other members) / (size of the result with `member`).
  double growth_without(std::size_t member) {
    work_ += 4 * problem_.operands[member].size();
    double growth = 0;
    for (const auto label : problem_.operands[member]) {
      if (here_[label] == 1) growth -= holders_[label] > 1 ? weight(label) : 0;
      else growth += holders_[label] == here_[label] ? weight(label) : 0;
    }
    return growth;
  }

  Contracted contract_peeled(const Peeled& peeled) {
    auto result = contract_few(peeled.left);
    for (auto member = peeled.order.rbegin(); member != peeled.order.rend(); ++member)
      result.number = join(result.number, *member);
    result.cost += peeled.cost;
    return result;
  }

  double weight(std::size_t label) const { return log2_extents_[label]; }

  // The logarithm of the size of the result of the members whose labels have been counted.
  double log2_kept(const std::vector<std::size_t>& labels) const {
    double log2 = 0;
    for (const auto label : labels) log2 += holders_[label] > here_[label] ? weight(label) : 0;
    return log2;
  }

  // The labels of the members. Sets here_ to the number of members with each label, and number_ to its own number.
  std::vector<std::size_t> labels_of(const std::vector<std::size_t>& members) {
    std::vector<std::size_t> labels;
    for (const auto member : members) {
      work_ += problem_.operands[member].size();
      for (const auto label : problem_.operands[member]) {
        if (here_[label]++ > 0) continue;
        number_[label] = labels.size();
        labels.push_back(label);
      }
    }
    return labels;
  }

  void forget(const std::vector<std::size_t>& labels) {
    for (const auto label : labels) here_[label] = 0;
  }

  Hypergraph graph_of(const std::vector<std::size_t>& members, const std::vector<std::size_t>& labels) const {
    std::vector<Hypergraph::Edge> edges(labels.size());
    for (std::size_t l = 0; l < labels.size(); ++l) edges[l].weight = weight(labels[l]);
    for (std::uint32_t n = 0; n < members.size(); ++n)
      for (const auto label : problem_.operands[members[n]]) edges[number_[label]].vertices.push_back(n);
    return {std::vector<std::uint32_t>(members.size(), 1), edges};
  }

  Contracted contract_few(const std::vector<std::size_t>& members) {
    if (members.size() == 1) return {members.front(), 0};
    const auto labels = labels_of(members);
    ContractionProblem few{std::vector<std::vector<std::size_t>>(members.size()), {}, {}};
    for (const auto label : labels) {
      if (holders_[label] > here_[label]) few.output.push_back(few.extents.size());
      few.extents.push_back(problem_.extents[label]);
    }
    for (std::size_t n = 0; n < members.size(); ++n)
      for (const auto label : problem_.operands[members[n]]) few.operands[n].push_back(number_[label]);
    forget(labels);
    work_ += kUnitsForFew;
    auto pairs = best_over_all_subsets(few, price_, {}, context_);
    if (!pairs) pairs = greedy_pairs(few, {}, context_);  // the costs are infinite
    CHECK(pairs->size() + 1 == members.size(), "a few members are contracted to one result");
    auto number = members;
    for (const auto& [a, b] : *pairs) number.push_back(join(number[a], number[b]));
    return {number.back(), priced_cost(few, *pairs, price_)};
  }

  const ContractionProblem& problem_;
  double imbalance_;
  std::mt19937_64 random_;
  std::uint64_t& work_;
  const SearchContext& context_;
  IntermediatePrice price_;
  std::vector<std::size_t> holders_;  // by label: the operands that have it, plus one if the output does
  std::vector<std::size_t> here_;     // by label: the current members that have it; 0 between calls
  std::vector<std::size_t> number_;
  std::vector<std::vector<std::size_t>> operands_of_;
  std::vector<bool> present_;
  std::vector<double> growth_;
  std::vector<double> log2_extents_;
  ResultPairs pairs_;
};

}  // namespace

ResultPairs bisected_pairs(const ContractionProblem& problem, double imbalance, std::uint64_t seed, std::uint64_t& work,
                           const SearchContext& context) {
  if (problem.operands.size() < 2) return {};
  return BisectedPath(problem, imbalance, seed, work, context).run();
}

ResultPairs best_bisected_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                const SearchContext& context) {
  constexpr double kLeastImbalance = 0.02;
  constexpr double kMostImbalance = 0.5;
  std::mt19937_64 random(2);
  BestPath best(problem, start, context);
  // Assumes that the next path costs as much as the one before.
  auto last = units_at_first(problem);
  for (std::uint64_t work = 0; work + last <= budget.units;) {
    const auto before = work;
    const double imbalance = kLeastImbalance + random_share(random) * (kMostImbalance - kLeastImbalance);
    best.offer(bisected_pairs(problem, imbalance, random(), work, context));
    last = work - before;
  }
  return best.take();
}

}  // namespace eindb
