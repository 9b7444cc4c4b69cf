#pragma once

#include "optimizer/paths/path_optimizer.hpp"
#include "plan/ein_graph.hpp"

namespace eindb {

/// Turns vertices with more than two inputs into unary and binary ones.
///
/// A SUM (or no aggregate) of a product is an n-ary contraction: its factors are joined in the order that
/// `paths` finds, and each label is summed in the vertex after which nothing else needs it.
///
///     Z[i,m] = SUM(A[i,j] * B[j,k] * C[k,m])   becomes   Z.1[i,k] = SUM(A[i,j] * B[j,k]), Z[i,m] = SUM(Z.1 * C[k,m])
///
/// The order of factors, and of labels, is that of the statement as far as possible.
/// - A factor is an expression over one operand. An expression over two or more first becomes a vertex of its own,
///   which sums the labels that no other factor has. Factors over the same operand are merged.
/// - Dividing by an operand is a factor 1/x. It stays a denominator until it meets a numerator, which it then divides,
///   or until one of its labels is summed.
/// - A factor of label values joins a factor that has all its labels. If there is none it waits for the last vertex, as
///   all constants do.
///   constants do.
///
/// Any other expression is split bottom-up (optimizer/rewrites/expression_split); its aggregate stays at the last
/// vertex.
EinGraph order_contractions(const EinGraph& graph, PathSearch& paths);

}  // namespace eindb
