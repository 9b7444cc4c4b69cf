#pragma once

#include "plan/ein_graph.hpp"
#include "plan/fragment.hpp"

namespace eindb {

/// The join of a chain: its vertices and their epilogues as steps over the labels of `partition`. Every distinct pair
/// of an outside operand and the labels it is read with becomes one input. `inputs` holds vertex numbers; the caller
/// replaces them by nodes.
///
/// A SUM over an expression that another vertex of the chain computes reads that vertex's result: the exponentials of a
/// softmax are computed once.
JoinNode fused_join(const EinGraph& graph, const FusedChain& chain, const LabelPartition& partition);

}  // namespace eindb
