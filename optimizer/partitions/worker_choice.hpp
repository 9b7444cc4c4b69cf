#pragma once

#include <cstdint>
#include <functional>

#include "optimizer/partitions/input_places.hpp"
#include "optimizer/partitions/strategy.hpp"

namespace eindb {

/// The bytes that ranks receive in all if a graph is planned with these vectors: of a whole plan, counted exactly.
using CountedBytes = std::function<double(const Labelling&)>;

/// What a choice may take into account beside the places of inputs.
struct ChoiceTerms {
  CountedBytes count = {};           ///< empty: bytes are those of the placement
  const Labelling* known = nullptr;  ///< one more candidate, if not null
  bool is_for_same_places = false;   ///< whether `known` was chosen for the same inputs: it is not changed any further
};

/// Partition vectors for workers that hold the results they computed, and the tiles of stored tensors that `inputs`
/// says. Under EinDecomp these are the vectors by which workers receive the fewest bytes from each other
/// (optimizer/partitions/placement), whatever labels are called. The candidates are:
///
/// - the choices of EinDecomp by the models `transfers` and WireModel, and the vectors of one layer of either applied
///   to all layers of a model;
/// - the vectors of the other strategies, of data(l) for every label that can be cut, of the components of labels
///   (components_of_labels), and of the cuts of stored tensors (stored_cuts_of_labels);
/// - changes of the best one: of whole components, of the same vertex of all layers at a time, and of single vertices.
///
/// A candidate makes as many kernel calls at every vertex as EinDecomp's choice. Candidates are tried until their
/// number times the vertices times the workers reaches a limit, some tenths of a second; a graph of 60 labels and 80
/// vertices is planned in about 20 ms for 8 workers, and in 100 ms for 64. With `count`, the
/// candidates of rules and the best changed one are counted, and the one with the fewest bytes is taken: then no other
/// strategy receives less. Any other strategy is applied as it is.
///
/// p is at least the number of workers; the labelling is costed by the model of `options`. Throws like label().
Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options,
                            const InputPlaces& inputs, const ChoiceTerms& terms = {});
/// For stored tensors that were newly written to so many workers.
Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options,
                            std::int64_t workers);

}  // namespace eindb
