#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Restricts a vertex to the part that its readers read, if all of them hold a dimension at one index or read only a
/// diagonal.
///
///     C[i,k] = SUM(A[i,j] * B[j,k])       C(3,:)[k] = SUM[i](CASE WHEN i = 3 THEN C[i,k] ELSE 0 END)
///
/// becomes C(3,:)[k] = SUM(A(3,:)[j] * B[j,k]), and
///
///     C[a,b] = SUM(A[a,j] * B[j,b])       Z[] = SUM(C[i,i])
///
/// becomes C[a] = SUM(A[a,j] * B[j,a]), Z[] = SUM(C[i]). The resulting selections from the inputs are pushed further:
/// into the scan of a stored tensor, or into the vertex that computes it. The value of a held label is a constant.
///
/// A vertex that has a reader of the whole stays whole, and so does a vertex whose random numbers depend on a held
/// label. Several selections from one vertex are computed separately if together they have at most a quarter of its
/// elements.
EinGraph push_selections(const EinGraph& graph);

}  // namespace eindb
