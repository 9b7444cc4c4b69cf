#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Rows that a function of matrices has put below others, from `first` on.
struct PackedPiece {
  std::int64_t first;
  VertexId vertex;
  Labels labels;  ///< of the vertex, the columns last
  Label rows;
};

/// A vertex that puts several results below each other (BlockOp::Qr, Svd and Eigh), and vertices that have some of
/// them.
struct PackedFactors {
  std::vector<PackedPiece> pieces;
  Labels labels;  ///< of the vertex
  Labels core;    ///< those of them that are rows and columns
};

/// The rows that a vertex reads of another one with these labels, of which core[0] are rows: count from `first` on.
struct PackedRows {
  std::int64_t first = 0;
  std::int64_t count = 1;
};
/// nullopt for a vertex that does anything else, or that reads something beside it.
std::optional<PackedRows> packed_rows_read(const EinGraph& graph, const Vertex& vertex, const Labels& labels,
                                           const Labels& core);

/// A vertex that reads rows of one piece alone, made to read them from there; nullopt for any other.
std::optional<VertexId> reread(EinGraph& graph, const Vertex& vertex, const PackedFactors& packed);

/// label + offset
ScalarPtr label_plus(Label label, std::int64_t offset);
/// Operand 0 where a label has an index, and 0 elsewhere.
ScalarPtr operand_where(Label label, ScalarPtr index);

}  // namespace eindb
