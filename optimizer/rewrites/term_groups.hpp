#pragma once

#include <optional>
#include <vector>

#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// Terms of one operation (or factors) that need the same of the aggregated labels: they are aggregated together.
struct TermGroup {
  std::vector<std::size_t> terms;  ///< ascending
  Labels labels;                   ///< all of theirs
  Labels own;                      ///< the aggregated ones among them
  Labels head;                     ///< the others
};

/// Groups terms by their aggregated labels. Terms without operands (constants and label values) go to the first group
/// that has all their aggregated labels. nullopt if there is none, or if no term has an operand.
///
/// Example: of X[i] + 1 - A[i] + Y[j], aggregated over i and j, X, 1 and A are one group and Y is another.
std::optional<std::vector<TermGroup>> group_terms(const VertexSplitter& splitter, const std::vector<ScalarPtr>& terms);

/// Cells of the join of a whole vertex, and of all groups one after the other.
double cells_of_join(const VertexSplitter& splitter);
double cells_of(const VertexSplitter& splitter, const std::vector<TermGroup>& groups);

/// Whether the vertex aggregates over nothing at all because a label has extent 0. What an empty group gives does not
/// follow from its parts.
bool aggregates_nothing(const VertexSplitter& splitter);

/// How many cells of the aggregated labels a group lacks: how often each of its values counts. nullopt beyond INT64.
std::optional<std::int64_t> multiplicity(const VertexSplitter& splitter, const TermGroup& group);

}  // namespace eindb
