#pragma once

#include <vector>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The truth of `e` (of NOT e unless `wanted`) as factors of 1 or 0 whose product it is; a single factor if it is no
/// conjunction. Examples:
///
///     (X AND Y) <> 0     X <> 0, Y <> 0           NOT (X OR Y)     X = 0, Y = 0           X OR Y     X OR Y
std::vector<ScalarPtr> truth_factors(const ScalarPtr& e, bool wanted);

}  // namespace eindb
