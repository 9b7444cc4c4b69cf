#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Finds vertices that are better computed together, strip by strip of rows that all of them have (FusedChain): a
/// softmax reads its operand once and writes its result once, and scores of attention stay in the cache until they have
/// met the values. The vertices themselves stay as they are.
///
/// From a vertex on, whatever it alone reads is taken into its chain, and what that reads, as long as
/// - the heads have labels in common, the rows; no vertex sums over one;
/// - of each operand, what belongs to one row fits a fast cache: it is read again for every strip;
/// - what a strip computes on its way fits that too, and is not too thin a strip for matrix products;
/// - no matrix product reads another: chains of those are left to the partition vectors.
///
/// Example: softmax(SUM[d](Q[s,h,d] * K[t,h,d]), t) and its product with V[t,h,e] have the rows h and s, in this order:
/// strips of one head, which all operands have, then of as many positions s as fit.
EinGraph fuse_chains(const EinGraph& graph);

}  // namespace eindb
