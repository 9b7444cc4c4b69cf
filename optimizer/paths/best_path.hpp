#pragma once

#include <utility>

#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/paths/search_context.hpp"

namespace eindb {

/// The best path that a search has met, by its objective; of equal ones the first. `problem` and `context` outlive it.
/// Not thread-safe.
class BestPath {
 public:
  BestPath(const ContractionProblem& problem, ResultPairs start, const SearchContext& context)
      : problem_(problem), context_(context), pairs_(std::move(start)), value_(value(pairs_)) {}

  /// Takes a path if it is better. Throws Error{Cancelled} as SearchContext says.
  void offer(ResultPairs pairs) {
    const auto offered = value(pairs);
    if (!offered.is_less(value_)) return;
    value_ = offered;
    pairs_ = std::move(pairs);
  }
  /// Leaves nothing behind.
  ResultPairs take() { return std::move(pairs_); }

 private:
  PathValue value(const ResultPairs& pairs) const {
    return value_of(path_of_results(problem_, pairs, context_.cancellation), context_.objective);
  }

  const ContractionProblem& problem_;
  const SearchContext& context_;
  ResultPairs pairs_;
  PathValue value_;
};

}  // namespace eindb
