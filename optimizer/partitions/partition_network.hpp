#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "optimizer/partitions/choice_network.hpp"
#include "optimizer/partitions/labelling.hpp"

namespace eindb {

/// EinDecomp's choice (section 8) as a network: the variables are the vertices of a graph, their states the viable
/// partition vectors. The cost of a state is that of the vertex's join and aggregation, of repartitioning its stored
/// inputs, and of moving its result to a prescribed partition. The cost of an edge is the repartition between its two
/// vertices. Vertices of equal shape share vectors, costs and tables, so that the repeated layers of a model are
/// computed once.
///
/// For vertices with many labels, and in graphs of thousands of vertices, only the largest labels are cut, so that a
/// vertex chooses among some thousands (at least two hundred) of vectors.
struct PartitionNetwork {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  ChoiceNetwork choices;
  std::vector<std::size_t> vertex_of;                                     ///< for each variable, ascending
  std::vector<std::size_t> variable_of;                                   ///< for each vertex; kNone for inputs
  std::vector<std::shared_ptr<const std::vector<Partition>>> vectors_of;  ///< for each variable, by state

  /// A partition vector for every vertex, empty for inputs.
  std::vector<LabelPartition> partitions(const EinGraph& graph, const ChoiceNetwork::States& states) const;
};

PartitionNetwork partition_network(const EinGraph& graph, const DecompositionOptions& options);

}  // namespace eindb
