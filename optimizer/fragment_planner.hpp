#pragma once

#include "optimizer/partitions/labelling.hpp"
#include "plan/fragment.hpp"

namespace eindb {

/// Lowers a labelled graph to operators on tensor relations. For each vertex that an output needs, in order, it adds a
/// scan if the vertex is an input, otherwise a join. Repartitions precede the join for inputs that are cut differently
/// than the vertex wants; a group-by follows it if an aggregated label is cut. Readers that want the same tensor in the
/// same partition share one repartition. An output is followed at once by its sink, after a repartition if
/// `output_partitions` wants another partition.
///
/// Sliced contractions (EinGraph::sliced) become loops. Repartitions of inputs that all slices share stand before the
/// loop, those of a single slice's share within it.
///
/// Nodes carry the name of the vertex whose tensor they produce. Throws Error{Shape} if one of `output_partitions` does
/// not fit its result.
Fragment plan_fragment(const EinGraph& graph, const Labelling& labelling,
                       const WantedPartitions& output_partitions = {});

}  // namespace eindb
