#pragma once

#include "optimizer/rewrites/planning_terms.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Finds vertices that are better computed together, in strips of the rows that all of them have (FusedChain). A
/// softmax then reads its operand once and writes its result once, and attention scores stay in the cache until they
/// are multiplied by the values. The vertices themselves do not change.
///
/// A chain starts at a vertex and takes in the vertices that only the chain reads, transitively, as long as
/// - the heads have labels in common, the rows, and no vertex sums over a row;
/// - the part of each operand that belongs to one row fits a fast cache, as it is read again for every strip;
/// - the intermediate values of a strip fit it too, and the strip is not too thin for matrix products;
/// - no matrix product reads another one; chains of those are left to the partition vectors.
/// Reads at affine indices, such as the patches of a convolution, are windows (is_window_of): they need no rows and no
/// cache, as their readers take the operand instead. A vertex and the windows that it reads are always a chain.
///
/// Example: softmax(SUM[d](Q[s,h,d] * K[t,h,d]), t) and its product with V[t,h,e] have the rows h and s, in this order:
/// strips of one head, which all operands have, and within it of as many positions s as fit.
///
/// Of several workers each is best given its own part of an index that is split (AlignedLabels of tensor/access_form),
/// so that such accesses stay vertices of their own.
EinGraph fuse_chains(const EinGraph& graph, const PlanningTerms& terms = {});

}  // namespace eindb
