#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// Terms of one operation (or factors) that share aggregated labels and are aggregated together.
struct TermGroup {
  std::vector<std::size_t> terms;  ///< ascending
  Labels labels;                   ///< of all its terms
  Labels own;                      ///< the aggregated labels among them
  Labels head;                     ///< the other labels
};

/// What the terms of a group have in common.
enum class GroupBy : std::uint8_t { AggregatedLabels, Operands };

/// Groups terms by their aggregated labels, or by their operands. Terms without operands (constants and label values)
/// join the first group that has all their aggregated labels. nullopt if there is no such group, or if no term has an
/// operand.
///
/// Example: for X[i] + 1 - A[i] + Y[j], aggregated over i and j, X, 1 and A form one group and Y another.
std::optional<std::vector<TermGroup>> group_terms(const VertexSplitter& splitter, const std::vector<ScalarPtr>& terms,
                                                  GroupBy by = GroupBy::AggregatedLabels);

/// Cells of the join of the whole vertex, and the sum over all groups.
double cells_of_join(const VertexSplitter& splitter);
double cells_of(const VertexSplitter& splitter, const std::vector<TermGroup>& groups);

/// Whether the vertex aggregates over no cell because a label has extent 0. The value of an empty aggregate does not
/// follow from its parts.
bool aggregates_nothing(const VertexSplitter& splitter);

/// The number of cells over the aggregated labels that a group lacks: how often each of its values counts. nullopt
/// beyond INT64.
std::optional<std::int64_t> multiplicity(const VertexSplitter& splitter, const TermGroup& group);

}  // namespace eindb
