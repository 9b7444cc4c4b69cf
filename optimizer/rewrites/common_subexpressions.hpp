#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Makes equal vertices one. Two vertices are equal if they compute the same function of the same vertices in the
/// same types, whatever their labels are called and in whatever order their heads have them; factors and operands
/// of other operations that commute may stand in either order:
///
///     T[i,k] = SUM(A[i,j] * B[j,k])     U[x,z] = SUM(A[x,y] * B[y,z])     V[z,x] = SUM(B[y,z] * A[x,y])
///
/// are equal if i and x, j and y, k and z have the same extents: readers of U and V read T, those of V with their
/// labels permuted. The earliest of equal vertices stays; if an output is among them, it stays under the output's
/// name and labels. Operands that read the same thing are united first. Where more than four operands read one vertex,
/// equal vertices with differently ordered operands may be taken for different ones.
EinGraph unite_common_subexpressions(const EinGraph& graph);

}  // namespace eindb
