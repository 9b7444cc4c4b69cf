#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "common/error.hpp"

namespace eindb {

/// The workers of a statement, by rank.
using Workers = std::vector<WorkerStatus>;

/// The sets of workers that a statement may run on, the preferred one first: it takes the first that has what it reads.
/// Empty if no worker exchanges data with the coordinator. Error{WorkerLost} if none is up or, where all must be, one
/// is not.
std::vector<Workers> choices_of_workers(const Cluster& cluster);
/// As many as if they were there, for plans without a cluster.
Workers imagined_workers(std::size_t count);

/// Error{WorkerLost} of a statement that cannot do without workers that were left out: the message, then the pairs of
/// workers that do not exchange data.
Error not_reached(const Cluster& cluster, const std::string& message);

}  // namespace eindb
