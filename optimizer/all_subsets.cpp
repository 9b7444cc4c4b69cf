#include "optimizer/all_subsets.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "common/check.hpp"
#include "optimizer/subset_sizes.hpp"

namespace eindb {
namespace {

// Costs are sums of rounded products: a path as dear as the bound must not be lost to rounding.
constexpr double kRounding = 1 + 1e-9;

class AllSubsets {
 public:
  using Set = std::uint32_t;

  AllSubsets(const ContractionProblem& problem, double bound)
      : operands_(problem.operands.size()), bound_(bound * kRounding), subsets_(std::size_t{1} << operands_) {
    const SubsetSizes sizes(problem);
    for (Set set = 1; set < subsets_.size(); ++set) {
      const auto size = sizes.of(set);
      auto& subset = subsets_[set];
      subset.all = static_cast<double>(size.all);
      subset.one_over_summed = static_cast<double>(1 / size.summed);
      subset.summed_count = size.summed_count;
      if (std::has_single_bit(set)) subset.best = 0;
    }
  }

  std::optional<ResultPairs> run() {
    const auto whole = static_cast<Set>(subsets_.size() - 1);
    for (Set set = 1; set <= whole; ++set)
      if (!std::has_single_bit(set)) split(set, set == whole);
    if (subsets_[whole].best > bound_) return std::nullopt;
    ResultPairs pairs;
    emit(whole, pairs);
    return pairs;
  }

 private:
  // What the inner loop reads of a subset stands together.
  struct Subset {
    double best = std::numeric_limits<double>::infinity();
    double one_over_summed = 1;
    double all = 1;
    int summed_count = 0;
    Set part = 0;  // of the best split, the one with the lowest operand
  };

  void split(Set set, bool is_whole) {
    auto& subset = subsets_[set];
    // Every result but the last one is read by a step that has all its labels.
    const double to_read = is_whole ? 0 : subset.all * subset.one_over_summed;
    double best = bound_ - to_read;
    if (subset.all * subset.one_over_summed > best) return;
    const Set lowest = set & (~set + 1);
    const Set rest = set ^ lowest;
    // All proper subsets of `rest` join the lowest operand in turn.
    for (Set others = (rest - 1) & rest;; others = (others - 1) & rest) {
      const auto& a = subsets_[lowest | others];
      const auto& b = subsets_[rest ^ others];
      const double before = a.best + b.best;
      if (before < best) {
        const double cells = subset.all * a.one_over_summed * b.one_over_summed;
        const double cost = before + cells * (subset.summed_count > a.summed_count + b.summed_count ? 2 : 1);
        if (cost < best) {
          best = subset.best = cost;
          subset.part = lowest | others;
        }
      }
      if (others == 0) break;
    }
  }

  std::size_t emit(Set set, ResultPairs& pairs) const {
    if (std::has_single_bit(set)) return static_cast<std::size_t>(std::countr_zero(set));
    const auto a = emit(subsets_[set].part, pairs);
    const auto b = emit(set ^ subsets_[set].part, pairs);
    pairs.emplace_back(std::minmax(a, b));
    return operands_ + pairs.size() - 1;
  }

  std::size_t operands_;
  double bound_;
  std::vector<Subset> subsets_;  // by set; the empty one is unused
};

}  // namespace

std::optional<ResultPairs> best_over_all_subsets(const ContractionProblem& problem, double bound) {
  const auto operands = problem.operands.size();
  CHECK(operands <= kMostForAllSubsets, "all subsets of a few operands are enumerated");
  if (operands < 2) return ResultPairs{};
  return AllSubsets(problem, bound).run();
}

}  // namespace eindb
