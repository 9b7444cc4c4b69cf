#pragma once

#include <string>
#include <utility>
#include <vector>

#include "executor/join_input.hpp"
#include "plan/join_node.hpp"

namespace eindb {

/// For EXPLAIN: how the kernels of a join compute its largest call (Kernel::describe), for each vertex that it
/// computes. That is `vertex` alone, or the vertices of a fused chain, whose calls are on strips of tiles: "expression
/// (2 operations), in strips". `inputs` are those of the join. Where a call has nothing to compute, as a
/// label has no indices, the text is "none".
std::vector<std::pair<VertexId, std::string>> describe_kernels(VertexId vertex, const JoinNode& join,
                                                               const LabelTable& labels,
                                                               const std::vector<JoinInput>& inputs);

}  // namespace eindb
