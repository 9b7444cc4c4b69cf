#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Sums a label out before the join where it occurs on one side only: SUM distributes over products.
///
///     Z[] = SUM(A[a,b,c] * B[d,e,f])     becomes     Z.1[] = SUM(A[a,b,c]), Z.2[] = SUM(B[d,e,f]), Z[] = Z.1 * Z.2
///
/// (NumPy's `abc,def->`, which loses a factor of 50,000 by joining first.) Factors that share an operand form one
/// group; a factor of label values alone, as `j` in SUM(j * X[i,j] * Y[k]), joins the group that has its labels if
/// there is one such group, and otherwise keeps its labels from being summed early. A label that occurs in one group
/// alone is summed out within the group. Quotients take part, as products with 1/x. Aggregates other than SUM, and
/// SUM of anything but a product, stay as they are.
EinGraph sum_early(const EinGraph& graph);

}  // namespace eindb
