#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/cluster.hpp"
#include "common/error.hpp"

namespace eindb {

/// The workers of a statement, by rank.
using Workers = std::vector<WorkerStatus>;

/// The sets of workers that a statement may run on, the preferred one first. The statement takes the first set that has
/// all the tiles it reads. Empty if no worker exchanges data with the coordinator. Error{WorkerLost} if no worker is up
/// or, where all must be up, if one is not.
std::vector<Workers> choices_of_workers(const Cluster& cluster);
/// `count` workers that do not exist, for plans without a cluster.
Workers imagined_workers(std::size_t count);

/// Error{WorkerLost} for a statement that needs workers which were left out: the message, then the pairs of workers
/// that do not exchange data.
Error not_reached(const Cluster& cluster, const std::string& message);

}  // namespace eindb
