#pragma once

#include <cstddef>
#include <vector>

#include "optimizer/partitions/labelling.hpp"

namespace eindb {

/// EinDecomp (sections 8.2 to 8.4): partition vectors that make p kernel calls per vertex and cost little in all.
///
/// Where every vertex has at most one consumer, and in any other graph whose frontier of shared vertices is small, the
/// result is optimal under the cost model (optimizer/partitions/variable_elimination over the
/// optimizer/partitions/partition_network). Else it starts from the paper's linearisation and improves it
/// (optimizer/partitions/choice_descent): never worse than that.
///
/// Example, p = 16, (A B) + (C (D E)) with all 400 x 400 and inputs free: 4,160,000 elements moved.
Labelling decompose(const EinGraph& graph, const DecompositionOptions& options);
/// The partition vectors of decompose(), not costed; one per vertex, empty for inputs.
std::vector<LabelPartition> decomposed_partitions(const EinGraph& graph, const DecompositionOptions& options);

/// The paper's method for general graphs (section 8.4), as a baseline: the longest path of vertices that have no vector
/// yet is labelled on its own, then the next longest, until none is left. A path ignores what its vertices read off the
/// path, except stored tensors, whose partition is known. Its costs are exact nevertheless.
Labelling decompose_linearised(const EinGraph& graph, const DecompositionOptions& options);

/// The paths of the linearisation, each in the order of computation; together they hold every vertex that is no
/// input exactly once. Of equally long paths the one that ends last comes first.
std::vector<std::vector<std::size_t>> linearise(const EinGraph& graph);

}  // namespace eindb
