#pragma once

#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// Reduces an expression to at most two operands: again and again a smallest subexpression with two operands becomes
/// an element-wise part. Returns what is left, in the splitter's numbering.
///
/// Example: EXP(X[i,j] - C[i]) + Y[j] gives the part EXP(X[i,j] - C[i]) and is left as that part + Y[j].
/// Of an operation with many arguments (+ * LEAST GREATEST) two neighbours are taken, those with the fewest labels'
/// worth of cells. CASE WHEN a THEN b ELSE c with three operands has no subexpression of two; it becomes
///
///     (CASE WHEN a THEN b ELSE z END) + (CASE WHEN a THEN z ELSE c END)
///
/// with z = -0.0, the exact neutral element of floating-point addition (0 for INT64).
ScalarPtr split_to_two_operands(VertexSplitter& splitter, ScalarPtr expression);

}  // namespace eindb
