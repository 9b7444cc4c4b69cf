#include "optimizer/paths/all_subsets.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "common/check.hpp"
#include "optimizer/paths/subset_sizes.hpp"

namespace eindb {
namespace {

using Set = std::uint32_t;

constexpr Set kSetsPerPoll = 64;

// `Real` is double if it can hold all products of extents, otherwise long double.
template <class Real>
class AllSubsets {
 public:
  AllSubsets(const std::vector<SubsetSizes::Size>& sizes, const IntermediatePrice& price, const PathBound& bound,
             const SearchContext& context)
      : price_(price), bound_(bound), context_(context), subsets_(sizes.size()) {
    CHECK(std::has_single_bit(sizes.size()) && sizes.size() > 2, "every subset of two operands or more has sizes");
    for (Set set = 1; set < sizes.size(); ++set) {
      const auto& size = sizes[set];
      auto& subset = subsets_[set];
      subset.all = static_cast<Real>(size.all);
      subset.one_over_summed = static_cast<Real>(1 / size.summed);
      subset.summed_count = size.summed_count;
      if (std::has_single_bit(set)) subset.best = 0;
    }
  }

  std::optional<ResultPairs> run() {
    const auto whole = static_cast<Set>(subsets_.size() - 1);
    for (Set set = 1; set <= whole; ++set) {
      if (set % kSetsPerPoll == 0) context_.poll();
      if (!std::has_single_bit(set)) split(set, set == whole);
    }
    // No split was found if all of them cost more than any number.
    if (std::isinf(subsets_[whole].best) || !(subsets_[whole].best <= static_cast<Real>(bound_.cost)))
      return std::nullopt;
    ResultPairs pairs;
    emit(whole, pairs);
    return pairs;
  }

 private:
  // The data of a subset that the inner loop reads, kept together.
  struct Subset {
    Real best = std::numeric_limits<Real>::infinity();
    Real one_over_summed = 1;
    Real all = 1;
    int summed_count = 0;
    Set part = 0;  // the half of the best split that has the lowest operand
  };

  void split(Set set, bool is_whole) {
    auto& subset = subsets_[set];
    const Real kept = subset.all * subset.one_over_summed;
    if (kept > static_cast<Real>(bound_.size)) return;
    const Real price = is_whole ? 0 : static_cast<Real>(price_(static_cast<double>(kept)));
    // Every result but the last is read by a step that has all its labels, so reading it costs at least its size.
    const Real to_read = is_whole ? 0 : kept;
    Real best = static_cast<Real>(bound_.cost) - to_read - price;
    if (kept > best) return;
    const Set lowest = set & (~set + 1);
    const Set rest = set ^ lowest;
    // Combines the lowest operand with every proper subset of `rest`.
    for (Set others = (rest - 1) & rest;; others = (others - 1) & rest) {
      const auto& a = subsets_[lowest | others];
      const auto& b = subsets_[rest ^ others];
      const Real before = a.best + b.best;
      if (before < best) {
        const Real cells = subset.all * a.one_over_summed * b.one_over_summed;
        const Real cost = before + cells * (subset.summed_count > a.summed_count + b.summed_count ? 2 : 1);
        if (cost < best) {
          best = cost;
          subset.best = cost + price;
          subset.part = lowest | others;
          DCHECK((subset.part & ~set) == 0 && subset.part != set, "a split leaves a part on both sides");
        }
      }
      if (others == 0) break;
    }
  }

  std::size_t emit(Set set, ResultPairs& pairs) const {
    if (std::has_single_bit(set)) return static_cast<std::size_t>(std::countr_zero(set));
    CHECK(subsets_[set].part != 0, "a set that is contracted has a split");
    const auto a = emit(subsets_[set].part, pairs);
    const auto b = emit(set ^ subsets_[set].part, pairs);
    pairs.emplace_back(std::minmax(a, b));
    return static_cast<std::size_t>(std::countr_zero(subsets_.size())) + pairs.size() - 1;
  }

  const IntermediatePrice& price_;
  PathBound bound_;
  const SearchContext& context_;
  std::vector<Subset> subsets_;  // indexed by set; the empty set is unused
};

void check_count(const ContractionProblem& problem) {
  CHECK(problem.operands.size() <= kMostForAllSubsetsInTime, "all subsets of a few operands are enumerated");
}

}  // namespace

std::optional<ResultPairs> best_over_all_subsets(const ContractionProblem& problem, const IntermediatePrice& price,
                                                 const PathBound& bound, const SearchContext& context) {
  constexpr long double kFitsDouble = 1e290L;
  check_count(problem);
  if (problem.operands.size() < 2) return ResultPairs{};
  const auto sizes = SubsetSizes(problem).of_all();
  if (sizes.back().all < kFitsDouble) return AllSubsets<double>(sizes, price, bound.rounded_up(), context).run();
  return AllSubsets<long double>(sizes, price, bound.rounded_up(), context).run();
}

double least_largest_over_all_subsets(const ContractionProblem& problem, double known, const SearchContext& context) {
  check_count(problem);
  if (problem.operands.size() < 2) return 0;
  const auto sizes = SubsetSizes(problem).of_all();
  const double bound = PathBound{.size = known}.rounded_up().size;
  std::vector<double> largest(sizes.size(), 0);  // of the best path to each set
  for (Set set = 1; set < sizes.size(); ++set) {
    if (set % kSetsPerPoll == 0) context.poll();
    if (std::has_single_bit(set)) continue;
    const double kept = sizes[set].kept();
    double best = std::numeric_limits<double>::infinity();
    const Set rest = set & (set - 1);
    if (kept <= bound) {
      for (Set others = (rest - 1) & rest; best > kept; others = (others - 1) & rest) {
        best = std::min(best, std::max({kept, largest[set ^ rest ^ others], largest[rest ^ others]}));
        if (others == 0) break;
      }
    }
    largest[set] = best;
  }
  return std::min(known, largest.back());
}

}  // namespace eindb
