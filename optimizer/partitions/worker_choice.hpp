#pragma once

#include <cstdint>

#include "optimizer/partitions/strategy.hpp"

namespace eindb {

/// Partition vectors for workers that hold the results they computed. Under EinDecomp these are the vectors by which
/// workers receive the least from each other, counted exactly (optimizer/partitions/placement). The candidates are the
/// choices of EinDecomp by the models `transfers` and WireModel, the vectors of one layer of either applied to all
/// layers of a model, and the vectors of the other strategies and of rules_of_labels. The best candidate is then
/// improved, first the same vertex of all layers at a time, then vertex by vertex, if the graph is small enough for
/// that to be quick. So no other strategy moves less. Any other strategy is applied as it is.
///
/// p is at least the number of workers; the labelling is costed by the model of `options`. Throws like label().
Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options,
                            std::int64_t workers);

}  // namespace eindb
