#pragma once

#include <cstddef>
#include <vector>

#include "optimizer/partitions/labelling.hpp"

namespace eindb {

/// EinDecomp (sections 8.2 to 8.4): partition vectors that make p kernel calls per vertex at a low total cost.
///
/// If every vertex has at most one consumer, or the frontier of shared vertices is small, the result is optimal under
/// the cost model (optimizer/partitions/variable_elimination over the optimizer/partitions/partition_network).
/// Otherwise the paper's linearisation is the start, and optimizer/partitions/choice_descent improves it, so it is
/// never worse.
///
/// Example, p = 16, (A B) + (C (D E)) with all 400 x 400 and inputs free: 4,160,000 elements moved.
Labelling decompose(const EinGraph& graph, const DecompositionOptions& options);
/// The partition vectors of decompose(), not costed; one per vertex, empty for inputs.
std::vector<LabelPartition> decomposed_partitions(const EinGraph& graph, const DecompositionOptions& options);

/// The paper's method for general graphs (section 8.4), as a baseline. The longest path of vertices without a vector is
/// labelled on its own, then the next longest, until none is left. A path ignores operands from outside the path,
/// except stored tensors, whose partition is known. The costs of the resulting labelling are exact nevertheless.
Labelling decompose_linearised(const EinGraph& graph, const DecompositionOptions& options);

/// The paths of the linearisation, each in the order of computation; together they contain every vertex except inputs
/// exactly once. Of equally long paths the one that ends last comes first.
std::vector<std::vector<std::size_t>> linearise(const EinGraph& graph);

}  // namespace eindb
