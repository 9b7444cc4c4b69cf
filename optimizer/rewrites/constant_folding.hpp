#pragma once

#include "plan/ein_graph.hpp"

namespace eindb {

/// Evaluates expressions that depend on neither operands nor labels, and drops operations without effect:
///
///     Z[i] = -(-X[i]) * (2 ^ 3) + CASE WHEN 1 < 2 THEN Y[i] ELSE W[i] END     becomes     Z[i] = X[i] * 8 + Y[i]
///
/// - A call of constants becomes the literal of its value in the vertex's compute type, as a kernel would compute it;
///   so do the leading constants of a sum or product. Values without an exact literal stay as calls: complex values,
///   and -0 or numbers beyond INT64 if the call has whole numbers. RANDOM stays, as it depends on the cell.
/// - The value of a label of extent 1 becomes 0.
/// - CASE loses branches that are never or always taken; AND and OR lose constants that decide nothing.
/// - x * 1, x / 1, x ^ 1, x ^ 0, x - 0, x + -0.0, -(-x) and, in INT64, x + 0 and ROUND(x) are simplified, as this is
///   exact for every value, NaN, infinities and -0 included. For complex numbers only those without multiplication are.
///   x * 0 and, in floating point, x + 0 stay.
///
/// Operands that are no longer read are dropped from the vertex. Types do not change. An expression that would lose its
/// last operand stays if that operand determined its type.
EinGraph fold_constants(const EinGraph& graph);

}  // namespace eindb
