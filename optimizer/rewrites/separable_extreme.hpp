#pragma once

#include <optional>

#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// MAX or MIN of a monotone function of parts that have labels of their own.
///
/// - A monotone function of one value is applied last: MAX(EXP(-X[i])) = EXP(-MIN(X[i])). This is exact for EXP, EXPM1,
///   TANH, ATAN, SINH, ERF, SIGMOID, RELU, SIGN, FLOOR, CEIL, ROUND, the minus sign, and for sums, products and
///   quotients with finite constants; for SQRT and LOG, which give NaN for negative numbers, only if the least value
///   decides.
/// - GREATEST and LEAST: MAX(LEAST(X[i], Y[j])) = LEAST(MAX(X[i]), MAX(Y[j])); NaN wins on both sides.
/// - Sums: X[i] + Y[j] is NaN if infinities of opposite signs meet, so three corners decide:
///
///       MAX(X[i] + Y[j]) = GREATEST(max X + max Y, max X + min Y, min X + max Y)
///
///   The first is the maximum; the others are NaN if such infinities meet anywhere, and never larger.
///
/// INT64 arithmetic wraps and is not monotone, so for INT64 only GREATEST, LEAST, RELU and SIGN are taken apart. A
/// product of two operands is monotone only for known signs, and 0 times infinity lies at no corner, so products stay.
///
/// Returns nullopt and does nothing if the vertex has no such form, aggregates over no cell, or would not gain: fewer
/// cells to visit, or, if a function is only moved outwards, one as expensive as EXP.
std::optional<VertexId> take_extremes_apart(VertexSplitter& splitter);

}  // namespace eindb
