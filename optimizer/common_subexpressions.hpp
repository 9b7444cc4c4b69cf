#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Makes equal vertices one. Two vertices are equal if they compute the same function of the same vertices in the
/// same types, whatever their labels are called:
///
///     T[i,k] = SUM(A[i,j] * B[j,k])        U[x,z] = SUM(A[x,y] * B[y,z])
///
/// are equal if i and x, j and y, k and z have the same extents. The earliest of equal vertices stays; if the output
/// is among them, it stays under the output's name and labels. Operands that read the same thing are united first.
EinGraph unite_common_subexpressions(const EinGraph& graph);

}  // namespace eindb
