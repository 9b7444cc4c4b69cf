#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Aggregates a label before a join if only one side of the join has it and the aggregate distributes over the
/// function.
///
/// SUM over products, and the other pairs of tensor/algebra likewise:
///
///     Z[] = SUM(A[a,b,c] * B[d,e,f])     becomes     Z.1[] = SUM(A[a,b,c]), Z.2[] = SUM(B[d,e,f]), Z[] = Z.1 * Z.2
///
/// (NumPy's `abc,def->`, which wastes a factor of 50,000 by joining first.) Factors that share an operand form one
/// group. A factor of label values alone, as `j` in SUM(j * X[i,j] * Y[k]), joins the group that has its labels if
/// there is exactly one; otherwise its labels are not summed early. A label that only one group has is summed within
/// the group. Quotients take part as products with 1/x. A SUM of truth values counts: for a AND b it is the SUM of a
/// product, for a OR b the number of cells minus that of NOT a AND NOT b. (COUNT, ANY and ALL are such SUMs.)
///
/// SUM over sums, and PROD over powers and over products of INT64, are taken apart by optimizer/rewrites/separable_sum,
/// MAX and MIN over GREATEST, LEAST and monotone functions by optimizer/rewrites/separable_extreme. The rewritten
/// vertex and its parts are examined again.
///
/// MEAN is a SUM. LOGSUMEXP over sums is not taken apart: the parts of its EXP(X[i] + Y[j] - m) could overflow.
EinGraph sum_early(const EinGraph& graph);

}  // namespace eindb
