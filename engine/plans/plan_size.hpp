#pragma once

#include <cstddef>

namespace eindb {

struct InputLocations;
struct LatestClusterPlan;
struct QueryPlan;

// What these take in memory, to within a factor of two or so: for caches, which bound it.
std::size_t approximate_bytes(const QueryPlan& plan);
std::size_t approximate_bytes(const InputLocations& locations);
/// With the plan and the locations, which are shared with those who run it.
std::size_t approximate_bytes(const LatestClusterPlan& latest);

}  // namespace eindb
