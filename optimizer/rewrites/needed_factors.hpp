#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// SVD of which singular values alone are read, and QR of which R alone is, give no more (BlockOp), and take a third
/// and half of the time:
///     P[(i,1,j),k] = SVD(A[i,j]), s[k] = P[m,k]  ->  S[1,k] = SVD(A[i,j]), s[k] = S[0,k]
/// Of real matrices.
EinGraph compute_needed_factors(const EinGraph& graph);

}  // namespace eindb
