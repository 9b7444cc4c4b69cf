#pragma once

#include <random>

#include "cluster/plan_codec.hpp"

namespace eindb {

/// A plan that has every field set to something, and every kind of step, placement and expression after a few seeds.
/// What is in it fits together as far as its bytes say so; it is no plan that could run.
PlacedPlan random_plan(std::mt19937_64& random);

}  // namespace eindb
