#pragma once

#include <cstddef>

namespace eindb {

struct InputLocations;
struct LatestClusterPlan;
struct QueryPlan;

// The approximate memory use, to within a factor of about two; caches use it to bound their size.
std::size_t approximate_bytes(const QueryPlan& plan);
std::size_t approximate_bytes(const InputLocations& locations);
/// Includes the plan and the locations, which are shared with the running queries.
std::size_t approximate_bytes(const LatestClusterPlan& latest);

}  // namespace eindb
