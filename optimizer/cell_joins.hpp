#pragma once

#include "optimizer/partitions/calibrated_model.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Takes joins apart differently where cells are read (Vertex::cells): a join and the join that makes one of its
/// operands become one join of all their operands, where the model predicts that to be faster than the two. It visits
/// the points at which all operands of cells have one, so that sampled products, tensors times several matrices, and
/// cyclic joins such as triangles make nothing in between (Generic Join; Ngo, Re and Rudra, Skew Strikes Back, 2013).
/// Vertices may have more than two inputs afterwards. Chains are dropped if anything changes.
///
/// Example: T[i,j] = SUM(B[i,k] * C[k,j]), Z[i,j] = S[i,j] * T[i,j] with few cells in S becomes
/// Z[i,j] = SUM(S[i,j] * B[i,k] * C[k,j]).
EinGraph merge_joins_of_cells(const EinGraph& graph, const CalibratedModel& model);

}  // namespace eindb
