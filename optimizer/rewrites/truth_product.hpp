#pragma once

#include <vector>

#include "optimizer/rewrites/factors.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {

/// The truth of `e` (of NOT e unless `wanted`) as factors of 1 or 0 whose product it is; a single factor if it is no
/// conjunction. Examples:
///
///     (X AND Y) <> 0     X <> 0, Y <> 0           NOT (X OR Y)     X = 0, Y = 0           X OR Y     X OR Y
std::vector<ScalarPtr> truth_factors(const ScalarPtr& e, bool wanted);

/// The expression inside conversions, which keep the truth of a value that is 1 or 0.
ScalarPtr counted_truth(ScalarPtr e);

/// Truth values as numbers of the type in which the vertex counts them.
std::vector<Factor> numerators(const VertexSplitter& splitter, const std::vector<ScalarPtr>& truths);

}  // namespace eindb
