#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Stored integers of a narrow type that are converted to one floating-point type wherever they are read, as weights of
/// INT8 are in SUM(W[i,j] * x[j]) of FLOAT32, are read in that type: INT64 values of them never exist. The results are
/// the same, bit by bit.
EinGraph read_in_compute_types(const EinGraph& graph);

}  // namespace eindb
