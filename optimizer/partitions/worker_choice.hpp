#pragma once

#include <cstdint>
#include <functional>

#include "optimizer/partitions/input_places.hpp"
#include "optimizer/partitions/strategy.hpp"

namespace eindb {

/// The bytes that ranks receive in all if a graph is planned with these vectors: of a whole plan, counted exactly.
using CountedBytes = std::function<double(const Labelling&)>;

/// Terms of a choice beside the places of inputs.
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
/// - vectors that cut a component of labels first (components_of_labels), or what stored tensors are cut along
///   (stored_cuts_of_labels);
/// - changes of the best of these, and of a few others if that is quick: of whole components, of the same vertex of all
///   layers at a time, and of single vertices;
/// - the vectors of the other strategies, and of rules_of_labels, which go by names.
///
/// A candidate makes as many kernel calls at every vertex as EinDecomp's choice. Rules of names and components are all
/// tried; others until their number times the vertices times the workers reaches a limit, some tenths of a second. A
/// graph of 60 labels and 81 vertices (twenty layers of a product and a softmax) takes 60 ms on 8 workers and 92 ms on
/// 64, the plans of the ranks included. With terms.count, the best candidate and those of rules are counted, the best
/// first, up to a like limit, and the one with the fewest bytes is taken: no other strategy that is counted receives
/// less. Any other strategy is applied as it is.
///
/// p is at least the number of workers; the labelling is costed by the model of `options`. Throws like label().
Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options,
                            const InputPlaces& inputs, const ChoiceTerms& terms = {});
/// For stored tensors that were newly written to so many workers.
Labelling label_for_workers(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options,
                            std::int64_t workers);

}  // namespace eindb
