#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Partition vectors by rules on labels, the way parallel programs for machine learning are written by hand: certain
/// labels are cut wherever they occur. Every vertex makes p kernel calls if its extents allow it. Cuts that the named
/// labels cannot supply are made in the labels of the vertex's result, in their order, then in its summed labels; this
/// also holds for a vertex without any named label.
///
/// Data parallelism names the batch, "sequence" the positions, "attention" the heads, and Megatron the labels of
/// weight_labels. Example: for p = 8 and label b, X[b,s,a] with 2 batches is cut [2,4,1].
///
/// Throws Error{Label} if no vertex has one of the labels. Labels are matched by name: `t`, with which attention reads
/// the same positions again, is not `s`. p is a power of two.
std::vector<LabelPartition> cut_named_labels(const EinGraph& graph, const std::vector<std::string>& names,
                                             std::int64_t p);

/// The labels by which Megatron cuts weights alternately by columns and rows. A product of a computed tensor and a
/// stored weight that sums no label found so far cuts the weight by columns, and adds the first label that the weight
/// gives to the result. A product that sums such a label cuts the weight by rows and adds nothing. Example: attention
/// and feed-forward of a transformer, with weights WQ[a,h,d], WO[h,d,a], W1[a,f], W2[f,a], give h and f. Throws
/// Error{Label} if there is no such product.
std::vector<std::string> weight_labels(const EinGraph& graph);

}  // namespace eindb
