#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Computes what depends on neither operands nor labels, and drops operations that change nothing:
///
///     Z[i] = -(-X[i]) * (2 ^ 3) + CASE WHEN 1 < 2 THEN Y[i] ELSE W[i] END     becomes     Z[i] = X[i] * 8 + Y[i]
///
/// - A call of constants becomes the literal of its value in the vertex's compute type, which is what a kernel would
///   get; so do the constants at the beginning of a sum or product. What no literal says exactly stays: complex values,
///   and -0 or numbers beyond INT64 where the type of the call is that of whole numbers. RANDOM depends on the cell.
/// - The value of a label of extent 1 is 0.
/// - CASE loses branches that are never or always taken, AND and OR constants that settle nothing.
/// - x * 1, x / 1, x ^ 1, x ^ 0, x - 0, x + -0.0, -(-x) and, in INT64, x + 0 and ROUND(x) are exact for every value,
///   NaN, infinities and -0 among them; of complex numbers only those that do not multiply are. x * 0 and, in floating
///   point, x + 0 are not: they stay.
///
/// Operands that nothing reads any more are dropped from the vertex. Types stay what they were; so does an expression
/// that would have no operand left, where its type came from one.
EinGraph fold_constants(const EinGraph& graph);

}  // namespace eindb
