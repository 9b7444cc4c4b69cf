#pragma once

#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// Reduces an expression to at most two operands: repeatedly makes a smallest subexpression with two operands an
/// element-wise part. Returns the remaining expression, in the splitter's numbering.
///
/// Example: EXP(X[i,j] - C[i]) + Y[j] gives the part EXP(X[i,j] - C[i]), and that part + Y[j] remains. An operation
/// with many arguments (+ * LEAST GREATEST) is split at the two neighbours whose join has the fewest cells. CASE WHEN a
/// THEN b ELSE c with three operands has no subexpression with two; it becomes
///
///     (CASE WHEN a THEN b ELSE z END) + (CASE WHEN a THEN z ELSE c END)
///
/// with z = -0.0, the exact neutral element of floating-point addition (0 for INT64).
ScalarPtr split_to_two_operands(VertexSplitter& splitter, ScalarPtr expression);

}  // namespace eindb
