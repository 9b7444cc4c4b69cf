#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Reads the values once where both their extreme and its index are wanted, which is what ARGMIN and ARGMAX are made of
/// (parser/binder/aggregate_binder):
///
///     M[i] = MAX[j](X[i,j]),  K[i] = MIN[j](CASE WHEN X[i,j] = M[i] OR X[i,j] <> X[i,j] THEN j ELSE n END)
///
/// becomes P[i] = FirstGreatest[j](COMPLEX(X[i,j], j)), M[i] = REAL(P[i]), K[i] = IMAG(P[i]), and likewise for INT64
/// (tensor/placed_value). Partial results of cut rows are merged like those of any aggregate. X may be stored, or
/// computed one by one, as a function or a join: only P reads such values then, and computes them where it reads them.
/// Where there are enough values for the result not to weigh.
EinGraph place_extremes(const EinGraph& graph);

}  // namespace eindb
