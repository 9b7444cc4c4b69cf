#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Extremes that are used in computing `result` but on which it does not depend, such as the maximum in softmax and
/// LOGSUMEXP, which keeps EXP from overflowing and cancels:
///
///     M[i] = MAX(X[i,j]),  S[i] = SUM(EXP(X[i,j] - M[i])),  P[i,j] = EXP(X[i,j] - M[i]) / S[i]
///
/// If M[i] grows by h, S and the numerator are multiplied by EXP(-h), and P does not change. So nothing needs to be
/// carried back through the maximum: no search for its position, no shares among equal elements.
///
/// The effect on each vertex of a shift h of M is followed through the graph: no change, a factor of EXP(k * h), or an
/// increase by k * h. Equal vertices are shifted together, since binding makes one for each MAX of a formula. One entry
/// per vertex; true for a MIN or MAX whose shift leaves `result` unchanged. A pure function.
std::vector<bool> cancelled_extremes(const EinGraph& graph, VertexId result);

}  // namespace eindb
