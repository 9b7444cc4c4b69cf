#pragma once

#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb {

/// Extremes that `result` is computed with and yet does not depend on, as the maximum in softmax and in LOGSUMEXP,
/// which keeps EXP from overflowing and cancels:
///
///     M[i] = MAX(X[i,j]),  S[i] = SUM(EXP(X[i,j] - M[i])),  P[i,j] = EXP(X[i,j] - M[i]) / S[i]
///
/// With M[i] larger by h, S and the numerator are EXP(-h) times what they were, and P is what it was. So nothing need
/// be carried back through the maximum: no search for where it is taken, no shares among equals.
///
/// What a vertex is of a shift h of M is followed through the graph: unchanged, EXP(k * h) times what it was, or k * h
/// more. Equal vertices, as binding makes one for each time a formula has MAX, are shifted together. One entry per
/// vertex; true for MIN and MAX of which `result` is unchanged. A pure function.
std::vector<bool> cancelled_extremes(const EinGraph& graph, VertexId result);

}  // namespace eindb
