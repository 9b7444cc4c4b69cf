#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Partition vectors by rules on labels, as parallel programs for machine learning are written by hand: some labels are
/// cut wherever they occur. Every vertex makes p kernel calls if its extents allow it: what the named labels leave, and
/// all of a vertex that has none of them, is made up by the labels of its result, in their order, then by those that
/// it sums.
///
/// Data parallelism names the batch; "sequence" the positions; "attention" the heads; Megatron the labels of
/// weight_labels. Example, p = 8 and label b: X[b,s,a] with 2 batches is cut [2,4,1].
///
/// Throws Error{Label} if no vertex has one of the labels. Labels are meant by name: `t`, which attention reads the
/// same positions with, is not `s`. p is a power of two.
std::vector<LabelPartition> cut_named_labels(const EinGraph& graph, const std::vector<std::string>& names,
                                             std::int64_t p);

/// The labels by which Megatron cuts weights, alternating: a product of something computed with a stored weight that
/// sums none of the labels found so far cuts the weight by columns, and adds the first label that the weight gives to
/// the result; one that sums such a label cuts the weight by rows, and adds none. Example: attention and feed-forward
/// of a transformer, with weights WQ[a,h,d], WO[h,d,a], W1[a,f], W2[f,a], give h and f.
/// Throws Error{Label} if there is no such product.
std::vector<std::string> weight_labels(const EinGraph& graph);

}  // namespace eindb
