#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// A vertex whose cells are those of other vertices, one after the other along a dimension.
struct Concatenation {
  std::size_t along = 0;        ///< a dimension of the vertex
  std::vector<VertexId> parts;  ///< in order, all different, with elements, and of the vertex's type and other extents
};

/// Recognises what CONCAT is translated to (parser/binder/join_binder) in a chain of which nothing but the result is
/// read elsewhere: CASE over a label's index, of windows that have the whole of another vertex at its place.
///
///     Z[i,j] = CASE WHEN i < 3 THEN X[i,j PAD 0] ELSE Y[i-3,j PAD 0] END     X and Y along dimension 0
///
/// nullopt for any other chain.
std::optional<Concatenation> concatenation_of(const EinGraph& graph, const FusedChain& chain);

}  // namespace eindb
