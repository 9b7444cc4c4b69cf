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
/// - MAX of GREATEST and MIN of LEAST: MAX(GREATEST(X[i], Y[j])) = GREATEST(MAX(X[i]), MAX(Y[j])); NaN wins on both
///   sides.
///
/// What the extremes distribute over is taken apart as products in SUMs are, by the pairs of tensor/algebra. INT64
/// arithmetic wraps and is not monotone, so for INT64 only GREATEST, LEAST, RELU and SIGN are taken apart.
///
/// Returns nullopt and does nothing if the vertex has no such form, aggregates over no cell, or would not gain: by
/// fewer cells to visit, or, if a function is only moved outwards, by one as expensive as EXP or by a join of operands
/// inside.
std::optional<VertexId> take_extremes_apart(VertexSplitter& splitter);

}  // namespace eindb
