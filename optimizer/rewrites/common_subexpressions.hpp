#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Merges equal vertices. Two vertices are equal if they compute the same function of the same vertices in the same
/// types, regardless of the names of their labels and of the order of labels in their heads. Factors, and operands of
/// other commutative operations, may stand in either order:
///
///     T[i,k] = SUM(A[i,j] * B[j,k])     U[x,z] = SUM(A[x,y] * B[y,z])     V[z,x] = SUM(B[y,z] * A[x,y])
///
/// are equal if i and x, j and y, k and z have the same extents. Readers of U and V then read T, those of V with
/// permuted labels. The earliest of equal vertices stays; if an output is among them, the vertex takes the output's
/// name and labels. Operands that read the same vertex are united first. If more than four operands read one vertex,
/// equal vertices whose operands are ordered differently may not be recognised.
EinGraph unite_common_subexpressions(const EinGraph& graph);

}  // namespace eindb
