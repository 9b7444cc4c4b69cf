#pragma once

#include "plan/ein_graph.hpp"
#include "plan/physical_plan.hpp"

namespace eindb {

/// The join of a chain: its vertices as steps, epilogues as steps of their own, over the labels of `partition`. Each
/// operand from outside of the chain, with the labels that it is read by, is one input; `inputs` holds the numbers of
/// their vertices, to be replaced by nodes.
///
/// A SUM of an expression that another vertex of the chain computes reads that one's result: the exponentials of a
/// softmax are computed once.
JoinNode fused_join(const EinGraph& graph, const FusedChain& chain, const LabelPartition& partition);

}  // namespace eindb
