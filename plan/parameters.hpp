#pragma once

#include <cstddef>
#include <functional>

#include "plan/physical_plan.hpp"

namespace eindb {

/// Replaces each parameter in what the join computes by what `replace` gives for its number, in the parameter's type.
void substitute_parameters(JoinNode& join, const std::function<ScalarPtr(std::size_t)>& replace);

}  // namespace eindb
