#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Replaces each LOGSUMEXP that no kernel computes as it stands by its parts (tensor/log_sum_exp): a MAX, a SUM of
/// exponentials, and the logarithm. What stays is LOGSUMEXP of a sum of two operands over labels that both have, large
/// enough to be computed as matrices are. Comes after contractions are ordered; vertices have at most two inputs before
/// and after.
EinGraph expand_log_sum_exp(const EinGraph& graph);

}  // namespace eindb
