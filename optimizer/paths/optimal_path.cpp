#include "optimizer/paths/optimal_path.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "optimizer/paths/all_subsets.hpp"
#include "optimizer/paths/annealed_path.hpp"
#include "optimizer/paths/connected_subsets.hpp"
#include "optimizer/paths/greedy_path.hpp"
#include "optimizer/paths/random_greedy_path.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostConnected = 64;
constexpr std::uint64_t kMostSubsetPairs = 120'000'000;
// Seconds spent on the path that bounds the search: the closer it is to the best one, the fewer subsets are kept.
constexpr double kSecondsForBound = 0.1;

[[noreturn]] void give_up(std::size_t operands) {
  throw Error(ErrorKind::Value, "path 'optimal' takes too long for " + std::to_string(operands) + " operands",
              std::nullopt, "use path 'anneal' or 'auto'");
}

// The operands by connected component.
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

// The labels of the part's result.
std::vector<std::size_t> output_of(const ContractionProblem& part) {
  std::vector<bool> occurs(part.extents.size(), false);
  for (const auto& operand : part.operands)
    for (const auto label : operand) occurs[label] = true;
  std::vector<std::size_t> out;
  std::copy_if(part.output.begin(), part.output.end(), std::back_inserter(out), [&](auto l) { return occurs[l]; });
  return out;
}

// The price by which the dynamic program compares paths.
IntermediatePrice price_of(const SearchContext& context) {
  // For Size the size is a bound, and the paths within it are compared by flops.
  return IntermediatePrice(context.objective.by_size ? PathObjective::Flops : context.objective);
}

// Finds the best tree of a component, given that no intermediate need be smaller than `size`.
class PartSearch {
 public:
  PartSearch(ContractionProblem part, const SearchContext& context)
      : part_(std::move(part)), context_(context), known_(greedy_pairs(part_, {}, context)) {
    if (is_small()) return;
    if (operands() > kMostConnected) give_up(operands());
    known_ = random_greedy_pairs(part_, known_, SearchBudget::of_seconds(kSecondsForBound / 4), context);
    known_ = annealed_pairs(part_, known_, SearchBudget::of_seconds(kSecondsForBound), context);
  }

  const ContractionProblem& problem() const { return part_; }

  // The least possible largest intermediate, in elements; afterwards `known_` is a path that attains it.
  double least_largest() {
    const double known = path_of_results(part_, known_).largest_intermediate;
    if (is_small()) return least_largest_over_all_subsets(part_, known, context_);
    auto search = least_largest_over_connected_subsets(part_, {.size = known}, kMostSubsetPairs, context_);
    if (!search.finished && is_feasible()) return least_largest_over_all_subsets(part_, known, context_);
    if (!search.finished) give_up(operands());
    if (search.pairs.empty()) return known;
    const double least = path_of_results(part_, search.pairs).largest_intermediate;
    if (least < known * (1 - 1e-9)) known_ = std::move(search.pairs);
    return least;
  }

  ResultPairs best(double size) {
    const auto price = price_of(context_);
    // A path beyond the size gives no bound on the cost.
    const bool fits = path_of_results(part_, known_).largest_intermediate <= PathBound{.size = size}.rounded_up().size;
    PathBound bound{.size = size};
    if (fits) bound.cost = priced_cost(part_, known_, price);
    if (is_small()) return best_of_all(price, bound);
    auto search = best_over_connected_subsets(part_, price, bound, kMostSubsetPairs, context_);
    if (!search.finished && is_feasible()) return best_of_all(price, bound);
    if (!search.finished) give_up(operands());
    return search.pairs.empty() ? std::move(known_) : std::move(search.pairs);
  }

 private:
  std::size_t operands() const { return part_.operands.size(); }
  bool is_small() const { return operands() <= kMostForAllSubsets; }
  // Where most subsets are connected and cheap, going through all of them is quicker than listing the connected ones.
  bool is_feasible() const { return operands() <= kMostForAllSubsetsInTime; }

  ResultPairs best_of_all(const IntermediatePrice& price, const PathBound& bound) {
    auto best = best_over_all_subsets(part_, price, bound, context_);
    return best ? std::move(*best) : std::move(known_);
  }

  ContractionProblem part_;
  const SearchContext& context_;
  ResultPairs known_;
};

double output_size(const ContractionProblem& problem) {
  double size = 1;
  for (const auto label : problem.output) size *= static_cast<double>(problem.extents[label]);
  return size;
}

double least_largest(std::vector<PartSearch>& parts) {
  double largest = 0;
  for (auto& part : parts) largest = std::max(largest, part.least_largest());
  return largest;
}

ResultPairs best_join(const ContractionProblem& results, const SearchContext& context) {
  if (results.operands.size() > kMostForAllSubsets) return greedy_pairs(results, {}, context);
  // Components share no label, so no join of some of them is larger than the join of all.
  return PartSearch(results, context).best(std::numeric_limits<double>::infinity());
}

// Combines the paths of components into one path.
class PathOfParts {
 public:
  explicit PathOfParts(std::size_t operands) : operands_(operands) {}

  // Adds the pairs of a component whose operands are the results `number` of the whole; returns the number of its
  // result.
  std::size_t add(const ResultPairs& pairs, std::vector<std::size_t> number) {
    CHECK(pairs.size() + 1 == number.size(), "the path of a part contracts all of it");
    for (const auto& [a, b] : pairs) {
      DCHECK(a < number.size() && b < number.size(), "a step of a part takes what is made before");
      pairs_.emplace_back(std::minmax(number[a], number[b]));
      number.push_back(operands_ + pairs_.size() - 1);
    }
    return number.back();
  }

  ResultPairs take() {
    CHECK(pairs_.size() + 1 == operands_, "the paths of all parts are one path of the whole");
    return std::move(pairs_);
  }

 private:
  std::size_t operands_;
  ResultPairs pairs_;
};

}  // namespace

ResultPairs optimal_pairs(const ContractionProblem& problem, const SearchContext& context) {
  if (problem.operands.size() < 2) return {};
  auto groups = connected_parts(problem);
  if (problem.operands.size() <=
      kMostForAllSubsets) {  // outer products may pay off, so all operands count as one component
    groups.assign(1, std::vector<std::size_t>(problem.operands.size()));
    std::iota(groups[0].begin(), groups[0].end(), std::size_t{0});
  }
  std::vector<PartSearch> parts;
  for (const auto& members : groups) parts.emplace_back(restricted(problem, members), context);
  const bool by_size = context.objective.by_size;
  const double size =
      by_size ? std::max(least_largest(parts), output_size(problem)) : std::numeric_limits<double>::infinity();

  PathOfParts path(problem.operands.size());
  ContractionProblem results{{}, problem.output, problem.extents};
  std::vector<std::size_t> numbers;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    numbers.push_back(path.add(parts[p].best(size), groups[p]));
    results.operands.push_back(output_of(parts[p].problem()));
  }
  path.add(best_join(results, context), numbers);
  return path.take();
}

}  // namespace eindb
