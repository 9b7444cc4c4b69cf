#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Aggregates a label before the join where it occurs on one side only and the aggregate distributes over the join's
/// function.
///
/// SUM over products:
///
///     Z[] = SUM(A[a,b,c] * B[d,e,f])     becomes     Z.1[] = SUM(A[a,b,c]), Z.2[] = SUM(B[d,e,f]), Z[] = Z.1 * Z.2
///
/// (NumPy's `abc,def->`, which loses a factor of 50,000 by joining first.) Factors that share an operand form one
/// group; a factor of label values alone, as `j` in SUM(j * X[i,j] * Y[k]), joins the group that has its labels if
/// there is one such group, and otherwise keeps its labels from being summed early. A label that occurs in one group
/// alone is summed out within the group. Quotients take part, as products with 1/x. A SUM of truths counts: of a AND b
/// it is one of a product, of a OR b the number of cells less that of NOT a AND NOT b. (COUNT, ANY and ALL are such.)
///
/// SUM over sums and PROD over products of INT64: optimizer/rewrites/separable_sum. MAX and MIN over monotone
/// functions: optimizer/rewrites/separable_extreme. What is left of a vertex, and its parts, are looked at again.
///
/// MEAN is a SUM. LOGSUMEXP over sums is not taken apart: its EXP(X[i] + Y[j] - m) would overflow in parts.
EinGraph sum_early(const EinGraph& graph);

}  // namespace eindb
