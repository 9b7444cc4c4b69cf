#include "optimizer/optimal_path.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.hpp"
#include "optimizer/all_subsets.hpp"
#include "optimizer/annealed_path.hpp"
#include "optimizer/connected_subsets.hpp"
#include "optimizer/greedy_path.hpp"
#include "optimizer/random_greedy_path.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostConnected = 64;
constexpr std::uint64_t kMostPairs = 120'000'000;
// For the path that bounds the search: the nearer it is to the best, the fewer subsets are kept.
constexpr double kSecondsForBound = 0.1;

[[noreturn]] void give_up(std::size_t operands) {
  throw Error(ErrorKind::Value, "path 'optimal' takes too long for " + std::to_string(operands) + " operands",
              std::nullopt, "use path 'anneal' or 'auto'");
}

// Numbers of operands, in groups that no label connects.
std::vector<std::vector<std::size_t>> connected_parts(const ContractionProblem& problem) {
  std::vector<std::size_t> parent(problem.operands.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto find = [&](std::size_t n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
  };
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> holder(problem.extents.size(), kNone);
  for (std::size_t n = 0; n < problem.operands.size(); ++n) {
    for (const auto label : problem.operands[n]) {
      if (holder[label] == kNone) holder[label] = n;
      parent[find(n)] = find(holder[label]);
    }
  }
  std::vector<std::vector<std::size_t>> by_root(problem.operands.size());
  for (std::size_t n = 0; n < problem.operands.size(); ++n) by_root[find(n)].push_back(n);
  std::erase_if(by_root, [](const auto& part) { return part.empty(); });
  return by_root;
}

ContractionProblem restricted(const ContractionProblem& problem, const std::vector<std::size_t>& members) {
  ContractionProblem out{{}, problem.output, problem.extents};
  for (const auto n : members) out.operands.push_back(problem.operands[n]);
  return out;
}

// What contracting all of the part leaves.
std::vector<std::size_t> output_of(const ContractionProblem& part) {
  std::vector<bool> occurs(part.extents.size(), false);
  for (const auto& operand : part.operands)
    for (const auto label : operand) occurs[label] = true;
  std::vector<std::size_t> out;
  std::copy_if(part.output.begin(), part.output.end(), std::back_inserter(out), [&](auto l) { return occurs[l]; });
  return out;
}

ResultPairs best_of_all_trees(const ContractionProblem& problem) {
  auto known = greedy_pairs(problem, {});
  auto best = best_over_all_subsets(problem, path_of_results(problem, known).flops);
  return best ? std::move(*best) : std::move(known);
}

ResultPairs best_connected(const ContractionProblem& part) {
  const auto operands = part.operands.size();
  if (operands <= kMostForAllSubsets) return best_of_all_trees(part);
  if (operands > kMostConnected) give_up(operands);
  auto known = random_greedy_pairs(part, greedy_pairs(part, {}), SearchBudget::of_seconds(kSecondsForBound / 4));
  known = annealed_pairs(part, known, SearchBudget::of_seconds(kSecondsForBound));
  auto search = best_over_connected_subsets(part, path_of_results(part, known).flops, kMostPairs);
  if (!search.finished) give_up(operands);
  return search.pairs.empty() ? std::move(known) : std::move(search.pairs);
}

ResultPairs best_join(const ContractionProblem& results) {
  return results.operands.size() <= kMostForAllSubsets ? best_of_all_trees(results) : greedy_pairs(results, {});
}

// One path out of paths of its parts.
class PathOfParts {
 public:
  explicit PathOfParts(std::size_t operands) : operands_(operands) {}

  // Adds the pairs of a part whose operands are the results `number` of the whole; gives the number of its result.
  std::size_t add(const ResultPairs& pairs, std::vector<std::size_t> number) {
    for (const auto& [a, b] : pairs) {
      pairs_.emplace_back(std::minmax(number[a], number[b]));
      number.push_back(operands_ + pairs_.size() - 1);
    }
    return number.back();
  }

  ResultPairs take() { return std::move(pairs_); }

 private:
  std::size_t operands_;
  ResultPairs pairs_;
};

}  // namespace

ResultPairs optimal_pairs(const ContractionProblem& problem) {
  if (problem.operands.size() <= kMostForAllSubsets) return best_of_all_trees(problem);
  PathOfParts path(problem.operands.size());
  ContractionProblem results{{}, problem.output, problem.extents};
  std::vector<std::size_t> numbers;
  for (const auto& members : connected_parts(problem)) {
    const auto part = restricted(problem, members);
    numbers.push_back(path.add(best_connected(part), members));
    results.operands.push_back(output_of(part));
  }
  path.add(best_join(results), numbers);
  return path.take();
}

}  // namespace eindb
