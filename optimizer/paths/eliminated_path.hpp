#pragma once

#include <cstdint>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_budget.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// How the next label to eliminate is rated.
struct EliminationRule {
  enum class Rate : std::uint8_t {
    Fill,   ///< by the pairs of its neighbours that are not neighbours yet: min-fill
    Width,  ///< by the size of the result with the label: min-degree
  };
  Rate rate = Rate::Fill;
  double noise = 0;  ///< a rating is multiplied by 1 to 1 + noise
  std::uint64_t seed = 0;
};

/// The path of a tree decomposition. Labels are neighbours if a result has both. They are eliminated one by one, the
/// best-rated first: all results with the label are contracted to one, smallest first, whose labels are neighbours from
/// then on. Labels of the output stay. Example: A[i,j] B[j,k] C[k,m] with the output i, m: j has the neighbours i and
/// k, of which no result has both; eliminating it contracts A with B. Empty if `work`, which grows by the labels looked
/// at, reaches `most_work` before the end. Deterministic.
ResultPairs eliminated_pairs(const ContractionProblem& problem, const EliminationRule& rule, std::uint64_t& work,
                             std::uint64_t most_work, const SearchContext& context = {});

/// The best of `start` and of the paths of many eliminations, the plain rules first; other seeds look elsewhere.
/// Deterministic.
ResultPairs best_eliminated_pairs(const ContractionProblem& problem, const ResultPairs& start, SearchBudget budget,
                                  const SearchContext& context = {}, std::uint64_t seed = 0);

}  // namespace eindb
