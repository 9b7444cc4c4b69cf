#pragma once

#include <vector>

#include "tensor/scalar_expression.hpp"

namespace eindb {

/// The truth of `e` (or, unless `wanted`, of NOT e) as factors, each 1 or 0, whose product it is: one if it is no
/// conjunction.
///
///     (X AND Y) <> 0     X <> 0, Y <> 0           NOT (X OR Y)     X = 0, Y = 0           X OR Y     X OR Y
std::vector<ScalarPtr> truth_factors(const ScalarPtr& e, bool wanted);

}  // namespace eindb
