#pragma once

#include "cluster/mpi_transport.hpp"
#include "cluster/node_log.hpp"
#include "cluster/worker_node.hpp"

namespace eindb {

/// Runs a worker's rank: serves the coordinator until it leaves. The subject of the coordinator's channels is the
/// folder of a database's tiles, in which each rank has a directory of its own: "rank-1" and so on. Another subject
/// makes the rank a worker of another database. Without a subject, tiles lie in a temporary directory, which is removed
/// at the end. Errors of a directory are reported to the coordinator.
void run_mpi_worker(MpiTransport& transport, const WorkerOptions& options, NodeLog& log);

}  // namespace eindb
