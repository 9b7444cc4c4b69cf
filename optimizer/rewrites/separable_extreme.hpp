#pragma once

#include <optional>

#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// MAX or MIN of a function that is monotone in parts with labels of their own.
///
/// - A monotone function of one value is taken last: MAX(EXP(-X[i])) = EXP(-MIN(X[i])). That holds for every value of
///   EXP, EXPM1, TANH, ATAN, SINH, ERF, SIGMOID, RELU, SIGN, FLOOR, CEIL, ROUND, the minus sign, and of sums, products
///   and quotients with finite constants; for SQRT and LOG, which make NaN of negative numbers, of the least value
///   only.
/// - GREATEST and LEAST: MAX(LEAST(X[i], Y[j])) = LEAST(MAX(X[i]), MAX(Y[j])); NaN wins on both sides.
/// - Sums: X[i] + Y[j] is NaN where infinities of opposite signs meet, so what decides are three corners:
///
///       MAX(X[i] + Y[j]) = GREATEST(max X + max Y, max X + min Y, min X + max Y)
///
///   The first is the maximum; the others are NaN if such infinities meet anywhere, and never larger.
///
/// Arithmetic of INT64 wraps and is monotone nowhere: of it only GREATEST, LEAST, RELU and SIGN are taken. Products of
/// two operands are monotone only where signs are known, and 0 times infinity lies at no corner: they stay.
///
/// nullopt, and nothing done, if the vertex is of no such form, aggregates over no cell, or nothing would be gained:
/// for a function taken last alone, one of EXP's kind; otherwise fewer cells to visit.
std::optional<VertexId> take_extremes_apart(VertexSplitter& splitter);

}  // namespace eindb
