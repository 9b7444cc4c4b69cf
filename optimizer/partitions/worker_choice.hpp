#pragma once

#include <cstdint>

#include "optimizer/partitions/strategy.hpp"

namespace eindb {

/// Partition vectors for workers that hold what they computed: under EinDecomp those by which they receive the least
/// from each other, counted exactly (optimizer/partitions/placement). The candidates are EinDecomp's by the model
/// `transfers` and by WireModel, what either has for one layer of a model for all of its layers, and those of the other
/// strategies; the best is improved, the same vertex of all layers at a time and then vertex by vertex, as far as the
/// graph is small enough for that to be quick. So no strategy moves less. Any other strategy is taken at its word.
///
/// p is the number of workers or larger; costs of the labelling are by the model of `options`. Errors as label().
Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options,
                            std::int64_t workers);

}  // namespace eindb
