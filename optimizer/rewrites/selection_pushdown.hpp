#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Computes no more of a vertex than its readers read, where all of them hold a dimension at one index or read only a
/// diagonal.
///
///     C[i,k] = SUM(A[i,j] * B[j,k])       C(3,:)[k] = SUM[i](CASE WHEN i = 3 THEN C[i,k] ELSE 0 END)
///
/// becomes C(3,:)[k] = SUM(A(3,:)[j] * B[j,k]), and
///
///     C[a,b] = SUM(A[a,j] * B[j,b])       Z[] = SUM(C[i,i])
///
/// becomes C[a] = SUM(A[a,j] * B[j,a]), Z[] = SUM(C[i]). What is then read of the inputs is pushed on: into the scan of
/// a stored tensor, or into the vertex that computes it. The value of a label that is held is a constant.
///
/// A vertex that something reads whole stays whole, and so does one whose random numbers are told apart by a label that
/// is held. Several selections from one vertex are computed one by one if together they have at most a quarter of its
/// elements.
EinGraph push_selections(const EinGraph& graph);

}  // namespace eindb
