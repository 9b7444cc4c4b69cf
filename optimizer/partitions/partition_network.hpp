#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "optimizer/partitions/choice_network.hpp"
#include "optimizer/partitions/labelling.hpp"

namespace eindb {

/// EinDecomp's choice (section 8) as a network: the vertices of a graph with their viable partition vectors. A vector
/// costs what the vertex's join and aggregation cost, and what it costs to cut its stored inputs so, and the result as
/// it is wanted; an edge costs the repartition between the vertices that it joins. Vertices of one shape share vectors,
/// costs and tables, so that the repeated layers of a model are worked out once.
///
/// At vertices with many labels, and in graphs of thousands of vertices, only the largest labels are cut, so that a
/// vertex has some thousands (at the least two hundred) vectors to choose from.
struct PartitionNetwork {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  ChoiceNetwork choices;
  std::vector<std::size_t> vertex_of;                                     ///< of each variable, in order
  std::vector<std::size_t> variable_of;                                   ///< of each vertex; kNone for inputs
  std::vector<std::shared_ptr<const std::vector<Partition>>> vectors_of;  ///< of each variable, by state

  /// A partition vector for every vertex, empty for inputs.
  std::vector<LabelPartition> partitions(const EinGraph& graph, const ChoiceNetwork::States& states) const;
};

PartitionNetwork partition_network(const EinGraph& graph, const DecompositionOptions& options);

}  // namespace eindb
