#pragma once

#include "optimizer/partitions/labelling.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// Lowers a labelled graph to operators on tensor relations. For each vertex that an output needs, in order: a scan
/// for an input of the computation; otherwise a join, after repartitions of those inputs that are not cut as the
/// vertex wants them, and before a group-by if an aggregated label is cut. Readers that want the same tensor in
/// the same partition share one repartition. Right after an output, a repartition to the partition that
/// `output_partitions` wants it in, if that differs, and its sink.
///
/// Sliced contractions (EinGraph::sliced) become loops: what their slices share is brought into the wanted partition
/// before, what slices have each for themselves within.
///
/// Nodes name the vertex whose tensor they give. Throws Error{Shape} if one of `output_partitions` does not fit its
/// result.
PhysicalPlan plan_physically(const EinGraph& graph, const Labelling& labelling,
                             const WantedPartitions& output_partitions = {});

}  // namespace eindb
