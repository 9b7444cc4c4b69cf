#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Reads the values once where both their extreme and its index are wanted, which is what ARGMIN and ARGMAX are made of
/// (parser/binder/aggregate_binder):
///
///     M[i] = MAX[j](X[i,j]),  K[i] = MIN[j](CASE WHEN X[i,j] = M[i] OR X[i,j] <> X[i,j] THEN j ELSE n END)
///
/// becomes P[i] = FirstGreatest[j](COMPLEX(X[i,j], j)), M[i] = REAL(P[i]), K[i] = IMAG(P[i]). Partial results of cut
/// rows are merged like those of any aggregate. For FLOAT32 and FLOAT64, whose values are parts of COMPLEX128; where X
/// is stored or comes of an aggregate, as element-wise values can be computed where they are read; and where there are
/// enough values for the result not to weigh.
EinGraph place_extremes(const EinGraph& graph);

}  // namespace eindb
