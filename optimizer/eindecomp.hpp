#pragma once

#include <cstddef>
#include <vector>

#include "optimizer/labelling.hpp"

namespace eindb {

/// EinDecomp (sections 8.2 to 8.4): partition vectors that make p kernel calls per vertex and move little data in all.
///
/// Where every vertex has at most one consumer edge, the result is optimal under the cost model. Any other graph is
/// taken apart into paths: the longest path of vertices that have no vector yet is labelled on its own by the same
/// dynamic program, then the next longest, until none is left. A path ignores what its vertices read off the path,
/// except stored tensors, whose partition is known.
///
/// Example, p = 16, (A B) + (C (D E)) with all 400 x 400 and inputs free: 4,160,000 elements moved.
/// At vertices with many labels, and in graphs of thousands of vertices, only the largest labels are cut, so that a
/// vertex has some thousands (at the least two hundred) vectors to choose from.
Labelling decompose(const EinGraph& graph, const DecompositionOptions& options);

/// Whether every vertex that is no input is read at most once.
bool is_tree(const EinGraph& graph);

/// The paths of the linearisation, each in the order of computation; together they hold every vertex that is no
/// input exactly once. Of equally long paths the one that ends last comes first.
std::vector<std::vector<std::size_t>> linearise(const EinGraph& graph);

}  // namespace eindb
