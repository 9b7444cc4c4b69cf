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
/// the same positions again, is not `s`. A label gets
/// the largest divisor of the calls that are still to be made.
std::vector<LabelPartition> cut_named_labels(const EinGraph& graph, const std::vector<std::string>& names,
                                             std::int64_t p);

/// The most parts that each label of a graph is cut into before all others, by Label::index(); 1: it has no precedence.
using FirstCuts = std::vector<std::int64_t>;

/// Partition vectors by the same rule for given labels: a vertex cuts those of its labels that come first, each into as
/// many parts as it may, those of its result before summed ones, and then all others as above.
std::vector<LabelPartition> cut_first(const EinGraph& graph, const FirstCuts& first, std::int64_t p);

/// `partitions` with other cuts of the given labels, wherever they occur: into `parts` parts, as far as extents allow
/// it. Vertices with these labels cut their others as before as long as they make p calls, or more than before to make
/// as many.
std::vector<LabelPartition> cut_differently(const EinGraph& graph, std::vector<LabelPartition> partitions,
                                            const Labels& labels, std::int64_t parts, std::int64_t p);

/// The labels of a graph in components: those that stand for one dimension of a computed tensor, at the vertex that
/// makes it and at those that read it. Components that most vertices have come first. Labels that cannot be cut are
/// left out.
std::vector<Labels> components_of_labels(const EinGraph& graph);

/// The cuts of stored tensors, carried over to all vertices: for each way in which a vertex reads a stored tensor that
/// is cut, the parts of its dimensions for the components of their labels. Parts are divisors of p.
std::vector<FirstCuts> stored_cuts_of_labels(const EinGraph& graph, std::int64_t p);

/// The labels by which Megatron cuts weights alternately by columns and rows. A product of a computed tensor and a
/// stored weight that sums no label found so far cuts the weight by columns, and adds the first label that the weight
/// gives to the result. A product that sums such a label cuts the weight by rows and adds nothing. Example: attention
/// and feed-forward of a transformer, with weights WQ[a,h,d], WO[h,d,a], W1[a,f], W2[f,a], give h and f. Throws
/// Error{Label} if there is no such product.
std::vector<std::string> weight_labels(const EinGraph& graph);

}  // namespace eindb
