#pragma once

#include <random>

#include "cluster/plan_codec.hpp"

namespace eindb {

/// A plan with every field set and, over a few seeds, every kind of step, placement and expression. It is consistent as
/// far as the codec checks, but not executable.
PlacedPlan random_plan(std::mt19937_64& random);

}  // namespace eindb
